"""Spark's event logs of users' own applications, by the paths that a user names."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.words import join_names, names_by_text, shorten
from harness.eventlog.application import Application
from harness.records.document import MAX_REASON
from harness.records.log_files import logs_in
from harness.records.log_lines import lines_of
from harness.records.log_shapes import decoded_event

_LOG_STARTS = b'{"Event":"SparkListenerLogStart"'


@dataclass(frozen=True)
class LoggedApplication:
    """An application, and the file with which its log begins."""

    application: Application
    source: Path


@dataclass(frozen=True)
class Logs:
    """The applications below a path in the order of their start, and lines on what does not count there."""

    path: Path
    applications: tuple[LoggedApplication, ...]
    notes: tuple[str, ...]


def read_logs(path: Path) -> Logs:
    """Return the applications whose logs `path` denotes, one or more.

    Files that are no logs, or cannot be read, are left out and named. An application with several logs, or
    several attempts, counts once. Raise BadInput if nothing is left.
    """
    files = logs_in(path)
    left_out = dict(files.left_out)
    found: list[LoggedApplication] = []
    for log in files.logs:
        try:
            found += _applications(log)
        except ValueError as error:
            left_out[log[0]] = shorten(str(error), MAX_REASON)
        except BadInput as error:
            left_out[log[0]] = str(error).removeprefix(f"cannot read {log[0]}: ")
    if not found:
        raise BadInput(_nothing_found(path, left_out))
    once: list[LoggedApplication] = []
    repeated: list[str] = []
    for logs in _same_applications(found):
        last = max(logs, key=_ended_last)
        once.append(last)
        if len(logs) > 1:
            repeated.append(_which(last))
    notes: list[str] = []
    if repeated:
        notes.append(f"several logs or attempts, of which one counts: {join_names(repeated)}")
    notes += _left_out(left_out, path)
    once.sort(key=lambda one: (one.application.started_ms, one.application.id))
    return Logs(path, tuple(once), tuple(notes))


def _applications(log: Sequence[Path]) -> list[LoggedApplication]:
    """Return the applications of a log one after the other, as files that were joined have several.

    Raise ValueError with a reason if it is no log, or not as Spark writes it.
    """
    found = [LoggedApplication(Application(decoded_event), log[0])]
    for path in log:
        for number, line in enumerate(lines_of(path), 1):
            if line.startswith(_LOG_STARTS) and _is_over(found[-1], path):
                found.append(LoggedApplication(Application(decoded_event), path))
            try:
                found[-1].application.add(line if line.endswith(b"\n") else line + b"\n")
            except ValueError as error:
                if path is log[-1] and number > 1 and not line.endswith(b"\n"):
                    break  # it is being written, or was cut off
                raise ValueError(_bad_line(found, number, error)) from error
    with_name = [one for one in found if one.application.name]
    if not with_name:
        is_empty = not any(path.stat().st_size for path in log)
        raise ValueError("empty" if is_empty else "no application starts in it")
    return with_name


def _is_over(one: LoggedApplication, path: Path) -> bool:
    """Whether another application starts in this file, and not a further part of the same log."""
    return one.application.has_ended or bool(one.application.name and path == one.source)


def _bad_line(found: Sequence[LoggedApplication], number: int, error: ValueError) -> str:
    application = found[-1].application
    if len(found) == 1 and not application.name and number == 1:
        return "no event log of Spark"
    version = f"Spark {application.version}: " if application.version else ""
    return f"line {number}: {version}{error}"


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


def _ended_last(one: LoggedApplication) -> tuple[bool, int, int]:
    application = one.application
    attempt = int(application.attempt) if application.attempt.isdecimal() else 0
    return application.has_ended, attempt, application.executions


def _which(one: LoggedApplication) -> str:
    application = one.application
    if application.attempt:
        return f"{application.id} (attempt {application.attempt})"
    return f"{application.id} ({one.source.name})"


def _left_out(reasons: dict[Path, str], path: Path) -> Iterator[str]:
    """Yield a line for each reason why files are left out."""
    texts = {_name_below(path, file): reason for file, reason in reasons.items()}
    for reason, names in names_by_text(texts).items():
        yield f"left out ({reason}): {join_names(names)}"


def _name_below(path: Path, file: Path) -> str:
    if file != path:
        return str(file.relative_to(path))
    return str(path)


def _nothing_found(path: Path, reasons: dict[Path, str]) -> str:
    if path in reasons:
        return f"{path}: {reasons[path]}"
    if reasons:
        return f"{path} has no event log that can be read: {'; '.join(_left_out(reasons, path))}"
    return (
        f"the directory {path} has no event logs; name the directory of spark.eventLog.dir, or of some "
        "logs that you copied from it"
    )
