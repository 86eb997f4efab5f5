"""Samples of several nodes become the slices of a trial: nothing is lost, and clocks are related."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.timeline import MAX_SLICES, NodeTimeline, Stage, Timeline, unpacked
from harness.node.sampler import Sample
from harness.node.samples import MAX_STAGES, trial_timeline
from harness.node.snapshot import NodeReading, NodesSnapshot
from tests.unit.builders import known

BOOT = "boot-a"


def node(clock_s: float, samples: Sequence[Sample] = (), host: str = "n1") -> NodeReading:
    """Return the reading of a node with two processors."""
    return NodeReading(host, counters={"clock_s": clock_s, "processors": 2}, samples=samples)


def snapshot(asked_s: float, answered_s: float, nodes: Mapping[str, NodeReading]) -> NodesSnapshot:
    return NodesSnapshot(nodes, {}, asked_s, answered_s, BOOT)


def counted(
    times_s: Sequence[float], received: Sequence[int | None], **columns: Sequence[int | None]
) -> list[Sample]:
    """Return samples; columns that are not given are 0."""
    nothing = [0] * len(times_s)
    others = [columns.get(name, nothing) for name in ("sent", "disk_ms")]
    return [
        [round(time_s * 1e9), *row] for time_s, *row in zip(times_s, received, *others, strict=True)
    ]


def snapshots(
    samples: Sequence[Sample],
    *,
    identity: str = f"{BOOT} net:[1]",
    ahead_s: float = 0.0,
    asked_s: tuple[float, float] = (9.0, 20.0),
    took_s: float = 0.1,
) -> tuple[NodesSnapshot, NodesSnapshot]:
    """Return the snapshots before and after a trial of a node whose clock is ahead of the driver's."""
    before, after = (
        snapshot(at_s, at_s + took_s, {identity: node(at_s + took_s / 2 + ahead_s, taken)})
        for at_s, taken in zip(asked_s, ((), samples), strict=True)
    )
    return before, after


def timeline_of(
    samples: Sequence[Sample], start_s: float = 10.0, end_s: float = 12.0, **clocks: Any
) -> Timeline:
    before, after = snapshots(samples, **clocks)
    return trial_timeline(before, after, start_s, end_s, ())


def node_of(timeline: Timeline) -> NodeTimeline:
    [node] = timeline.nodes
    return node


def received(timeline: Timeline) -> list[int | None]:
    return list(unpacked(known(node_of(timeline).received_bytes), timeline.slices))


class TestSlices:
    def test_have_equal_lengths_of_at_least_a_fifth_of_a_second(self) -> None:
        timeline = timeline_of([], 10.0, 11.1)
        assert (timeline.slices, timeline.interval_s) == (5, 0.22)

    def test_of_a_long_trial_are_longer(self) -> None:
        timeline = timeline_of([], 10.0, 3610.0)
        assert (timeline.slices, timeline.interval_s) == (MAX_SLICES, 3600 / MAX_SLICES)

    def test_have_what_was_counted_in_them(self) -> None:
        """A steady rate, then nothing; the samples lie beside the slices."""
        times_s = [9.9, 10.1, 10.3, 10.5, 10.7, 10.9, 11.1, 11.3, 11.5, 11.7, 11.9, 12.1]
        counts = [min(100 * n, 500) for n in range(12)]
        found = received(timeline_of(counted(times_s, counts)))
        assert found == pytest.approx([100, 100, 100, 100, 50, 0, 0, 0, 0, 0], abs=1)

    @given(
        st.lists(st.integers(0, 10**6), min_size=2, max_size=40),
        st.floats(10.0, 10.5),
        st.floats(0.2, 30),
    )
    def test_lose_nothing_and_count_nothing_twice(
        self, grown: list[int], start_s: float, length_s: float
    ) -> None:
        """Samples from 9 s to 50 s whose counts grow only within the trial."""
        inside_s = [start_s + length_s * n / len(grown) for n in range(len(grown))]
        sums = [sum(grown[:n]) for n in range(len(grown))]
        samples = counted(
            [9.0, *inside_s, start_s + length_s, 50.0], [0, *sums, sum(grown), sum(grown)]
        )
        timeline = timeline_of(samples, start_s, start_s + length_s)
        slices = [value for value in received(timeline) if value is not None]
        assert len(slices) == timeline.slices
        rounding = timeline.slices * (1 + max(slices) / 126)
        assert sum(slices) == pytest.approx(sum(grown), abs=rounding)

    def test_outside_of_the_samples_are_unknown_and_not_0(self) -> None:
        """A sampler that started late, and ended early."""
        found = received(timeline_of(counted([10.55, 10.7, 11.35], [0, 100, 400])))
        assert [value is None for value in found] == [
            True, True, True, False, False, False, False, True, True, True,
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "counts", [[0, None, 100, 200], [0, 100, 50, 60], [None] * 4, [7, 3, 9, 10]]
    )
    def test_of_a_counter_that_is_unknown_or_was_reset_are_unknown(
        self, counts: list[int | None]
    ) -> None:
        found = node_of(timeline_of(counted([9.5, 10.5, 11.5, 12.5], counts)))
        assert (found.received_bytes, found.sent_bytes) == (None, "0")

    def test_without_samples_everything_is_unknown(self) -> None:
        assert node_of(timeline_of([])) == NodeTimeline("n1", 0.0)

    @pytest.mark.parametrize(("busy_ms", "percent"), [(1500, 50), (3300, 100)])
    def test_the_busiest_disk_is_in_percent_of_the_slice_and_never_more(
        self, busy_ms: int, percent: int
    ) -> None:
        """Three seconds are sampled."""
        samples = counted([9.5, 12.5], [0, 0], disk_ms=[40_000, 40_000 + busy_ms])
        found = node_of(timeline_of(samples))
        assert unpacked(known(found.disk_busy_percent), 10) == (percent,) * 10

    def test_of_a_node_without_disks_are_unknown(self) -> None:
        found = node_of(timeline_of(counted([9.5, 12.5], [0, 0], disk_ms=[None, None])))
        assert (found.disk_busy_percent, found.busiest_disk) == (None, None)


class TestClocks:
    SAMPLES = ([9.5, 11.0, 11.2, 12.5], [0, 0, 800, 800])

    def shifted(self, ahead_s: float) -> list[Sample]:
        times_s, counts = self.SAMPLES
        return counted([time_s + ahead_s for time_s in times_s], counts)

    def test_of_the_drivers_machine_are_the_drivers(self) -> None:
        found = node_of(timeline_of(self.shifted(0)))
        assert found.clock_error_s == 0

    @pytest.mark.parametrize("ahead_s", [-1000.0, 0.0, 5e6])
    def test_of_other_machines_are_related_by_when_they_were_read(self, ahead_s: float) -> None:
        timeline = timeline_of(
            self.shifted(ahead_s), identity="boot-b net:[1]", ahead_s=ahead_s, took_s=0.3
        )
        assert node_of(timeline).clock_error_s == 0.15
        assert received(timeline) == [0, 0, 0, 0, 0, 800, 0, 0, 0, 0]

    def test_are_limited_by_both_jobs(self) -> None:
        """The node read its clock at the end of the first job, and at the start of the second."""
        before, after = (
            snapshot(asked_s, asked_s + 1.0, {"b": node(clock_s)})
            for asked_s, clock_s in ((8.0, 109.0), (20.0, 120.25))
        )
        timeline = trial_timeline(before, after, 10.0, 12.0, ())
        assert node_of(timeline).clock_error_s == 0.125

    def test_that_went_apart_are_related_by_the_later_job(self) -> None:
        before, after = snapshots(self.shifted(50), identity="boot-b net:[1]", ahead_s=50)
        drifted = snapshot(before.asked_s, before.answered_s, {"boot-b net:[1]": node(1.0)})
        timeline = trial_timeline(drifted, after, 10.0, 12.0, ())
        assert received(timeline) == [0, 0, 0, 0, 0, 800, 0, 0, 0, 0]


class TestNodes:
    def test_that_answered_once_are_left_out(self) -> None:
        before, after = snapshots([])
        silent = snapshot(9.0, 9.1, {})
        assert trial_timeline(silent, after, 10.0, 12.0, ()).nodes == ()
        assert trial_timeline(before, silent, 10.0, 12.0, ()).nodes == ()


class TestStages:
    def stages(self, *stages: Stage, end_s: float = 12.0) -> tuple[Stage, ...]:
        before, after = snapshots([])
        return trial_timeline(before, after, 10.0, end_s, stages).stages

    def test_are_in_the_order_of_their_start(self) -> None:
        first, second = Stage("reads data", 0.0, 0.9), Stage("reads shuffle", 1.0, 1.9)
        assert self.stages(second, first) == (first, second)

    def test_that_are_shorter_than_a_slice_are_left_out(self) -> None:
        assert self.stages(Stage("computes", 0.5, 0.6), Stage("computes", 5.0, 6.0)) == ()

    def test_are_not_too_many(self) -> None:
        many = [Stage("computes", n, n + 0.5 + n / 1000) for n in range(40)]
        assert self.stages(*many, end_s=60.0) == ()  # shorter than a slice of 0.78 s
        kept = self.stages(*(Stage("computes", n, n + 1 + n / 1000) for n in range(40)), end_s=60.0)
        assert [stage.start_s for stage in kept] == list(range(40 - MAX_STAGES, 40))
