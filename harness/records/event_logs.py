"""Spark's event logs of users' own applications, at the places that a user names."""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.base.errors import BadInput
from harness.base.redaction import without_credentials
from harness.base.words import count_of, join_names, names_by_text, shorten
from harness.eventlog.application import Application
from harness.model.plan import Plan
from harness.records.document import MAX_REASON
from harness.records.log_choice import EVERYTHING, Choice, moment, nothing_chosen
from harness.records.log_lines import lines_of
from harness.records.log_parts import Log
from harness.records.log_shapes import decoded_event
from harness.records.log_source import Source, source_of, started
from harness.records.places.file import LogFile

_DAY_MS = 86_400_000
_TOO_OLD = ("0", "1")
_LOG_STARTS = b'{"Event":"SparkListenerLogStart"'


@dataclass(frozen=True)
class LoggedApplication:
    """An application, and the file with which its log begins."""

    application: Application
    source: LogFile


@dataclass(frozen=True)
class Logs:
    """The applications at a place in the order of their start, and lines on what does not count there."""

    place: str
    applications: tuple[LoggedApplication, ...]
    notes: tuple[str, ...]

    def whole_path(self, file: LogFile) -> str:
        """Return the path of a file with its place."""
        if file.path == self.place:
            return file.path
        return f"{self.place.rstrip('/')}/{file.path}"


def read_logs(
    place: str, choice: Choice = EVERYTHING, differing: re.Pattern[str] | None = None
) -> Logs:
    """Return the chosen applications whose logs are at a place, one or more.

    `differing` is what a user says differs each time in names.

    Files that are no logs, or cannot be read, are left out and named. An application with several logs, or
    several attempts, counts once. Raise BadInput if nothing is left, or if the place cannot be reached.
    """
    source = source_of(place, choice)
    place = without_credentials(place)
    found = list(_chosen(source, choice, differing))
    if not found:
        raise BadInput(_nothing_found(place, choice, source))
    once: list[LoggedApplication] = []
    repeated: list[str] = []
    for logs in _same_applications(found):
        last = max(logs, key=_ended_last)
        once.append(last)
        if len(logs) > 1:
            repeated.append(_which(last))
    notes = list(source.notes)
    if repeated:
        notes.append(
            f"several logs or attempts of one application count once: {join_names(repeated)}"
        )
    if source.passed_over:
        others = count_of(len(source.passed_over), "application")
        notes.append(f"only applications {choice}; not chosen: {others}")
    notes += _beyond(once, choice)
    early = [_which(one) for one in once if one.application.started_ms > _now_ms() + _DAY_MS]
    if early:
        notes.append(f"started in the future, by the clocks of their drivers: {join_names(early)}")
    notes += _left_out(source.left_out)
    once.sort(key=lambda one: (one.application.started_ms, one.application.id))
    return Logs(place, tuple(once), tuple(notes))


def _chosen(
    source: Source, choice: Choice, differing: re.Pattern[str] | None
) -> Iterator[LoggedApplication]:
    """Yield the applications of a source that are chosen, and tell the source which others there are."""
    plans: dict[str, Plan] = {}
    for log in source.logs():
        try:
            found = _applications(log, differing, plans)
        except ValueError as error:
            source.left_out[log[0].path] = shorten(str(error), MAX_REASON)
            continue
        for one in found:
            start = started(one.application)
            if choice.admits(start):
                yield one
            else:
                source.passed_over.append(start)


def _applications(
    log: Log, differing: re.Pattern[str] | None, plans: dict[str, Plan]
) -> list[LoggedApplication]:
    """Return the applications of a log one after the other, as files that were joined have several.

    Raise ValueError with a reason if it is no log, or not as Spark writes it.
    """
    found = [LoggedApplication(Application(decoded_event, differing, plans), log[0])]
    is_empty = True
    for file in log:
        for number, line in enumerate(lines_of(file), 1):
            is_empty = False
            if line.startswith(_LOG_STARTS) and _is_over(found[-1], file):
                another = Application(decoded_event, differing, plans)
                found.append(LoggedApplication(another, file))
            try:
                found[-1].application.add(line if line.endswith(b"\n") else line + b"\n")
            except ValueError as error:
                if file is log[-1] and number > 1 and not line.endswith(b"\n"):
                    break  # it is being written, or was cut off
                raise ValueError(_bad_line(found, number, error)) from error
    with_name = [one for one in found if one.application.name]
    if not with_name:
        raise ValueError(
            "empty, or cut off at its start" if is_empty else "no application starts in it"
        )
    return with_name


def _is_over(one: LoggedApplication, file: LogFile) -> bool:
    """Whether another application starts in this file, and not a further part of the same log."""
    return one.application.has_ended or bool(one.application.name and file == one.source)


def _bad_line(found: Sequence[LoggedApplication], number: int, error: ValueError) -> str:
    application = found[-1].application
    if len(found) == 1 and not application.name and number == 1:
        return "no event log of Spark"
    version = application.version or ""
    if version.partition(".")[0] in _TOO_OLD:
        return f"of Spark {version}; logs of Spark 2 and newer are read"
    where = f"Spark {version}: " if version else ""
    return f"line {number}: {where}{error}"


def _same_applications(
    found: Sequence[LoggedApplication],
) -> Iterable[list[LoggedApplication]]:
    """Return the logs of each application: one for each attempt, or copies."""
    same: dict[tuple[str, int | None], list[LoggedApplication]] = {}
    for one in found:
        application = one.application
        # Without attempts, another start is another application, which is refused later.
        start_ms = None if application.attempt else application.started_ms
        same.setdefault((application.id, start_ms), []).append(one)
    return same.values()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _ended_last(one: LoggedApplication) -> tuple[bool, int, int]:
    application = one.application
    attempt = int(application.attempt) if application.attempt.isdecimal() else 0
    return application.has_ended, attempt, application.executions


def _beyond(found: Sequence[LoggedApplication], choice: Choice) -> Iterator[str]:
    """Yield a line on applications that ran beyond the time before which those that count started."""
    if choice.until_ms is None:
        return
    beyond = [one for one in found if (one.application.ended_ms or 0) > choice.until_ms]
    if beyond:
        at = moment(choice.until_ms)
        which = join_names([_which(one) for one in beyond])
        yield f"started before {at} and ended later, and count with all that they did: {which}"


def _which(one: LoggedApplication) -> str:
    application = one.application
    if application.attempt:
        return f"{application.id} (attempt {application.attempt})"
    return f"{application.id} ({one.source.name})"


def _left_out(reasons: dict[str, str]) -> Iterator[str]:
    """Yield a line for each reason why files are left out."""
    for reason, names in names_by_text(reasons).items():
        yield f"left out ({reason}): {join_names(names)}"


def _nothing_found(place: str, choice: Choice, source: Source) -> str:
    reasons = source.left_out
    if source.passed_over:
        return nothing_chosen(place, choice, source.passed_over)
    if place in reasons:
        return f"{place}: {reasons[place]}"
    if reasons:
        return f"{place} has no event log that can be read: {'; '.join(_left_out(reasons))}"
    return (
        f"{place} has no event logs; name the directory of spark.eventLog.dir, or of some logs that you "
        "copied from it"
    )
