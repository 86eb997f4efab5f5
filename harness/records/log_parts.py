"""Which files at a place are the parts of one event log of Spark, and in which order they are read.

A log is a file, or has parts in one directory. Spark's own parts are `events_1_...`, `events_2_...`. The
parts of Databricks are `eventlog-2024-05-01--10-00` and others in the order of their dates, then `eventlog`.
"""

import re
from collections.abc import Sequence
from operator import attrgetter

from harness.base.items import grouped
from harness.records.places.file import Listing, LogFile

Log = Sequence[LogFile]
"""The files of a log in their order."""
_PART = re.compile(r"events_(\d{1,9})_(.+?)(?:\.(?:zstd|lz4|lzf|snappy|gz))?(\.compact)?")
_STATUS = "appstatus_"
_DATED = re.compile(r"eventlog-\d{4}-\d\d-\d\d--\d\d-\d\d.{0,20}")
_NEWEST = "eventlog"


def is_part(name: str) -> bool:
    """Whether a file of this name is a part of a log, or says the state of one."""
    is_spark_s = name.startswith(_STATUS) or _PART.fullmatch(name)
    return bool(is_spark_s or name == _NEWEST or _DATED.fullmatch(name))


def logs_of(listing: Listing) -> list[Log]:
    """Return the logs among the files of a place. A log that lacks a part is added to what is left out."""
    logs: list[Log] = []
    in_order = sorted(listing.files, key=attrgetter("path"))
    for files in grouped(in_order, attrgetter("directory")).values():
        logs += _logs_of_parts(files, listing.left_out)
        logs += [[file] for file in files if not is_part(file.name)]
    return logs


def _logs_of_parts(files: Sequence[LogFile], left_out: dict[str, str]) -> list[Log]:
    rolled: dict[str, list[tuple[int, bool, LogFile]]] = {}
    for file in files:
        match = _PART.fullmatch(file.name)
        if match:
            rolled.setdefault(match[2], []).append((int(match[1]), bool(match[3]), file))
    logs: list[Log] = []
    for parts in rolled.values():
        ordered = sorted(parts, key=lambda part: part[:2])
        logs += _log_of_rolled(ordered, left_out)
    dated = [file for file in files if _DATED.fullmatch(file.name)]
    newest = [file for file in files if file.name == _NEWEST]
    if dated or newest:
        logs.append(dated + newest)
    return logs


def _log_of_rolled(
    parts: Sequence[tuple[int, bool, LogFile]], left_out: dict[str, str]
) -> list[Log]:
    """Return the parts from the last compacted one, which has what is left of those before."""
    compacted = [place for place, (_, is_compacted, _) in enumerate(parts) if is_compacted]
    first = compacted[-1] if compacted else 0
    by_number = {number: file for number, _, file in parts[first:]}
    first_number = min(by_number) if compacted else 1
    missing = set(range(first_number, max(by_number))).difference(by_number)
    if missing:
        left_out[parts[first][2].path] = f"part {min(missing)} of the log is missing"
        return []
    return [list(by_number.values())]
