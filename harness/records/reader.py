"""Reads results files.

Each line is read by the type of what it describes. Values that are free-form in the vocabulary - environment,
parameters, dataset - are checked as far as another room relies on them. A run that ended has a checksum of
its whole file. Whatever is wrong is one BadInput that names file and line.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.model.errors import BadInput
from harness.model.probe import EVENT_KINDS, ProbeEvent, ProbeRun, RecordedProbes
from harness.model.run import RecordedRun, Run, RunEnd, Trial, moment_of
from harness.records.document import MAX_REASON, decoded
from harness.records.files import content_of
from harness.records.node_names import naming, with_names
from harness.records.shapes import CheckedRun
from harness.records.writer import CHECKSUM_KEY, SCHEMA_VERSION
from harness.runtime.disturbances import counted_trials
from harness.runtime.warm_up import AUTO, needed_trials
from harness.words import shorten

MAX_FILE, MAX_LINE = 2**30, 2**24
"""Bytes of a file, and of a line. A soak of 16 hosts takes about 2 MB an hour. The first line describes every
node: thousands of nodes take a few MB."""
MAX_NESTING = 50
"""Levels of objects and arrays in the first line; the writer needs about six."""

_RECORDED = {"run": "a run", "probes": "probes"}
"""What a file records, by the kind of its first line."""
_ADVICE = {
    "run": "name a configuration that was measured (clusterlift run)",
    "probes": "name a configuration that was probed (clusterlift probe all)",
}
_RESTORE = "the file was damaged or edited; restore it, or move it elsewhere"

T = TypeVar("T")
EventT = TypeVar("EventT")


class _Line(msgspec.Struct):
    """What every line has; the first one has the version, too."""

    kind: str
    schema_version: Any = None


def load(path: Path) -> RecordedRun:
    """Read the results file of a run, complete or cut off.

    Raises BadInput, which names file and line, if the file is anything else.
    """
    run, trials, end, warnings = _read(path, "run", Run, {"trial": Trial})
    needed = needed_trials(run) if run.parameters.get("warmup") == AUTO else None
    trials, throughout = counted_trials(trials, needed)
    run = with_names(run)
    recorded = RecordedRun(
        run, trials, source=str(path), warnings=warnings, disturbed_throughout=throughout
    )
    return replace(recorded, **vars(end)) if end else recorded


def load_probes(path: Path) -> RecordedProbes:
    """Read the results file of a probe run. Raises BadInput like `load`."""
    run, events, end, warnings = _read(path, "probes", ProbeRun, EVENT_KINDS)
    found: tuple[ProbeEvent, ...] = events
    return RecordedProbes(run, found, end.ending if end else None, str(path), warnings)


def _read(
    path: Path, head_kind: str, head_type: type[T], event_types: Mapping[str, type[EventT]]
) -> tuple[T, tuple[EventT, ...], RunEnd | None, tuple[str, ...]]:
    """Return what the first line, the lines between and the last line describe, and the warnings."""
    content = content_of(path, MAX_FILE)
    *lines, unfinished = content.split(b"\n")
    warnings = (f"{path}:{len(lines) + 1}: the last line is cut off and was skipped",)
    events: list[EventT] = []
    end: RunEnd | None = None
    number = 1
    try:
        if not lines:
            raise ValueError("not a results file: it has no complete line")
        run = _head(lines[0], head_kind, head_type)
        named = naming(run.environment) if isinstance(run, Run) else bytes
        for number, line in enumerate(map(named, lines[1:]), 2):
            kind = _line(line).kind
            if end:
                raise ValueError(f"lines follow after the end of the run: {_RESTORE}")
            if kind == "end":
                end = _described(line, kind, RunEnd)
                if not _has_checksum(lines[:number]):
                    raise ValueError(f"the checksum is not that of the file: {_RESTORE}")
            elif kind in event_types:
                events.append(_described(line, kind, event_types[kind]))
            else:
                raise ValueError(f"unknown kind of line: {shorten(repr(kind), MAX_REASON)}")
    except ValueError as error:
        raise BadInput(f"{path}:{number}: {error}") from error
    return run, tuple(events), end, warnings if unfinished else ()


def _head(line: bytes, kind: str, type_: type[T]) -> T:
    """Return what the first line describes. Raise ValueError if it is not of this kind and version."""
    head = _line(line)
    if head.kind != kind:
        found = _RECORDED.get(head.kind, "neither runs nor probes")
        raise ValueError(
            f"not a results file of {_RECORDED[kind]}: it records {found}; {_ADVICE[kind]}"
        )
    if head.schema_version is True or head.schema_version != SCHEMA_VERSION:
        version = shorten(repr(head.schema_version), MAX_REASON)
        raise ValueError(
            f"schema version {version} is not {SCHEMA_VERSION}; use the clusterlift that wrote the file"
        )
    if _is_deep(decoded(line, dict[str, Any])):
        raise ValueError(f"values are nested more than {MAX_NESTING} levels deep")
    _described(line, kind, CheckedRun)
    return _described(line, kind, type_)


def _is_deep(value: Any, levels: int = MAX_NESTING) -> bool:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return not levels or any(_is_deep(each, levels - 1) for each in below)


def _line(line: bytes) -> _Line:
    if len(line) > MAX_LINE:
        raise ValueError(f"not a results file: a line has more than {MAX_LINE:,} bytes")
    try:
        return decoded(line, _Line)
    except ValueError as error:
        raise ValueError(f"not a results file: {error}") from error


def _described(line: bytes, kind: str, type_: type[T]) -> T:
    try:
        found = decoded(line, type_)
        if isinstance(found, Run | ProbeRun | Trial):
            moment_of(found.started_at)
    except ValueError as error:
        raise ValueError(f"malformed {kind} line: {shorten(str(error), MAX_REASON)}") from error
    return found


def _has_checksum(lines: Sequence[bytes]) -> bool:
    before, _, checksum = b"\n".join(lines).rpartition(CHECKSUM_KEY)
    return checksum.decode(errors="replace") == f'{hashlib.sha256(before).hexdigest()}"}}'
