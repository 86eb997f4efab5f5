"""Several executors on a node are one node, of which each answer counts."""

from types import SimpleNamespace
from typing import Any

import pytest

from jobs import executors
from jobs.executors import ExecutorAnswers, nodes_snapshot

NODE = "boot net:[1]"
NOT_THE_DRIVER = ("", False, "no shell")


def answer(container: int, own_s: float) -> tuple[str, bool, dict[str, Any]]:
    """Return what an executor in a container with the network of its node answers."""
    own = {"control group": (own_s, 0.0, "")}
    counters = {"quota_processors": 2, "own": own}
    return NODE, True, {"namespace": f"boot pid:[{container}]", "counters": counters}


def test_the_use_of_each_executor_on_a_node_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ExecutorAnswers({"1": answer(7, 20.0), "2": answer(8, 30.0)})
    monkeypatch.setattr(executors, "executor_hosts", lambda _: {"1": "n1", "2": "n1"})
    monkeypatch.setattr(executors, "run_on_executors", lambda *_: found)
    monkeypatch.setattr(executors, "_identified", lambda _: NOT_THE_DRIVER)
    context = SimpleNamespace(master="k8s://https://api", applicationId="app-1")
    spark: Any = SimpleNamespace(sparkContext=context)
    snapshot = nodes_snapshot(spark, with_samples=False)
    assert snapshot.executors == {"1": ("n1", NODE), "2": ("n1", NODE)}
    [node] = snapshot.nodes.values()
    assert node.host == "n1"
    assert sum(own_s for own_s, _, _ in node.counters["own"].values()) == 50.0
