"""What a workload gains at most without waits: its tasks are replayed on their slots without them."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.explain.blocked import Schedule, bound_of
from harness.model.profile import Profile, Seen, SeenTask, TaskSpan
from harness.model.run import Trial
from tests.unit.analysis.explain.test_profile import CSV, FETCH
from tests.unit.builders import known
from tests.unit.metrics_builders import profiled

SpanSeen = tuple[TaskSpan, Seen]
DISK_READ = ("Task.run", "org.apache.hadoop.fs.RawLocalFileSystem$LocalFSFileInputStream.read")


def span(stage: int, launched_ms: int, lasted_ms: int, fetching_ms: int = 0) -> TaskSpan:
    return TaskSpan(stage, launched_ms, launched_ms, launched_ms, lasted_ms, fetching_ms)


def of_tasks(
    *tasks: SpanSeen, wall_s: float, slots: int = 2, **parts_s: float
) -> tuple[Trial, Profile]:
    seen = [SeenTask(span.stage, seen, span) for span, seen in tasks]
    parts: dict[str, Any] = {**parts_s} or {"cpu_s": 1.0}
    trial = profiled("join", wall_s, *seen, slots=slots, **parts)
    return trial, known(trial.profile)


def replayed_ms(spans: Sequence[TaskSpan], lengths_ms: Sequence[float], slots: int = 2) -> float:
    return Schedule(spans, slots).replayed_ms(lengths_ms)


class TestReplay:
    STAGES = (
        # Two stages run beside each other on two slots; the third needs both, and starts 50 ms after.
        *(span(0, 100, 400), span(1, 100, 300), span(0, 400, 300)),
        *(span(2, 750, 200), span(2, 750, 250)),
    )

    def test_with_their_own_lengths_tasks_end_when_they_did(self) -> None:
        assert replayed_ms(self.STAGES, [s.lasted_ms for s in self.STAGES]) == 1_000

    def test_a_stage_waits_for_those_that_had_ended_before_it_and_the_driver(self) -> None:
        """The second task of stage 0 starts at once where the first one was: 100 + 10 + 300 + 50 + 250."""
        assert replayed_ms(self.STAGES, [10, 300, 300, 200, 250]) == 710

    def test_a_stage_that_waited_for_a_slot_begins_as_soon_as_there_is_one(self) -> None:
        spans = [span(0, 0, 500), TaskSpan(1, 1, 0, 500, 300)]
        assert replayed_ms(spans, [100, 300], slots=1) == 400

    def test_who_did_not_wait_is_not_faster(self) -> None:
        """A task of 400 ms remains in stage 0, so 200 ms less in stage 1 save no time."""
        assert replayed_ms(self.STAGES, [400, 100, 300, 200, 250]) == 100 + 400 + 300

    @given(
        st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=9), min_size=1, max_size=5),
        st.integers(1, 4),
    )
    def test_a_schedule_is_its_own_replay(self, stages: list[list[int]], slots: int) -> None:
        spans = scheduled(stages, slots)
        end_ms = max(one.launched_ms + one.lasted_ms for one in spans)
        assert replayed_ms(spans, [one.lasted_ms for one in spans], slots) == end_ms

    @given(
        st.lists(
            st.tuples(
                st.integers(0, 4), st.integers(0, 99), st.integers(1, 50), st.integers(0, 50)
            ),
            min_size=1,
            max_size=30,
        ),
        st.integers(1, 4),
    )
    def test_shorter_tasks_never_end_later(
        self, tasks: list[tuple[int, int, int, int]], slots: int
    ) -> None:
        spans = [span(*task[:3]) for task in tasks]
        as_they_were = [float(task[2]) for task in tasks]
        shorter = [float(min(task[2:])) for task in tasks]
        assert replayed_ms(spans, shorter, slots) <= replayed_ms(spans, as_they_were, slots)


def scheduled(stages: Sequence[Sequence[int]], slots: int) -> list[TaskSpan]:
    """Return the tasks of stages that run one after the other, 10 ms apart."""
    spans, start_ms = [], 10
    for stage, lengths_ms in enumerate(stages):
        free_ms = [start_ms] * slots
        for length_ms in lengths_ms:
            slot = free_ms.index(min(free_ms))
            spans.append(span(stage, free_ms[slot], length_ms))
            free_ms[slot] += length_ms
        start_ms = max(free_ms) + 10
    return spans


class TestBound:
    def test_only_waits_are_removed_and_the_longest_task_decides(self) -> None:
        """1000 ms, half of them waiting, and 800 ms of work: 800 ms remain, and 200 before and after."""
        trial = of_tasks(
            (span(1, 100, 1_000), {CSV: (500, 0), FETCH: (0, 500)}),
            (span(1, 100, 800), {CSV: (1_000, 0), FETCH: (1_000, 0)}),
            wall_s=1.2,
        )
        found = known(bound_of([trial]))
        assert found.replayed == pytest.approx(1.0)
        assert found.network.share == pytest.approx(0.2 / 1.2, abs=0.01)
        assert found.disk.share == pytest.approx(0, abs=0.01)

    def test_network_and_disk_are_bounds_of_their_own(self) -> None:
        waits = {CSV: (4_000, 0), FETCH: (0, 3_000), DISK_READ: (0, 3_000)}
        found = known(bound_of([of_tasks((span(1, 0, 1_000), waits), wall_s=1.0)]))
        assert (found.network.share, found.disk.share) == pytest.approx((0.3, 0.3), abs=0.01)

    def test_the_time_in_which_the_driver_fetches_results_is_the_networks(self) -> None:
        found = known(bound_of([of_tasks((span(1, 0, 1_000, 400), {CSV: (9_999, 0)}), wall_s=1.0)]))
        assert (found.network.share, found.disk.share) == pytest.approx((0.4, 0.0), abs=0.01)

    def test_a_task_that_was_never_seen_waited_as_its_stage_did(self) -> None:
        seen: Seen = {FETCH: (4_000, 6_000)}
        tasks = [(span(1, 100 * number, 100), seen) for number in range(4)]
        unseen: SpanSeen = (span(1, 400, 100), {})
        found = known(bound_of([of_tasks(*tasks, unseen, wall_s=0.5, slots=1)]))
        assert found.network.share == pytest.approx(0.6, abs=0.05)

    def test_the_part_of_a_task_without_a_thread_is_not_removed(self) -> None:
        task: SpanSeen = (span(1, 0, 1_000), {FETCH: (0, 10_000)})
        trial = of_tasks(task, wall_s=1.0, fetch_wait_s=0.7, scheduler_delay_s=0.3)
        assert known(bound_of([trial])).network.share == pytest.approx(0.7, abs=0.01)

    def test_few_samples_and_trials_that_differ_make_the_interval_wide(self) -> None:
        def trial(waits: int, works: int) -> tuple[Trial, Profile]:
            return of_tasks((span(1, 0, 1_000), {FETCH: (works, waits)}), wall_s=1.0)

        few, many = (known(bound_of([trial(n, n)])).network for n in (5, 5_000))
        different = known(bound_of([trial(2_000, 8_000), trial(5_000, 5_000), trial(8_000, 2_000)]))
        assert few.interval.low < 0.3
        assert many.interval.low > 0.49
        assert different.network.interval == pytest.approx((0.0, 1.0), abs=0.3)
        assert known(bound_of([trial(0, 20)])).network.interval.high > 0.02

    def test_a_stage_of_many_tasks_is_not_slower_by_the_chance_of_its_samples(self) -> None:
        """Each of 16 tasks waits half of its time, but of ten samples that half is seen by chance only."""
        chances = (2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 7, 7, 8)
        tasks: list[SpanSeen] = [
            (span(1, 0, 1_000), {FETCH: (10 - waits, waits)}) for waits in chances
        ]
        found = known(bound_of([of_tasks(*tasks, wall_s=1.0, slots=16)]))
        assert found.network.share == pytest.approx(0.5, abs=0.1)

    def test_without_the_times_of_tasks_there_is_none(self) -> None:
        trial = profiled("join", 1.0, SeenTask(1, {CSV: (9, 0)}))
        assert bound_of([(trial, known(trial.profile))]) is None
