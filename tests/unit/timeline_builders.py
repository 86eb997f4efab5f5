"""Builds timelines in one line: the series of a node are lists of numbers."""

from collections.abc import Sequence
from typing import Any

from harness.model.run import Trial
from harness.model.timeline import NodeTimeline, Stage, Timeline, packed
from tests.unit.builders import ok

Values = Sequence[int | None]


def a_node(
    host: str,
    received: Values | None = None,
    sent: Values | None = None,
    disk_busy: Values | None = None,
    busiest_disk: str | None = None,
    clock_error_s: float = 0.0,
) -> NodeTimeline:
    """Return a node with these bytes and percent in each slice."""
    series = {
        "received_bytes": received,
        "sent_bytes": sent,
        "disk_busy_percent": disk_busy,
    }
    texts = {name: packed(values) for name, values in series.items() if values is not None}
    return NodeTimeline(host, clock_error_s, **texts, busiest_disk=busiest_disk)


def a_timeline(
    *nodes: NodeTimeline, slices: int, interval_s: float = 1.0, stages: Sequence[Stage] = ()
) -> Timeline:
    return Timeline.of(interval_s, slices, stages, nodes)


def mbit(*rates: float | None, interval_s: float = 1.0) -> list[int | None]:
    """Return the bytes of slices at these rates in Mbit/s."""
    return [None if rate is None else round(rate * interval_s * 125_000) for rate in rates]


def a_trial(workload: str, timeline: Timeline, round_: int = 1, **more: Any) -> Trial:
    """Return an ok trial that lasted as long as its timeline, divided by its executions."""
    whole_s = timeline.slices * timeline.interval_s
    return ok(workload, whole_s / more.get("executions", 1), round_, timeline=timeline, **more)
