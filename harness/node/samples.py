"""Turns the samples of all nodes into slices of a trial's time.

A node has a clock of its own. It reads its clock in a job, so that the driver knows two moments between
which that was. The jobs before and after the trial both limit how far the clocks are apart.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise

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
"""The longest are kept. A trial of several executions has as many of each stage."""


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
    nodes = [
        _node(node, *_clock_offset(identity, before, after), start_s, interval_s, slices)
        for identity, node in after.nodes.items()
        if identity in before.nodes
    ]
    return Timeline.of(
        interval_s,
        slices,
        _longest(stages, duration_s, interval_s),
        sorted(nodes, key=lambda node: node.host),
    )


def _longest(stages: Iterable[Stage], duration_s: float, slice_s: float) -> tuple[Stage, ...]:
    """Return the stages that are at least a slice long, in the order of their start."""
    inside = [
        Stage(stage.work, min(stage.start_s, duration_s), min(stage.end_s, duration_s))
        for stage in stages
    ]
    long = [stage for stage in inside if stage.end_s - stage.start_s >= slice_s]
    kept = sorted(long, key=lambda stage: stage.start_s - stage.end_s)[:MAX_STAGES]
    return tuple(sorted(kept, key=lambda stage: (stage.start_s, stage.end_s)))


def _clock_offset(
    identity: str, before: NodesSnapshot, after: NodesSnapshot
) -> tuple[float, float]:
    """Return by how much a node's clock is ahead of the driver's, and the error of that, in seconds."""
    limits = [
        (clock_s - snapshot.answered_s, clock_s - snapshot.asked_s)
        for snapshot in (before, after)
        for clock_s in [snapshot.nodes[identity].counters["clock_s"]]
    ]
    low, high = max(low for low, _ in limits), min(high for _, high in limits)
    if low > high:  # the clocks drifted apart meanwhile: a machine slept, or moved to another host
        low, high = limits[-1]
    if identity.startswith(after.boot) and low <= 0 <= high:  # the same machine has the same clock
        return 0.0, 0.0
    return (low + high) / 2, (high - low) / 2


def _node(
    node: NodeReading,
    offset_s: float,
    error_s: float,
    start_s: float,
    interval_s: float,
    slices: int,
) -> NodeTimeline:
    edges_s = [start_s + number * interval_s for number in range(slices + 1)]
    times_s = [(sample[0] or 0) / 1e9 - offset_s for sample in node.samples]
    counts = [[sample[column] for sample in node.samples] for column in range(1, 4)]
    received, sent, busy_ms = (_growth(times_s, column, edges_s) for column in counts)
    return NodeTimeline(
        node.host,
        round(error_s, 3),
        received_bytes=_packed(received),
        sent_bytes=_packed(sent),
        disk_busy_percent=_packed(busy_ms, 0.1 / interval_s, largest=100),
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
    known = [count for count in counts if count is not None]
    if len(known) < max(2, len(counts)) or any(a > b for a, b in pairwise(known)):
        return None
    at_edges = [_count_at(times_s, known, edge_s) for edge_s in edges_s]
    return [
        later - earlier if times_s[0] <= (start_s + end_s) / 2 <= times_s[-1] else None
        for (earlier, later), (start_s, end_s) in zip(
            pairwise(at_edges), pairwise(edges_s), strict=True
        )
    ]


def _count_at(times_s: Sequence[float], counts: Sequence[int], at_s: float) -> float:
    after = bisect_right(times_s, at_s)
    if after in {0, len(times_s)}:
        return counts[max(0, after - 1)]
    (since_s, until_s), (low, high) = times_s[after - 1 : after + 1], counts[after - 1 : after + 1]
    return low + (high - low) * (at_s - since_s) / (until_s - since_s)
