"""Attribution of wall time to parts, and of changes to changes of parts."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.compare.comparison import compare
from harness.analysis.explain.attribution import (
    IDLE,
    PARTS,
    PYTHON,
    UNATTRIBUTED,
    Attribution,
    ExplainedRow,
    attribute,
    explain,
    wall_parts,
)
from harness.base.errors import BadInput
from harness.model.interference import NodeInterference
from harness.model.run import Phase, Trial
from tests.unit.builders import a_run, configured, failed, known, ok, recorded
from tests.unit.metrics_builders import received, task_metrics, timed


def of(*trials: Trial) -> Attribution:
    return known(attribute([recorded(a_run(), trials)], "w"))


def explained(before: Sequence[Trial], after: Sequence[Trial]) -> ExplainedRow:
    columns = [configured(name, trials) for name, trials in (("1g", before), ("2.5g", after))]
    [row] = explain(compare(columns)).rows
    return row


@pytest.mark.parametrize(
    ("network", "node_local", "is_unknown"),
    [(None, 0.25, False), ("hosts", 0.25, False), ("pods", None, True)],
)
def test_whether_input_is_local_is_unknown_where_addresses_are_those_of_pods(
    network: str | None, node_local: float | None, *, is_unknown: bool
) -> None:
    environment: dict[str, object] = {"executors": ["10.244.1.7"]}
    if network:
        environment["pods"] = {"10.244.1.7": {"network": network}}
    trial = timed("w", 5.0, cpu_s=4.0, input_bytes_by_locality={"ANY": 75, "NODE_LOCAL": 25})
    found = known(attribute([recorded(a_run(environment=environment), [trial])], "w"))
    assert (found.node_local, found.is_place_unknown) == (node_local, is_unknown)
    cached = timed("w", 5.0, cpu_s=4.0, input_bytes_by_locality={"PROCESS_LOCAL": 75})
    found = known(attribute([recorded(a_run(environment=environment), [cached])], "w"))
    assert (found.node_local, found.is_place_unknown) == (None, False)


class TestWallTime:
    def test_a_second_of_a_task_is_a_second_of_one_slot(self) -> None:
        """12 s of tasks on 4 slots are 3 s of wall time; in the other 2 s the slots were idle."""
        trial = timed("w", 5.0, slots=4, fetch_wait_s=8.0, cpu_s=3.0, scheduler_delay_s=1.0)
        parts = known(wall_parts(trial))
        assert (parts["fetch_wait_s"], parts["cpu_s"], parts["scheduler_delay_s"]) == (
            2,
            0.75,
            0.25,
        )
        assert parts[IDLE] == 2.0

    @given(
        st.floats(0.001, 1e5),
        st.floats(0.5, 1e4),
        st.lists(st.integers(0, 10**15).map(lambda ns: ns / 1e9), min_size=8, max_size=8),
    )
    def test_the_parts_sum_to_the_wall_time(
        self, wall_s: float, slots: float, seconds: list[float]
    ) -> None:
        names = [name for name in PARTS if name != IDLE]
        metrics: dict[str, Any] = dict(zip(names, seconds, strict=True))
        parts = wall_parts(timed("w", wall_s, slots=slots, **metrics))
        assert parts is not None
        assert set(parts) == set(PARTS)
        assert math.fsum(parts.values()) == pytest.approx(wall_s, abs=1e-6 * sum(seconds))

    @pytest.mark.parametrize(
        "trial", [ok("w", 1.0), timed("w", 1.0, slots=None), failed("w")], ids=["old", "cut", "bad"]
    )
    def test_trials_without_task_metrics_or_slots_have_no_parts(self, trial: Trial) -> None:
        assert wall_parts(trial) is None
        assert attribute([recorded(a_run(), [trial])], "w") is None

    def test_warm_up_trials_do_not_count(self) -> None:
        warm_up = ok("w", 9.0, phase=Phase.WARM_UP, tasks=task_metrics(cpu_s=9.0))
        found = of(warm_up, timed("w", 5.0, cpu_s=4.0))
        assert (found.n, found.trials, found.parts_s["cpu_s"]) == (1, 1, 2.0)


def test_a_cpu_limit_that_stops_a_node_is_named_with_what_it_costs() -> None:
    def trial(**stopped: int) -> Trial:
        nodes = tuple(
            NodeInterference(
                host, 9.0, 4, quota_periods=90, quota_throttles=periods, throttled_s=periods / 10
            )
            for host, periods in stopped.items()
        )
        return replace(timed("w", 5.0, cpu_s=4.0), interference=nodes)

    [note] = of(trial(n1=0, n2=45), trial(n1=1, n2=27)).notes
    assert note == (
        "n2 was throttled by its CPU limit in 40 % of the periods: 3.60 s of processor time a trial that no "
        "part above contains"
    )
    assert of(trial(n1=0), timed("w", 5.0)).notes == ()


class TestMedians:
    def test_each_part_has_its_own_median(self) -> None:
        trials = [
            timed("w", 10.0, slots=1, cpu_s=c, fetch_wait_s=f) for c, f in [(1, 5), (2, 1), (6, 3)]
        ]
        parts_s = of(*trials).parts_s
        assert (parts_s["cpu_s"], parts_s["fetch_wait_s"]) == (2, 3)

    def test_trials_without_metrics_count_as_trials_only(self) -> None:
        found = of(timed("w", 5.0, cpu_s=4.0), ok("w", 5.0), ok("w", 6.0))
        assert (found.n, found.trials) == (1, 3)

    def test_python_time_that_one_trial_does_not_know_is_unattributed_in_all(self) -> None:
        found = of(
            timed("w", 9.0, slots=1, python_worker_s=4.0, unattributed_s=1.0),
            timed("w", 9.0, slots=1, python_worker_s=None, unattributed_s=7.0),
        )
        assert PYTHON not in found.parts_s
        assert found.parts_s[UNATTRIBUTED] == (5.0 + 7.0) / 2


class TestBytes:
    def test_what_is_local_is_a_fraction_of_input_with_a_preferred_node(self) -> None:
        read = {"NODE_LOCAL": 96, "ANY": 3, "RACK_LOCAL": 1, "PROCESS_LOCAL": 50}
        assert of(timed("w", 1.0, input_bytes_by_locality=read)).node_local == 0.96

    def test_input_without_a_preferred_node_has_no_fraction(self) -> None:
        found = of(timed("w", 1.0, input_bytes_by_locality={"PROCESS_LOCAL": 50}))
        assert (found.input_bytes, found.node_local) == (50, None)

    def test_received_and_shuffled_are_those_of_all_nodes(self) -> None:
        found = of(timed("w", 1.0, received(500, 300, 200), shuffle_remote_bytes=600))
        assert (found.received_bytes, found.shuffle_bytes) == (1_000, 600)

    def test_are_unknown_if_no_node_could_be_read(self) -> None:
        assert of(timed("w", 1.0, received(unread=("n1",)))).received_bytes is None
        assert of(timed("w", 1.0)).received_bytes is None

    def test_trials_in_which_all_nodes_were_read_go_before_others(self) -> None:
        read: dict[str, Any] = {"input_bytes_by_locality": {"ANY": 1_000}}
        partly = timed("w", 1.0, received(300, unread=("n3",)), **read)
        found = of(timed("w", 1.0, received(500, 400), **read), partly, partly)
        assert (found.received_bytes, found.unread) == (900, ())
        assert found.received_per_input_byte == pytest.approx(0.9)

    def test_for_each_byte_of_input_are_unknown_without_those_of_one_node(self) -> None:
        read: dict[str, Any] = {"input_bytes_by_locality": {"ANY": 1_000}}
        found = of(timed("w", 1.0, received(300, unread=("n3",)), **read))
        assert (found.received_bytes, found.unread) == (300, ("n3",))
        assert found.received_per_input_byte is None


class TestNotes:
    def test_count_events_and_the_trials_that_had_them(self) -> None:
        notes = of(
            timed("w", 1.0, failed_tasks=2, disk_spilled_bytes=4_000),
            timed("w", 1.0, failed_tasks=1, incomplete="jobs without an end: 1"),
            timed("w", 1.0, speculative_tasks=5),
        ).notes
        assert notes == (
            "failed tasks: 3 in 2 of 3 trials",
            "speculative tasks: 5 in 1 of 3 trials",
            "bytes spilled to disk: 4,000 in 1 of 3 trials",
            (
                "the event log of 1 of 3 trials is incomplete; its complete part was used "
                "(jobs without an end: 1)"
            ),
        )


class TestChange:
    def test_is_divided_into_the_differences_of_the_parts_medians(self) -> None:
        row = explained(
            [timed("w", 10.0, fetch_wait_s=8.0, cpu_s=6.0)],
            [timed("w", 7.5, fetch_wait_s=4.0, cpu_s=5.0)],
        )
        assert row.change_s == pytest.approx(-2.5)
        assert row.parts_s["fetch_wait_s"] == -2.0
        assert row.parts_s["cpu_s"] == -0.5
        assert row.parts_s[IDLE] == 0.0
        assert row.rest_s == pytest.approx(0)

    @given(
        *(
            st.lists(st.tuples(*[st.floats(0.01, 1e4)] * 4), min_size=1, max_size=6)
            for _ in range(2)
        )
    )
    def test_is_the_sum_of_parts_and_rest(
        self, before: list[tuple[float, ...]], after: list[tuple[float, ...]]
    ) -> None:
        sides = [
            [timed("w", wall, fetch_wait_s=f, cpu_s=c, unattributed_s=u) for wall, f, c, u in side]
            for side in (before, after)
        ]
        row = explained(*sides)
        together = math.fsum((*row.parts_s.values(), known(row.rest_s)))
        assert together == pytest.approx(known(row.change_s), abs=1e-6)

    def test_python_time_that_one_side_does_not_know_is_unattributed_in_both(self) -> None:
        row = explained(
            [timed("w", 9.0, slots=1, python_worker_s=None, unattributed_s=7.0)],
            [timed("w", 9.0, slots=1, python_worker_s=4.0, unattributed_s=1.0)],
        )
        assert PYTHON not in row.parts_s
        assert row.parts_s[UNATTRIBUTED] == -2.0

    def test_without_any_task_metrics_the_error_says_what_to_do(self) -> None:
        with pytest.raises(
            BadInput,
            match=r"no workload has task metrics in both '1g' and '2\.5g'.*; runs that clusterlift made have",
        ):
            explained([ok("w", 2.0)], [timed("w", 1.0)])
