"""Reads results files.

Each line is read by the type of what it describes. Values that are free-form in the vocabulary - environment,
parameters, dataset - are checked as far as another room relies on them. Each line has a checksum of all bytes
before it; in files of schema version 1, only the end of a run has one. Any fault is one BadInput that names
file and line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from harness.base.errors import BadInput
from harness.base.words import shorten
from harness.model.probe import EVENT_KINDS, ProbeEvent, ProbeRun, RecordedProbes
from harness.model.run import RecordedRun, Run, RunEnd, Trial, moment_of
from harness.model.task_metrics import TaskMetrics, WireBytes
from harness.records.checksums import DIGITS, FIRST_VERSION_DIGITS, RESTORE, Checksums
from harness.records.document import MAX_REASON, converted_value, decoded
from harness.records.files import lines_of
from harness.records.node_names import Names, node_names, run_with_names, with_names
from harness.records.shapes import CheckedRun
from harness.records.writer import SCHEMA_VERSION
from harness.trials.counting import counted_trials, is_to_be_proven, needed_trials

MAX_FILE = 2**34
"""Bytes. A run of 99 queries in 24 rounds takes 1.4 GB on a thousand executors."""
MAX_LINE = 2**24
"""Bytes. The first line describes every node: thousands of nodes take a few MB."""
MAX_NESTING = 50
"""Levels of objects and arrays in the first line. The writer needs about six."""

_WITH_CHECKSUMS = range(2, SCHEMA_VERSION + 1)
"""The versions of files in which every line has a checksum."""
_RECORDED = {"run": "a run", "probes": "probes"}
"""What a file records, by the kind of its first line."""
_ADVICE = {
    "run": "name a configuration that was measured (clusterlift run)",
    "probes": "name a configuration that was probed (clusterlift probe all)",
}

T = TypeVar("T")
HeadT = TypeVar("HeadT", Run, ProbeRun)
EventT = TypeVar("EventT")


@dataclass(frozen=True)
class _Wire(WireBytes):
    nodes: ClassVar[tuple[()]] = ()  # type: ignore[misc]


@dataclass(frozen=True)
class _Tasks(TaskMetrics):
    time: ClassVar[None] = None  # type: ignore[misc]
    stragglers: ClassVar[None] = None  # type: ignore[misc]


@dataclass(frozen=True)
class _TableTrial(Trial):
    """A trial as tables of times need it.

    It lacks most of its line: what was sampled while it ran, what each link carried, and in which parts its
    tasks spent their time. Only explanations need these.
    """

    tasks: _Tasks | None = None
    wire: _Wire | None = None
    timeline: ClassVar[None] = None  # type: ignore[misc]
    profile: ClassVar[None] = None  # type: ignore[misc]


class _Line(msgspec.Struct):
    """What every line has; the first one has the version, too."""

    kind: str
    schema_version: Any = None


_EVENT = re.compile(rb'\{"kind": "([a-z-]{1,20})", ')
"""How lines begin as they are written: the kind is known without the rest, which is long."""


@dataclass(frozen=True)
class _File(Generic[HeadT, EventT]):
    """What the lines of a file describe: the first, those between, and the last one, None if it lacks."""

    run: HeadT
    events: tuple[EventT, ...]
    end: RunEnd | None
    warnings: tuple[str, ...]


def load(path: Path, *, samples: bool = True) -> RecordedRun:
    """Read the results file of a run, complete or cut off.

    Without `samples`, its trials have only what tables of times need, which takes a fraction of the time and
    the memory. Raises BadInput, which names file and line, if the file is anything else.
    """
    types: Mapping[str, type[Trial]] = {"trial": Trial if samples else _TableTrial}
    read = _read(path, "run", Run, types)
    trials, throughout = counted_trials(
        read.events, needed_trials(read.run), to_be_proven=is_to_be_proven(read.run)
    )
    recorded = RecordedRun(
        run=run_with_names(read.run),
        trials=trials,
        source=str(path),
        warnings=read.warnings,
        disturbed_throughout=throughout,
    )
    if read.end:
        return replace(recorded, **vars(read.end))
    return recorded


def load_probes(path: Path) -> RecordedProbes:
    """Read the results file of a probe run. Raises BadInput like `load`."""
    types: Mapping[str, type[ProbeEvent]] = EVENT_KINDS
    read = _read(path, "probes", ProbeRun, types)
    ending = read.end.ending if read.end else None
    return RecordedProbes(read.run, read.events, ending, str(path), read.warnings)


def _read(
    path: Path, head_kind: str, head_type: type[HeadT], types: Mapping[str, type[EventT]]
) -> _File[HeadT, EventT]:
    """Return what a file describes. The types of its events, by the kind of their line."""
    run: HeadT | None = None
    events: list[EventT] = []
    end: RunEnd | None = None
    names: Names = {}
    lines = _Lines(path)
    try:
        for start, line in lines:
            kind = start.kind
            if run is None:
                run = _head(start, line, head_kind, head_type)
                if isinstance(run, Run):
                    names = node_names(run.environment)
            elif end:
                raise ValueError(f"lines follow after the end of the run: {RESTORE}")
            elif kind == "end":
                end = with_names(_described(line, kind, RunEnd), names)
            elif kind in types:
                events.append(with_names(_described(line, kind, types[kind]), names))
            else:
                raise ValueError(f"unknown kind of line: {shorten(repr(kind), MAX_REASON)}")
    except ValueError as error:
        raise BadInput(f"{path}:{lines.number}: {error}") from error
    if run is None:
        raise BadInput(f"{path}:1: not a results file: it has no complete line")
    return _File(run, tuple(events), end, lines.warnings)


class _Lines:
    """The complete lines of a results file, each with its kind. Their checksums are right.

    `number` is the number of the line read last. `warnings` says whether that one is incomplete.
    """

    def __init__(self, path: Path) -> None:
        self.number = 0
        self.warnings: tuple[str, ...] = ()
        self._path = path
        self._checksums = Checksums()
        self._version: Any = None

    def __iter__(self) -> Iterator[tuple[_Line, bytes]]:
        for whole in lines_of(self._path, MAX_FILE, MAX_LINE):
            self.number += 1
            line = whole.removesuffix(b"\n")
            if len(line) > MAX_LINE:
                raise ValueError(f"not a results file: a line has more than {MAX_LINE:,} bytes")
            if line == whole:
                where = f"{self._path}:{self.number}"
                self.warnings = (f"{where}: the last line is cut off and was skipped",)
                return
            if self.number == 1:
                start = _start(line)
                self._version = start.schema_version
            else:
                written = _EVENT.match(line)
                start = _Line(written[1].decode()) if written else _start(line)
            self._check(start.kind, line)
            yield start, line

    def _check(self, kind: str, line: bytes) -> None:
        """Check the checksum of a line.

        Lines of version 1 before the end need none, nor do lines of a version that `_head` refuses.
        """
        needs_checksum = self._version in _WITH_CHECKSUMS
        if kind == "end" and not needs_checksum:
            self._checksums.check(line, FIRST_VERSION_DIGITS, is_needed=True)
        else:
            # A line that has one although it needs none is from a file whose version was edited.
            self._checksums.check(line, DIGITS, is_needed=needs_checksum)


def _start(line: bytes) -> _Line:
    try:
        return decoded(line, _Line)
    except ValueError as error:
        raise ValueError(f"not a results file: {error}") from error


def _head(head: _Line, line: bytes, kind: str, type_: type[HeadT]) -> HeadT:
    """Return what the first line describes. Raise ValueError if it is not of this kind and version."""
    if head.kind != kind:
        found = _RECORDED.get(head.kind, "neither runs nor probes")
        raise ValueError(
            f"not a results file of {_RECORDED[kind]}: it records {found}; {_ADVICE[kind]}"
        )
    if type(head.schema_version) is not int or not 1 <= head.schema_version <= SCHEMA_VERSION:
        version = shorten(repr(head.schema_version), MAX_REASON)
        raise ValueError(
            f"schema version {version} is not 1 to {SCHEMA_VERSION}; use the clusterlift that wrote the file"
        )
    values = {
        key: _shared_value(bytes(raw)) for key, raw in decoded(line, dict[str, msgspec.Raw]).items()
    }
    try:
        converted_value(values, CheckedRun)
        run = converted_value(values, type_)
        moment_of(run.started_at)
    except ValueError as error:
        raise _malformed(kind, error) from error
    return run


@lru_cache(maxsize=1000)
def _shared_value(raw: bytes) -> Any:
    """Return a value of a first line. Equal ones, such as environments, are decoded and kept once.

    Raise ValueError if it is nested too deeply.
    """
    value = decoded(raw, Any)
    if _is_deep(value):
        raise ValueError(f"values are nested more than {MAX_NESTING} levels deep")
    return value


def _is_deep(value: Any) -> bool:
    """Return whether a line with this value has more levels of objects and arrays than MAX_NESTING."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_NESTING):
        if not level:
            return False
        below = chain.from_iterable(
            each.values() if isinstance(each, dict) else each for each in level
        )
        level = [each for each in below if isinstance(each, dict | list)]
    return True


def _described(line: bytes, kind: str, type_: type[T]) -> T:
    try:
        found = decoded(line, type_)
        if isinstance(found, Trial):
            moment_of(found.started_at)
    except ValueError as error:
        raise _malformed(kind, error) from error
    return found


def _malformed(kind: str, error: ValueError) -> ValueError:
    return ValueError(f"malformed {kind} line: {shorten(str(error), MAX_REASON)}")
