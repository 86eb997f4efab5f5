"""Why nothing is known of a node between two snapshots."""

from collections.abc import Mapping

import pytest

from harness.node.snapshot import CAME, CHANGED, WENT, NodeReading, NodesSnapshot, silent_hosts


def snapshot(nodes: Mapping[str, str | None], **silent: str) -> NodesSnapshot:
    """Return a snapshot of executors on these hosts, with the identities of nodes that answered."""
    readings = {identity: NodeReading(host) for host, identity in nodes.items() if identity}
    executors = {f"executor of {host}": (host, identity) for host, identity in nodes.items()}
    return NodesSnapshot(readings, executors, silent=silent)


BOTH = {"n1": "boot-1", "n2": "boot-2"}


@pytest.mark.parametrize(
    ("before", "after", "silent"),
    [
        (snapshot(BOTH), snapshot(BOTH), {}),
        (snapshot(BOTH), snapshot({"n1": "boot-1", "n2": None}, n2="crashed"), {"n2": "crashed"}),
        (snapshot({"n1": None, "n2": "boot-2"}, n1="busy"), snapshot(BOTH), {"n1": "busy"}),
        (snapshot({"n1": "boot-1"}), snapshot(BOTH), {"n2": CAME}),
        (snapshot(BOTH), snapshot({"n1": "boot-1"}), {"n2": WENT}),
        (snapshot(BOTH), snapshot({"n1": "boot-1", "n2": "boot-3"}), {"n2": CHANGED}),
        (snapshot(BOTH, driver="no shell"), snapshot(BOTH), {"driver": "no shell"}),
        (snapshot({}), snapshot({}), {}),
    ],
    ids=[
        *(
            "all-answer",
            "silent-after",
            "silent-before",
            "came-late",
            "went",
            "restarted",
            "driver",
        ),
        "no-executor",
    ],
)
def test_a_node_that_answered_to_one_snapshot_alone_is_silent_with_the_reason(
    before: NodesSnapshot, after: NodesSnapshot, silent: dict[str, str]
) -> None:
    assert silent_hosts(before, after) == silent


def test_a_node_whose_processes_are_in_another_namespace_than_before_is_silent() -> None:
    before, after = (
        NodesSnapshot({"boot-1": NodeReading("n1", namespace)}) for namespace in ("pid:1", "pid:2")
    )
    assert silent_hosts(before, after) == {"n1": CHANGED}


@pytest.mark.parametrize(
    ("before", "after", "reason"), [("12", "1", WENT), ("1", "12", CAME), ("12", "13", CHANGED)]
)
def test_an_executor_that_came_or_went_beside_another_one_is_the_reason(
    before: str, after: str, reason: str
) -> None:
    """As in pods on one node, each of which sees its own processes."""

    def of(executors: str) -> NodesSnapshot:
        node = NodeReading("n1", f"boot {executors}")
        return NodesSnapshot({"boot-1": node}, dict.fromkeys(executors, ("n1", "boot-1")))

    assert silent_hosts(of(before), of(after)) == {"n1": reason}
