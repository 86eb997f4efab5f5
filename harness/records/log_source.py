"""The event logs that a user's argument denotes: the place is found by the form of its name."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from harness.base.errors import BadInput
from harness.base.redaction import without_credentials
from harness.base.words import join_names
from harness.eventlog.application import Application
from harness.eventlog.events import MAX_MS
from harness.records.log_choice import Choice, Start
from harness.records.log_lines import lines_of
from harness.records.log_parts import Log, logs_of
from harness.records.log_shapes import decoded_event
from harness.records.places import local, remote
from harness.records.places.archive import unpacked
from harness.records.places.file import Listing, LogFile, reason_of
from harness.records.places.history import HistoryServer, Listed, several_attempts
from harness.records.places.object_store import SCHEMES
from harness.records.places.webhdfs import HDFS

_REMOTE = frozenset({*HDFS, *SCHEMES})
"""The schemes of stores that logs are often in."""
_MOST_LINES = 1_000
"""An application's start is among its first ten lines, unless others than Spark write into its log."""
_AT_ONCE = 16
_MOST_LATE = 3
"""A server is asked for no more after this number of logs that came too slowly."""


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
    try:
        url = urlsplit(place)
    except ValueError as error:
        raise BadInput(f"{without_credentials(place)} is no URL: {error}") from error
    if url.scheme in ("http", "https"):
        return Served(HistoryServer(place), choice)
    if url.scheme == "file":
        if url.netloc not in ("", "localhost"):
            raise BadInput(
                f"{place}: files of {url.netloc} are not read; copy them here, or name file:{url.path} "
                "if they are on this machine"
            )
        place = unquote(url.path)
    if "://" in place:
        return Files(unpacked(remote.listed(url.scheme + place[len(url.scheme) :])), choice)
    if url.scheme in _REMOTE and not Path(place).exists():
        raise BadInput(
            f"{without_credentials(place)} is no URL: write {url.scheme}:// with two slashes"
        )
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


@dataclass
class Served:
    """Event logs that a History Server has. The logs of chosen applications are downloaded one by one."""

    server: HistoryServer
    choice: Choice
    left_out: dict[str, str] = field(default_factory=dict)
    passed_over: list[Start] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def logs(self) -> Iterator[Log]:
        chosen = self._chosen()
        repeated = several_attempts(chosen)
        if repeated:
            self.notes.append(
                f"several attempts; the last one that ended counts: {join_names(repeated)}"
            )
        late = 0
        for application in chosen:
            if late == _MOST_LATE:
                self.left_out[application.id] = f"not asked for: {late} others came too slowly"
                continue
            try:
                with self.server.downloaded(application) as archive:
                    yield from self._logs_in(archive)
            except OSError as error:
                self.left_out[application.id] = reason_of(error)
                late += isinstance(error, TimeoutError)

    def _chosen(self) -> list[Listed]:
        chosen: list[Listed] = []
        for application in self.server.applications():
            at_ms = min(max(0, application.last_attempt.start_time_epoch), MAX_MS)
            start = Start(application.name, application.id, at_ms)
            if self.choice.admits(start):
                chosen.append(application)
            else:
                self.passed_over.append(start)
        return chosen

    def _logs_in(self, archive: LogFile) -> list[Log]:
        listing = unpacked(Listing([archive]))
        logs = logs_of(listing)
        self.left_out.update(listing.left_out)
        return logs


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
