"""When a trial counts: a node is compared with itself, and the trial's time plays no part."""

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.interference import MIN_EARLIER, MIN_LOOPS, EarlierTrials, NodeInterference

QUIET: dict[str, Any] = {
    "duration_s": 10.0, "processors": 2, "loops": 200, "loop_s": 0.0004, "busy_s": 18.0,
    "stolen_s": 0.0, "others_s": 0.4, "quota_processors": 2.0, "memory_wait_s": 0.0,
    "io_wait_s": 0.5, "swapped_bytes": 0, "major_faults": 10, "others_disk_bytes": 10**6,
}  # fmt: skip


def node(host: str = "n1", **fields: Any) -> NodeInterference:
    return NodeInterference(host, **QUIET | fields)


def judged(*nodes: NodeInterference, earlier: list[NodeInterference] | None = None) -> str | None:
    before = [node()] * MIN_EARLIER if earlier is None else earlier
    trials = EarlierTrials()
    for each in before:
        trials.judge_next("pi", (each,))
    return trials.judge_next("pi", nodes)


DISTURBED: list[tuple[dict[str, Any], str]] = [
    ({"loop_s": 0.00052}, "n1: processors slower than usual (by 30 %)"),
    ({"stolen_s": 2.0}, "n1: the hypervisor took processor time (10 %, usually 0 %)"),
    ({"others_s": 6.0}, "n1: other processes took processor time (30 %, usually 2 %)"),
    ({"quota_processors": 0.5}, "n1: its CPU limit was lowered (to 0.5 processors, usually 2)"),
    ({"memory_wait_s": 1.0}, "n1: processes waited for memory (10 %, usually 0 %)"),
    ({"swapped_bytes": 2 * 10**8}, "n1: it swapped (20 MB/s, usually 0)"),
    ({"major_faults": 5_000}, "n1: page faults read the disk (500 a second, usually 1)"),
    ({"io_wait_s": 4.5}, "n1: processes waited for I/O (45 %, usually 5 %)"),
    ({"others_disk_bytes": 10**9}, "n1: others used the disks (100 MB/s, usually 0)"),
]


@pytest.mark.parametrize(("fields", "line"), DISTURBED)
def test_what_exceeds_its_limit_is_named(fields: dict[str, Any], line: str) -> None:
    assert judged(node(**fields)) == line


@pytest.mark.parametrize(("fields", "_"), DISTURBED)
def test_what_is_usual_disturbs_nothing(fields: dict[str, Any], _: str) -> None:
    """A neighbour who is always there, daemons that the work needs, the quota of a lab."""
    assert judged(node(**fields), earlier=[node(**fields)] * MIN_EARLIER) is None


@pytest.mark.parametrize(
    "fields",
    [
        {}, {"loop_s": 0.00049}, {"stolen_s": 0.9}, {"others_s": 1.3},
        {"memory_wait_s": 0.4}, {"io_wait_s": 2.4}, {"others_disk_bytes": 5 * 10**8},
        {"quota_processors": 1.95},
    ],
)  # fmt: skip
def test_what_varies_on_any_machine_stays_within_the_limits(fields: dict[str, Any]) -> None:
    assert judged(node(**fields)) is None


@pytest.mark.parametrize("fields", [fields for fields, _ in DISTURBED])
def test_what_is_unknown_disturbs_nothing(fields: dict[str, Any]) -> None:
    unknown: dict[str, Any] = dict.fromkeys(fields)
    assert judged(node(**unknown)) is None
    assert judged(node(**fields), earlier=[node(**unknown)] * 9) in {
        None,
        judged(node(**fields), earlier=[]),
    }


def test_a_mean_of_few_loops_is_no_reason() -> None:
    assert judged(node(loop_s=0.0008, loops=MIN_LOOPS)) is not None
    assert judged(node(loop_s=0.0008, loops=MIN_LOOPS - 1)) is None


@pytest.mark.parametrize(
    ("usual", "now"),
    [
        ({"loop_s": 0.0}, {"loop_s": 0.0004}),
        ({"duration_s": 1e-6, "swapped_bytes": 10**17}, {"swapped_bytes": 10**18}),
    ],
)
def test_a_usual_value_without_a_limit_beyond_it_is_no_reason(
    usual: dict[str, Any], now: dict[str, Any]
) -> None:
    """No node counts that, but a file may have it."""
    assert judged(node(**usual | now), earlier=[node(**usual)] * MIN_EARLIER) is None


class TestTheFirstTrials:
    def test_have_no_usual_value_to_be_compared_with(self) -> None:
        assert judged(node(loop_s=0.0008), earlier=[node()] * (MIN_EARLIER - 1)) is None

    def test_are_disturbed_by_a_hypervisor_from_the_start(self) -> None:
        assert judged(node(stolen_s=9.0), earlier=[]) == (
            "n1: the hypervisor took processor time (33 %, limit 5 %)"
        )

    def test_are_disturbed_by_others_who_take_more_than_daemons_do(self) -> None:
        assert judged(node(others_s=4.5), earlier=[]) is None
        assert judged(node(others_s=10.0), earlier=[]) is not None


class TestTheUsualValue:
    def test_is_that_of_the_quiet_quarter(self) -> None:
        slow = [node(loop_s=0.0008)] * 6
        assert judged(slow[0], earlier=[node(), node(), *slow]) is not None

    def test_follows_a_machine_that_is_hardly_ever_quiet(self) -> None:
        """So that it does not lose all of its trials."""
        slow = [node(loop_s=0.0008)] * 6
        assert judged(slow[0], earlier=[node(), *slow]) is None

    def test_is_each_nodes_own(self) -> None:
        slow, fast = node("slow", loop_s=0.0008), node("fast")
        earlier = EarlierTrials()
        assert {earlier.judge_next("pi", (slow, fast)) for _ in range(MIN_EARLIER + 1)} == {None}
        found = earlier.judge_next("pi", (node("slow"), node("fast", loop_s=0.0008)))
        assert found == "fast: processors slower than usual (by 100 %)"


def test_the_greatest_excess_is_named() -> None:
    assert judged(node(loop_s=0.00052, swapped_bytes=10**9)) == (
        "n1: it swapped (100 MB/s, usually 0)"
    )


def test_the_rule_does_not_see_the_time_of_the_trial() -> None:
    """Nor the trial, which has it."""
    parameters = inspect.signature(EarlierTrials.judge_next).parameters
    assert list(parameters) == ["self", "workload", "nodes"]
    assert not any("wall" in name for name in NodeInterference.__dataclass_fields__)


@given(st.floats(0.5, 1e4))
def test_a_longer_trial_is_not_excluded_more_easily(factor: float) -> None:
    """What happened at the same rate has the same verdict."""
    rates = {"processors", "loop_s", "quota_processors", "loops"}
    for fields in ({}, *(fields for fields, _ in DISTURBED)):
        scaled = {
            name: value if name in rates else value * factor
            for name, value in (QUIET | fields).items()
        }
        assert (judged(node(**scaled)) is None) == (judged(node(**fields)) is None)
