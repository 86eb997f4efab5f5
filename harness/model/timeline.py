"""What the nodes' links and disks did while a trial ran, slice by slice of its time."""

from __future__ import annotations  # for Python 3.8

import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Optional, Tuple

from harness.base.items import known
from harness.model.task_metrics import MAX_QUANTITY, MIN_SECONDS, Quantities

MIN_SLICE_S = 0.2
"""The nodes are sampled five times a second."""
MAX_SLICES = 64
"""Slices of a trial. The slices of a long one are longer. So a results file grows by at most half."""
MAX_READABLE_SLICES = 10_000
"""More than any version writes."""

_LEVELS = f"{string.digits}{string.ascii_uppercase}{string.ascii_lowercase}-_"
_TOP = len(_LEVELS) - 1
_RANKS = {level: rank for rank, level in enumerate(_LEVELS)}
_UNKNOWN = "."
_SERIES = re.compile(rf"([0-9]{{1,15}})(?: ([{re.escape(_LEVELS + _UNKNOWN)}]+))?")


@dataclass(frozen=True)
class Stage(Quantities):
    """An attempt of a stage, in seconds since the trial's start.

    `work` is what its tasks did, such as `reads data, writes shuffle`: Spark's numbers of stages mean
    nothing outside of their run.
    """

    work: str
    start_s: float
    end_s: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start_s > self.end_s:
            raise ValueError(f"a stage ends after {self.end_s} s, before it starts")


@dataclass(frozen=True)
class NodeTimeline:
    """What one node counted in each slice. A series is `packed`, and None if it is unknown.

    - `clock_error_s`: by how much the slices may lie beside the trial's, because the node has a clock of
      its own; 0 on the driver's machine.
    - `received_bytes`, `sent_bytes`: of all interfaces that lead to other machines, with headers.
    - `disk_busy_percent`: how long the disk had something to do that was the busiest in the slice.
    - `busiest_disk`: the name of the one that was busy for longest; None if none was.
    """

    host: str
    clock_error_s: float
    received_bytes: str | None = None
    sent_bytes: str | None = None
    disk_busy_percent: str | None = None
    busiest_disk: str | None = None


_Column = Tuple[Optional[str], ...]


@dataclass(frozen=True)
class Timeline(Quantities):
    """A trial's time in slices of equal length, the stages that ran in it, and the nodes.

    `slices` is the number of slices. All executions of the trial together are `slices * interval_s` long.
    Stages that are shorter than a slice may be left out. Each other field of a NodeTimeline is a list with an
    item for each host. Their names would be as long as the series, so they are recorded once. Version 1.0
    recorded nothing of disks: those fields may be empty.
    """

    interval_s: float
    slices: int
    stages: tuple[Stage, ...] = ()
    hosts: tuple[str, ...] = ()
    clock_error_s: tuple[float, ...] = ()
    received_bytes: _Column = ()
    sent_bytes: _Column = ()
    disk_busy_percent: _Column = ()
    busiest_disk: _Column = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.interval_s < MIN_SECONDS or not 1 <= self.slices <= MAX_READABLE_SLICES:
            raise ValueError(
                f"a timeline has from 1 to {MAX_READABLE_SLICES:,} slices of some time"
            )
        if not all(self.hosts):
            raise ValueError("a host has a name")
        for name in _COLUMNS:
            column = getattr(self, name)
            if len(column) != len(self.hosts) and (column or name not in _OF_DISKS):
                raise ValueError(f"{name} has {len(column)} items for {len(self.hosts)} hosts")
            for series in column:
                if isinstance(series, str) and name != "busiest_disk":
                    _check(name, series, self.slices)
        if any(not 0 <= error_s <= MAX_QUANTITY for error_s in self.clock_error_s):
            raise ValueError("clock_error_s has a number that is not finite, or less than 0")

    @classmethod
    def of(
        cls, interval_s: float, slices: int, stages: Iterable[Stage], nodes: Iterable[NodeTimeline]
    ) -> Timeline:
        """Return the timeline of these nodes."""
        nodes = tuple(nodes)
        columns = {name: tuple(getattr(node, name) for node in nodes) for name in _COLUMNS}
        return cls(interval_s, slices, tuple(stages), tuple(node.host for node in nodes), **columns)

    @property
    def nodes(self) -> tuple[NodeTimeline, ...]:
        """The nodes, in the order of `hosts`."""
        unknown = (None,) * len(self.hosts)
        columns = [getattr(self, name) or unknown for name in _COLUMNS]
        return tuple(NodeTimeline(*values) for values in zip(self.hosts, *columns))

    @property
    def length_s(self) -> float:
        """The time of all slices together, in seconds."""
        return self.interval_s * self.slices

    def series(self, packed_series: str | None) -> tuple[int | None, ...]:
        """Return the value of each slice; None where it is unknown."""
        if packed_series is None:
            return (None,) * self.slices
        return unpacked(packed_series, self.slices)


_COLUMNS = tuple(field.name for field in fields(NodeTimeline) if field.name != "host")
_OF_DISKS = _COLUMNS[-2:]
"""Fields that version 1.0 does not have."""


def packed(values: Sequence[int | None]) -> str:
    """Return whole numbers of 0 or more as a short text, such as `941250 0A_-.`.

    The text has the largest number and a character for each: how many 63rds of the largest it is, from
    `0` to `_`, or `.` if it is None. So numbers are off by at most 1/126 of the largest. Without
    characters, all numbers are 0.
    """
    largest = max(known(values), default=0)
    if not largest and None not in values:
        return "0"
    scale = _TOP / max(1, largest)
    levels = ""
    for value in values:
        levels += _UNKNOWN if value is None else _LEVELS[round(value * scale)]
    return f"{largest} {levels}"


@lru_cache(maxsize=4096)
def unpacked(text: str, count: int) -> tuple[int | None, ...]:
    """Return the numbers that `packed` made a text of. Raise ValueError if there are not `count`."""
    largest, levels = _check("a series", text, count)
    if not levels:
        return (0,) * count
    by_level: dict[str, int | None] = {_UNKNOWN: None}
    for level in set(levels) - {_UNKNOWN}:
        by_level[level] = round(largest * _RANKS[level] / _TOP)
    return tuple(by_level[level] for level in levels)


def _check(name: str, text: str, count: int) -> tuple[int, str]:
    """Return the largest number and the characters of a packed series."""
    match = _SERIES.fullmatch(text)
    if match is None:
        raise ValueError(f"{name} is not a number and a character for each slice")
    largest = int(match[1])
    levels = match[2] or ""
    if len(levels) != count and (levels or largest):
        raise ValueError(f"{name} has {len(levels)} numbers, not {count}")
    return largest, levels
