"""Reads results files of every schema version.

Only the reader knows former versions: it renames their keys (`_RENAMED_IN_2`), then checks every line by
the types of the vocabulary. Values that are free-form in the vocabulary - environment, parameters, dataset -
are checked as far as another room relies on them. Whatever is malformed is one BadInput that names file
and line.
"""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn, Required, TypedDict, TypeVar

import msgspec

from harness.model.errors import BadInput
from harness.model.probe import EVENT_KINDS, ProbeEvent, ProbeRun, RecordedProbes
from harness.model.run import (
    MAX_WALL_S,
    MIN_WALL_S,
    Ending,
    LinkErrors,
    RecordedRun,
    Run,
    Trial,
)
from harness.terminal import shorten

READABLE_VERSIONS = (1, 2)
"""A version that was written once stays readable; the tests keep a file of each."""

MAX_NESTING = 50
"""Levels of objects and arrays in a line; the writer needs about six."""

MAX_INTEGER = 2**64
MAX_TEXT = 100_000
"""Characters of a text; the longest are lists of jars in Spark's configuration."""
MAX_REASON = 300
"""Characters of an error message, which may quote a text."""

T = TypeVar("T")
EventT = TypeVar("EventT")


def load(path: Path) -> RecordedRun:
    """Read the results file of a run, complete or cut off.

    Raises BadInput, which names file and line, if the file is anything else.
    """
    run, trials, end, warnings = _read(path, "run", Run, {"trial": Trial})
    return RecordedRun(
        run, trials, end.ending, str(path), warnings, end.stopped, link_errors=end.link_errors
    )


def load_probes(path: Path) -> RecordedProbes:
    """Read the results file of a probe run. Raises BadInput like `load`."""
    run, events, end, warnings = _read(path, "probes", ProbeRun, EVENT_KINDS)
    found: tuple[ProbeEvent, ...] = events
    return RecordedProbes(run, found, end.ending, str(path), warnings)


@dataclass(frozen=True)
class _End:
    """What the last line of a file adds; a killed run has no such line."""

    ending: Ending | None = None
    stopped: str | None = None
    link_errors: LinkErrors | None = None


def _read(
    path: Path, head_kind: str, head_type: type[T], event_types: Mapping[str, type[EventT]]
) -> tuple[T, tuple[EventT, ...], _End, tuple[str, ...]]:
    """Return what the first line, the lines between and the last line describe, and the warnings."""
    texts, warnings = _complete_lines(path)
    if not texts:
        raise BadInput(f"{path}:1: not a results file: it has no complete line")
    head, *lines = (_Line.parse(f"{path}:{number}", text) for number, text in enumerate(texts, 1))
    if head.kind != head_kind:
        head.refuse(f"not a results file of this kind: the first line has to be a {head_kind} line")
    if _version(head) == 1:
        for line in (head, *lines):
            migrate_line(line.values)
    described = head.convert(head_type)
    events: list[EventT] = []
    end = None
    for line in lines:
        if end is not None:
            line.refuse("a line after the end of the run")
        if line.kind == "end":
            end = line.convert(_End)
        elif line.kind in event_types:
            events.append(line.convert(event_types[line.kind]))
        else:
            line.refuse(f"unknown kind of line: {line.kind!r}")
    return described, tuple(events), end or _End(), warnings


def _complete_lines(path: Path) -> tuple[list[str], tuple[str, ...]]:
    """Return the lines that have their newline, and a warning if the last one has none."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to read a pipe could take for ever
            raise BadInput(f"cannot read {path}: it is not a regular file")
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    *complete, rest = text.split("\n")
    cut_off = f"{path}:{len(complete) + 1}: the last line is cut off and was skipped"
    return complete, (cut_off,) if rest else ()


def _version(head: _Line) -> int:
    version = head.values.get("schema_version")
    if type(version) is not int or version not in READABLE_VERSIONS:
        known = ", ".join(map(str, READABLE_VERSIONS))
        head.refuse(
            f"schema version {version!r} is not known here (known: {known}); "
            "use the clusterlift that wrote it, or a newer one"
        )
    return version


@dataclass(frozen=True)
class _Line:
    """A line of a file; `where` is the file and the number of the line."""

    where: str
    values: dict[str, Any]

    @classmethod
    def parse(cls, where: str, text: str) -> _Line:
        try:
            values = json.loads(
                text, parse_int=_integer, parse_float=_finite, parse_constant=_finite
            )
            _check_size(values)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{where}: not a results file: {error}") from error
        if not isinstance(values, dict):
            raise BadInput(f"{where}: not a results file: an object is expected")
        return cls(where, values)

    @property
    def kind(self) -> str:
        return str(self.values.get("kind"))

    def convert(self, type_: type[T]) -> T:
        """Check the shape of the line, and return it as an object of this type."""
        try:
            if self.kind in _SHAPES:
                msgspec.convert(self.values, _SHAPES[self.kind])
            return msgspec.convert(self.values, type_)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            reason = shorten(str(error), MAX_REASON)
            raise BadInput(f"{self.where}: malformed {self.kind} line: {reason}") from error

    def refuse(self, reason: str) -> NoReturn:
        raise BadInput(f"{self.where}: {shorten(reason, MAX_REASON)}")


def _integer(text: str) -> int:
    value = int(text)
    if abs(value) > MAX_INTEGER:
        raise ValueError("a number is out of range")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number")
    return value


def _check_size(value: object, levels: int = MAX_NESTING) -> None:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise ValueError(f"a text has {len(value):,} characters, more than {MAX_TEXT:,}")
    if isinstance(value, dict | list):
        if not levels:
            raise ValueError(f"values are nested more than {MAX_NESTING} levels deep")
        for child in value.values() if isinstance(value, dict) else value:
            _check_size(child, levels - 1)


# The shapes of lines, beyond the types of the vocabulary: what other rooms rely on. A key that is not here
# may have any value; a key that is here may be absent, unless it is Required.

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Seconds = Annotated[float, msgspec.Meta(ge=MIN_WALL_S, le=MAX_WALL_S)]
_Value = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
_Mbit = Annotated[int, msgspec.Meta(ge=0, le=10**8)]
_Mtu = Annotated[int, msgspec.Meta(ge=0, le=10**6)]
_Name = Annotated[str, msgspec.Meta(min_length=1)]
_Names = list[str] | None


class _CheckedLink(TypedDict, total=False):
    speed_mbit_s: _Mbit | None
    mtu_bytes: _Mtu | None
    shaped_bit_s: _Count | None
    duplex: str | None
    driver: str | None
    bus: str | None
    state: str | None
    sysctls: Mapping[str, str | None] | None


class _CheckedEnvironment(TypedDict, total=False):
    host: str | None
    links: Mapping[str, _CheckedLink] | None
    nodes: Mapping[str, Mapping[str, _CheckedLink]] | None
    sysctls: Mapping[str, str | None] | None
    executors: _Names
    master: str | None
    memory_bytes: _Count | None
    spark_conf: Mapping[str, str] | None
    kernel: str | None
    architecture: str | None
    cpu_model: str | None
    cpus: _Count | None
    python: str | None
    spark: str | None
    hadoop: str | None
    java: str | None
    scala: str | None
    parallelism: _Count | None


class _CheckedParameters(TypedDict, total=False):
    controls: _Names
    data_workloads: list[str]
    not_requested: _Names
    unexpected_links: _Names
    max_time_s: _Seconds
    precision: float
    sink: str | None
    trials: _Count | str
    warmup: _Count | None
    repartition: _Count | None
    pi_samples: _Count | None
    content_checked: bool | None


class _CheckedLayout(TypedDict, total=False):
    requested: str | None
    observed: str | None
    drift: str | None


class _CheckedRecipe(TypedDict, total=False):
    name: str
    version: int
    seed: int
    rows: _Count


class _CheckedDataset(TypedDict, total=False):
    uri: Required[str]
    layout: Required[_CheckedLayout]
    recipe: _CheckedRecipe | None
    placement: Mapping[str, _Count] | None
    digest: str | None
    format: str | None
    rows: _Count | None
    partitions: _Count | None
    file_count: _Count | None
    coder: str | None
    page_cache: bool | None


class _CheckedRun(TypedDict, total=False):
    """The first line, of a run or of a probe run."""

    id: Required[_Name]
    configuration: Required[_Name]
    started_at: Required[datetime]
    written_by: Required[str]
    workloads: list[_Name]
    environment: _CheckedEnvironment
    parameters: _CheckedParameters
    dataset: _CheckedDataset | None


class _CheckedTrial(TypedDict, total=False):
    workload: Required[_Name]
    round: Required[Annotated[int, msgspec.Meta(ge=1)]]
    started_at: Required[datetime]
    wall_s: _Seconds | None


class _CheckedMeasurement(TypedDict, total=False):
    value: _Value | None
    round: Annotated[int, msgspec.Meta(ge=1)]


class _CheckedHostLink(TypedDict, total=False):
    speed_mbit_s: _Mbit | None
    mtu_bytes: _Mtu | None
    shaped_bit_s: _Count | None
    counters: Mapping[str, _Count] | None


class _CheckedSnapshot(TypedDict, total=False):
    link: _CheckedHostLink


class _CheckedEnd(TypedDict, total=False):
    ending: Required[Ending]
    link_errors: Mapping[str, Mapping[str, _Count]] | None


_SHAPES: Mapping[str, Any] = {
    "run": _CheckedRun,
    "probes": _CheckedRun,
    "trial": _CheckedTrial,
    "measurement": _CheckedMeasurement,
    "link": _CheckedSnapshot,
    "end": _CheckedEnd,
}

_RENAMED_IN_2 = (
    ((), "counted", "link_errors"),
    (("parameters",), "reading", "data_workloads"),
    (("parameters",), "unasked", "not_requested"),
    (("dataset",), "sharing", "co_located"),
    (("tasks",), "replay", "simulation"),
    (("tasks", "simulation"), "as_it_was_s", "unchanged_s"),
)
"""Where a key of version 1 is, its name there, and its name in version 2."""


def migrate_line(line: dict[str, Any]) -> None:
    """Rename the keys of a line of version 1 in place to those of version 2; the order stays."""
    if line.get("kind") == "trouble":
        line["kind"] = "excluded"
    for path, old, new in _RENAMED_IN_2:
        table: Any = line
        for key in path:
            table = table.get(key) if isinstance(table, dict) else None
        if isinstance(table, dict) and old in table:
            renamed = {new if key == old else key: value for key, value in table.items()}
            table.clear()
            table.update(renamed)
