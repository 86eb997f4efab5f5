"""Which files below a path are event logs of Spark, and in which order the parts of a log are read.

A log is a file, or has parts in one directory: Spark's own `events_1_...`, `events_2_...`, and those of
Databricks, `eventlog-2024-05-01--10-00` and others in the order of their dates, then `eventlog`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.errors import BadInput

MAX_DEPTH = 12
"""Directories below each other."""
MAX_FILES = 100_000

_PART = re.compile(r"events_(\d{1,9})_(.+?)(?:\.(?:zstd|lz4|lzf|snappy|gz))?(\.compact)?")
_STATUS = "appstatus_"
_DATED = re.compile(r"eventlog-\d{4}-\d\d-\d\d--\d\d-\d\d.{0,20}")
_NEWEST = "eventlog"


@dataclass
class FoundLogs:
    """The files of each log, and each file that is left out with a reason."""

    logs: list[list[Path]] = field(default_factory=list)
    left_out: dict[Path, str] = field(default_factory=dict)
    files: int = 0


def logs_in(path: Path) -> FoundLogs:
    """Return the logs that `path` denotes: it is a log, a directory of its parts, or has logs at any depth.

    Hidden files are passed over. Raise BadInput if `path` cannot be read, or has more than MAX_FILES.
    """
    found = FoundLogs()
    if path.is_dir():
        _search(path, path, found)
    else:
        found.logs.append([path])
    return found


def _search(directory: Path, top: Path, found: FoundLogs) -> None:
    try:
        entries = sorted(each for each in directory.iterdir() if not each.name.startswith("."))
    except OSError as error:
        if directory == top:
            raise BadInput(f"cannot read {directory}: {error.strerror}") from error
        found.left_out[directory] = f"cannot be read: {error.strerror}"
        return
    found.files += len(entries)
    if found.files > MAX_FILES:
        raise BadInput(f"{top} has more than {MAX_FILES:,} files; name the directory of the logs")
    _add_logs_of_parts(entries, found)
    for entry in entries:
        if entry.is_dir():
            _below(entry, top, found)
        elif entry.is_symlink() and not entry.exists():
            found.left_out[entry] = "a link to nothing"
        elif not _is_part(entry.name):
            found.logs.append([entry])


def _below(directory: Path, top: Path, found: FoundLogs) -> None:
    """Search a directory below another; of links to directories, only those to the parts of a log."""
    if directory.is_symlink() and not _has_parts(directory):
        found.left_out[directory] = "a link to a directory that is no log"
    elif len(directory.relative_to(top).parts) > MAX_DEPTH:
        found.left_out[directory] = f"more than {MAX_DEPTH} directories deep"
    else:
        _search(directory, top, found)


def _has_parts(directory: Path) -> bool:
    try:
        return any(_is_part(each.name) for each in directory.iterdir())
    except OSError:
        return False


def _is_part(name: str) -> bool:
    is_spark_s = name.startswith(_STATUS) or _PART.fullmatch(name)
    return bool(is_spark_s or name == _NEWEST or _DATED.fullmatch(name))


def _add_logs_of_parts(entries: Sequence[Path], found: FoundLogs) -> None:
    rolled: dict[str, list[tuple[int, bool, Path]]] = {}
    for path in entries:
        match = _PART.fullmatch(path.name)
        if match:
            rolled.setdefault(match[2], []).append((int(match[1]), bool(match[3]), path))
    for parts in rolled.values():
        _add_rolled(sorted(parts), found)
    dated = [path for path in entries if _DATED.fullmatch(path.name)]
    newest = [path for path in entries if path.name == _NEWEST and not path.is_dir()]
    if dated or newest:
        found.logs.append(dated + newest)


def _add_rolled(parts: Sequence[tuple[int, bool, Path]], found: FoundLogs) -> None:
    """Add the parts from the last compacted one, which has what is left of those before."""
    compacted = [place for place, (_, is_compacted, _) in enumerate(parts) if is_compacted]
    first = compacted[-1] if compacted else 0
    by_number = {number: path for number, _, path in parts[first:]}
    missing = set(range(min(by_number), max(by_number))).difference(by_number)
    if missing:
        found.left_out[parts[first][2]] = f"part {min(missing)} of the log is missing"
    else:
        found.logs.append(list(by_number.values()))
