"""Turns the samples of all nodes into slices of a trial's time.

A node has a clock of its own, and reads it in a job. The driver knows that this was between the beginning and
the end of the job. So the jobs before and after the trial both limit how far the clocks are apart.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness.base.items import known
from harness.model.timeline import (
    MAX_SLICES,
    MIN_SLICE_S,
    NodeTimeline,
    Stage,
    Timeline,
    packed,
)
from harness.node.snapshot import NodeReading, NodesSnapshot

MAX_STAGES = 16
"""The longest are kept. A trial of several executions has each stage several times."""


def trial_timeline(
    before: NodesSnapshot,
    after: NodesSnapshot,
    start_s: float,
    end_s: float,
    stages: Iterable[Stage],
) -> Timeline:
    """Return the timeline of a trial that ran from `start_s` to `end_s`, by the driver's monotonic clock.

    `before` started the samples, and `after` has them. A node that answered only once is left out.
    """
    duration_s = max(end_s - start_s, MIN_SLICE_S)
    slices = min(MAX_SLICES, int(duration_s / MIN_SLICE_S))
    interval_s = round(duration_s / slices, 6)
    edges_s = [start_s + number * interval_s for number in range(slices + 1)]
    nodes = []
    for identity, node in after.nodes.items():
        if identity in before.nodes:
            clock = _clock(identity, before, after)
            nodes.append(_node(node, clock, edges_s, interval_s))
    nodes.sort(key=lambda node: node.host)
    return Timeline.of(interval_s, slices, _longest(stages, duration_s, interval_s), nodes)


def _longest(stages: Iterable[Stage], duration_s: float, slice_s: float) -> tuple[Stage, ...]:
    """Return the stages that are at least a slice long, in the order of their start."""
    kept = []
    for stage in stages:
        start_s = min(stage.start_s, duration_s)
        end_s = min(stage.end_s, duration_s)
        if end_s - start_s >= slice_s:
            kept.append(Stage(stage.work, start_s, end_s))
    kept.sort(key=lambda stage: stage.start_s - stage.end_s)
    return tuple(sorted(kept[:MAX_STAGES], key=lambda stage: (stage.start_s, stage.end_s)))


class _Clock(NamedTuple):
    """By how much a node's clock is ahead of the driver's, and the error of that, in seconds."""

    ahead_s: float
    error_s: float


def _clock(identity: str, before: NodesSnapshot, after: NodesSnapshot) -> _Clock:
    first = _limits(identity, before)
    last = _limits(identity, after)
    low = max(first[0], last[0])
    high = min(first[1], last[1])
    if low > high:  # the clocks drifted apart meanwhile: a machine slept, or moved to another host
        low, high = last
    if identity.startswith(after.boot) and low <= 0 <= high:  # the same machine has the same clock
        return _Clock(0.0, 0.0)
    return _Clock((low + high) / 2, (high - low) / 2)


def _limits(identity: str, snapshot: NodesSnapshot) -> tuple[float, float]:
    """Return the least and the most by which a node's clock is ahead, by one snapshot."""
    clock_s = snapshot.nodes[identity].counters["clock_s"]
    return clock_s - snapshot.answered_s, clock_s - snapshot.asked_s


def _node(
    node: NodeReading, clock: _Clock, edges_s: Sequence[float], interval_s: float
) -> NodeTimeline:
    times_s = [(sample[0] or 0) / 1e9 - clock.ahead_s for sample in node.samples]

    def grown(column: int) -> list[float | None] | None:
        return _growth(times_s, [sample[column] for sample in node.samples], edges_s)

    return NodeTimeline(
        node.host,
        round(clock.error_s, 3),
        received_bytes=_packed(grown(1)),
        sent_bytes=_packed(grown(2)),
        disk_busy_percent=_packed(grown(3), 0.1 / interval_s, largest=100),
        busiest_disk=node.busiest_disk,
    )


def _packed(
    series: list[float | None] | None, scale: float = 1, largest: float = 10**15 - 1
) -> str | None:
    if series is None or all(each is None for each in series):
        return None
    return packed([None if each is None else round(min(each * scale, largest)) for each in series])


def _growth(
    times_s: Sequence[float], counts: Sequence[int | None], edges_s: Sequence[float]
) -> list[float | None] | None:
    """Return by how much a counter grew from each edge to the next.

    It is interpolated between samples, so that nothing is lost or counted twice. A slice whose middle no
    two samples enclose is unknown, and so is all if the counter is unknown or was reset.
    """
    known_counts = known(counts)
    if len(known_counts) < max(2, len(counts)) or known_counts != sorted(known_counts):
        return None
    grown: list[float | None] = []
    count_before = _count_at(times_s, known_counts, edges_s[0])
    for start_s, end_s in zip(edges_s, edges_s[1:]):
        count = _count_at(times_s, known_counts, end_s)
        is_known = times_s[0] <= (start_s + end_s) / 2 <= times_s[-1]
        grown.append(count - count_before if is_known else None)
        count_before = count
    return grown


def _count_at(times_s: Sequence[float], counts: Sequence[int], at_s: float) -> float:
    after = bisect_right(times_s, at_s)
    if after == 0:
        return counts[0]
    if after == len(times_s):
        return counts[-1]
    since_s = times_s[after - 1]
    until_s = times_s[after]
    low = counts[after - 1]
    return low + (counts[after] - low) * (at_s - since_s) / (until_s - since_s)
