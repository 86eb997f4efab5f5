"""What disturbed a trial is the difference of the nodes' counters before and after it."""

from dataclasses import asdict
from typing import Any

import pytest

from harness.model.interference import NodeInterference
from harness.node.interference import interference
from harness.node.snapshot import NodeReading
from tests.unit.builders import known

BEFORE: dict[str, Any] = {
    "clock_s": 100.0, "processors": 2, "started_ns": 5, "loops": 10, "loop_ns": 4_000_000,
    "busy_s": 50.0, "stolen_s": 1.0, "own": {"1 5": (20.0, 0.0, "")}, "quota_processors": 2,
    "quota_periods": 100, "quota_throttles": 10, "throttled_s": 1.0, "heat_throttles": 3,
    "memory_wait_s": 0.0, "io_wait_s": 1.0,
    "swapped_bytes": 0, "major_faults": 5, "disk_read_bytes": 600,
    "disk_written_bytes": 400, "own_disk_bytes": 100,
}  # fmt: skip
AFTER = BEFORE | {
    "clock_s": 110.0, "loops": 30, "loop_ns": 12_000_000, "busy_s": 66.0, "stolen_s": 1.5,
    "own": {"1 5": (35.0, 0.0, "")}, "quota_processors": 0.5, "io_wait_s": 2.5,
    "quota_periods": 180, "quota_throttles": 50, "throttled_s": 4.5, "heat_throttles": 5,
    "major_faults": 8, "disk_read_bytes": 4000, "disk_written_bytes": 1000, "own_disk_bytes": 1100,
}  # fmt: skip


def node(
    counters: dict[str, Any], host: str = "n1", boot: str = "boot-a", namespace: str = "pid:[1]"
) -> NodeReading:
    return NodeReading(host, f"{boot} {namespace}", counters)


def difference(before: dict[str, Any], after: dict[str, Any]) -> NodeInterference:
    [found] = known(interference({"a": node(before)}, {"a": node(after)}))
    return found


def test_every_counter_becomes_what_happened_between_the_two_readings() -> None:
    assert difference(BEFORE, AFTER) == NodeInterference(
        host="n1", duration_s=10.0, processors=2, loops=20, loop_s=0.0004, busy_s=16.0,
        stolen_s=0.5, others_s=1.0, quota_processors=0.5,
        quota_periods=80, quota_throttles=40, throttled_s=3.5, heat_throttles=2,
        memory_wait_s=0.0, io_wait_s=1.5, swapped_bytes=0, major_faults=3, others_disk_bytes=3000,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("missing", "unknown"),
    [
        ("stolen_s", {"stolen_s"}),
        ("busy_s", {"busy_s", "others_s"}),
        ("own", {"others_s"}),
        ("disk_read_bytes", {"others_disk_bytes"}),
        ("disk_written_bytes", {"others_disk_bytes"}),
        ("own_disk_bytes", {"others_disk_bytes"}),
        ("started_ns", {"loops", "loop_s"}),
    ],
)
def test_what_a_reading_does_not_have_is_unknown_and_not_0(missing: str, unknown: set[str]) -> None:
    for without in (BEFORE, AFTER):
        sides = [
            {name: side[name] for name in side if side is not without or name != missing}
            for side in (BEFORE, AFTER)
        ]
        found = asdict(difference(*sides))
        assert {name for name, value in found.items() if value is None} == unknown


def test_a_counter_that_was_reset_is_unknown() -> None:
    assert difference(BEFORE, AFTER | {"major_faults": 4}).major_faults is None


@pytest.mark.parametrize(
    ("meanwhile", "own_s"),
    [
        ({"1 5": (21.0, 0.0, ""), "3 9": (9.0, 0.0, "1 5")}, 10),  # the worker ended, another began
        ({"1 5": (21.0, 34.0, "")}, 1 + 34 - 30),  # the parent waited for the worker
        ({"2 8": (1.0, 0.0, "")}, 1),  # only a number was used again
    ],
)
def test_what_ended_processes_had_used_before_is_not_taken_away(
    meanwhile: dict[str, tuple[float, float, str]], own_s: float
) -> None:
    """Spark's daemon of Python workers waits for none of them."""
    first = {"1 5": (20.0, 0.0, ""), "2 6": (30.0, 0.0, "1 5")}
    found = difference(BEFORE | {"own": first}, AFTER | {"own": meanwhile})
    assert found.others_s == 16 - own_s


def test_the_loops_of_another_sampler_are_unknown() -> None:
    found = difference(BEFORE, AFTER | {"started_ns": 6})
    assert (found.loops, found.loop_s) == (None, None)


def test_more_of_our_own_than_there_was_leaves_nothing_to_others() -> None:
    """The kernel may write later, or never, what a process wrote."""
    found = difference(BEFORE, AFTER | {"own_disk_bytes": 1e9, "own": {"1 5": (99.0, 0.0, "")}})
    assert (found.others_disk_bytes, found.others_s) == (0, 0)


class TestSharedMachines:
    def others(self, *nodes: tuple[str, str, float, float]) -> list[float | None]:
        """Return how long others had processors, by node: its boot, namespace, and seconds at the end."""
        before: dict[str, NodeReading] = {}
        after: dict[str, NodeReading] = {}
        for number, (boot, namespace, busy_s, own_s) in enumerate(nodes):
            own = {"1 5": (0.0, 0.0, "")}, {"1 5": (own_s, 0.0, "")}
            values = BEFORE | {"own": own[0]}, AFTER | {"own": own[1], "busy_s": busy_s}
            for side, counters in zip((before, after), values, strict=True):
                side[f"n{number}"] = node(counters, f"n{number}", boot, namespace)
        return [each.others_s for each in known(interference(before, after))]

    @pytest.mark.parametrize(
        ("second", "others_s"),
        [
            (("boot-a", "pid:[2]", 66, 7), [16 - 14, 16 - 14]),
            (("boot-a", "pid:[1]", 66, 7), [16 - 7, 16 - 7]),
            (("boot-b", "pid:[1]", 66, 7), [16 - 7, 16 - 7]),
            # Network namespaces of one kernel, whose executors answered one after the other.
            (("boot-a", "pid:[1]", 70, 11), [16 - 7, 20 - 11]),
        ],
        ids=["containers of one machine", "the same processes twice", "two machines", "later"],
    )
    def test_every_process_of_ours_on_a_machine_counts_once(
        self, second: tuple[str, str, float, float], others_s: list[float]
    ) -> None:
        assert self.others(("boot-a", "pid:[1]", 66, 7), second) == others_s


def test_a_node_that_answered_once_is_left_out() -> None:
    here, gone = node(BEFORE), node(BEFORE, "n2")
    [found] = known(interference({"a": here, "b": gone}, {"a": node(AFTER), "c": gone}))
    assert found.host == "n1"


def test_a_node_that_booted_meanwhile_is_left_out() -> None:
    assert interference({"a": node(BEFORE)}, {"a": node(AFTER, boot="boot-b")}) is None


def test_a_node_on_which_no_time_passed_is_left_out() -> None:
    assert interference({"a": node(BEFORE)}, {"a": node(BEFORE)}) is None
