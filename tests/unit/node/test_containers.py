"""Executors in containers that share the network of a node are one node, and all of them are ours."""

from collections.abc import Mapping
from typing import Any

import pytest

from harness.model.interference import NodeInterference
from harness.model.task_metrics import DiskBytes
from harness.node.containers import reading_of_node
from harness.node.disks import disk_bytes_between
from harness.node.interference import interference
from harness.node.snapshot import NodeReading, NodesSnapshot
from tests.unit.builders import known

BEFORE: Mapping[str, Any] = {
    "clock_s": 100.0, "processors": 8, "quota_processors": 2, "busy_s": 50.0,
    "disk_read_bytes": 0, "disk_written_bytes": 0, "own_disk_bytes": 0, "own_read_bytes": 0,
    "quota_periods": 100, "quota_throttles": 10, "throttled_s": 1.0,
    "own": {"control group": (20.0, 0.0, "")},
}  # fmt: skip
AFTER = {
    **BEFORE, "clock_s": 110.0, "busy_s": 90.0,
    "disk_read_bytes": 4000, "disk_written_bytes": 1000, "own_disk_bytes": 2000, "own_read_bytes": 1500,
    "quota_periods": 150, "quota_throttles": 30, "throttled_s": 2.5,
    "own": {"control group": (38.0, 0.0, "")},
}  # fmt: skip


def of(container: int, counters: Mapping[str, Any], **further: Any) -> dict[str, Any]:
    """Return what an executor in a container read."""
    return {"namespace": f"boot-a pid:[{container}]", "counters": {**counters, **further}}


def node(*readings: Mapping[str, Any]) -> NodeReading:
    return NodeReading("n1", **reading_of_node(readings))


def counted(before: NodeReading, after: NodeReading) -> NodeInterference:
    [found] = known(interference({"boot-a net": before}, {"boot-a net": after}))
    return found


TWO_BEFORE = node(of(1, BEFORE), of(2, BEFORE))
TWO_AFTER = node(of(1, AFTER), of(2, AFTER, own={"control group": (40.0, 0.0, "")}))


def test_what_all_containers_used_is_not_that_of_others() -> None:
    found = counted(TWO_BEFORE, TWO_AFTER)
    assert found.others_s == 40 - 18 - 20
    assert found.others_disk_bytes == 5000 - 2 * 2000


def test_what_all_containers_read_from_the_disks_is_ours() -> None:
    before, after = (NodesSnapshot({"boot-a net": each}) for each in (TWO_BEFORE, TWO_AFTER))
    assert disk_bytes_between(before, after) == DiskBytes(4000, 1000, 2 * 1500)


def test_the_order_in_which_executors_answer_does_not_matter() -> None:
    assert counted(node(of(2, BEFORE), of(1, BEFORE)), TWO_AFTER) == counted(TWO_BEFORE, TWO_AFTER)


@pytest.mark.parametrize(
    ("name", "unknown"), [("own_disk_bytes", "others_disk_bytes"), ("own_read_bytes", None)]
)
def test_what_one_container_does_not_know_is_unknown(name: str, unknown: str | None) -> None:
    without = {key: value for key, value in AFTER.items() if key != name}
    after = node(of(1, without), of(2, AFTER))
    assert name not in after.counters
    if unknown:
        assert getattr(counted(TWO_BEFORE, after), unknown) is None


def test_the_tightest_quota_is_the_nodes_and_all_stops_count() -> None:
    found = counted(TWO_BEFORE, node(of(1, AFTER, quota_processors=1.5), of(2, AFTER)))
    assert found.quota_processors == 1.5
    assert (found.quota_periods, found.quota_throttles, found.throttled_s) == (100, 40, 3.0)


def test_processes_of_two_containers_may_have_one_number() -> None:
    """Where the control group is not seen, processes count one by one."""
    before = {"1 5": (20.0, 0.0, ""), "2 6": (30.0, 0.0, "1 5")}
    after = {"1 5": (21.0, 33.0, "")}  # the parent waited for its child, which had used 3 s more
    found = counted(
        node(of(1, BEFORE, own=before), of(2, BEFORE, own=before)),
        node(of(1, AFTER, own=after), of(2, AFTER, own=after)),
    )
    assert found.others_s == 40 - 2 * (1 + 3)


def test_executors_that_see_the_same_processes_count_once() -> None:
    assert node(of(1, BEFORE), of(1, AFTER)) == NodeReading("n1", **of(1, AFTER))


def test_with_another_container_than_before_nothing_is_known() -> None:
    """What a container that has ended used is lost."""
    for after in (node(of(1, AFTER)), node(of(1, AFTER), of(3, AFTER))):
        assert interference({"boot-a net": TWO_BEFORE}, {"boot-a net": after}) is None
