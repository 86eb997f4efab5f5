"""The event logs that a user's argument denotes: the place is found by the form of its name."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.eventlog.application import Application
from harness.records.log_choice import Choice, Start
from harness.records.log_lines import lines_of
from harness.records.log_parts import Log, logs_of
from harness.records.log_shapes import decoded_event
from harness.records.places import local
from harness.records.places.archive import unpacked
from harness.records.places.file import Listing

_MOST_LINES = 1_000
"""An application's start is among its first ten lines, unless others than Spark write into its log."""
_AT_ONCE = 16


class Source(Protocol):
    """Where the event logs of a configuration are.

    `left_out` are reasons by paths, `passed_over` are applications that are not chosen. Both are whole when
    all logs have been read.
    """

    passed_over: list[Start]
    notes: list[str]

    @property
    def left_out(self) -> dict[str, str]:
        """Why files at this place are not read, by their paths."""

    def logs(self) -> Iterator[Log]:
        """Yield the logs of the chosen applications.

        The files of each can be read until the next log is asked for.
        """


def source_of(place: str, choice: Choice) -> Source:
    """Return the source that a user's argument denotes. Raise BadInput if it cannot be reached."""
    return Files(unpacked(local.listed(Path(place))), choice)


@dataclass
class Files:
    """Event logs among files, which are all known."""

    listing: Listing
    choice: Choice
    passed_over: list[Start] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def left_out(self) -> dict[str, str]:
        return self.listing.left_out

    def logs(self) -> Iterator[Log]:
        logs = logs_of(self.listing)
        if self.choice.is_everything:
            yield from logs
            return
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            starts = pool.map(start_of, logs)
            for log, start in zip(logs, starts, strict=True):
                if start is None or self.choice.admits(start):
                    yield log
                else:
                    self.passed_over.append(start)


def start_of(log: Log) -> Start | None:
    """Return the start of the first application in a log. None if it has none, or cannot be read."""
    application = Application(decoded_event)
    try:
        for number, line in enumerate(lines_of(log[0])):
            application.add(line)
            if application.name:
                return started(application)
            if number > _MOST_LINES:
                break
    except ValueError:
        pass  # reading it all says why
    return None


def started(application: Application) -> Start:
    """Return what is known of an application since its start."""
    return Start(application.full_name, application.id, application.started_ms)
