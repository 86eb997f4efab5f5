"""What a run recorded of its nodes' machines, and which nodes are unlike their peers."""

from collections.abc import Mapping

import pytest

from harness.analysis.observed.caveats import caveats
from harness.analysis.observed.environment import environment_facts
from harness.analysis.observed.machines import unlike_peers
from harness.model.run import Run
from harness.node.machine import machine_groups
from tests.unit.builders import a_run, recorded

FAST, SAVING = {"governor": "performance"}, {"governor": "powersave"}


def run_on(executors: str = "", **nodes: Mapping[str, str]) -> Run:
    machines = {"driver": next(iter(nodes)), "groups": machine_groups(nodes)}
    hosts = executors.split() or [*nodes]
    return a_run(environment={"executors": hosts, "machines": machines})


@pytest.mark.parametrize(
    ("run", "lines"),
    [
        (run_on(n1=FAST), []),
        (run_on(n1=FAST, n2=FAST, n3=FAST), []),
        (run_on(n1=FAST, n2=FAST, n3=SAVING), ["n3: governor powersave, its peers performance"]),
        (
            run_on(n1=FAST, n2=SAVING, n3=FAST, n4=SAVING, n5=FAST),
            ["n2, n4: governor powersave, their peers performance"],
        ),
        (
            run_on(n1=FAST, n2=SAVING),
            ["the nodes differ: governor performance (n1), powersave (n2)"],
        ),
        (run_on(n1=FAST, n2=FAST, n3={}), []),
        (run_on("n2 n3", n1=SAVING, n2=FAST, n3=FAST), []),
        (a_run(environment={"kernel": "Linux 6.1"}), []),
        (a_run(environment={}), []),
    ],
    ids=["one", "alike", "odd", "two odd", "no majority", "unknown", "driver", "older", "none"],
)
def test_a_node_that_differs_from_its_peers_is_named(run: Run, lines: list[str]) -> None:
    """The node of a driver without executors has no peers."""
    assert list(unlike_peers(run)) == lines
    assert caveats([recorded(run)] * 2) == tuple(lines)


def test_a_run_has_a_row_for_each_fact_with_nodes_where_they_differ() -> None:
    facts = environment_facts(run_on(n1={"kernel": "6.1", **FAST}, n2={"kernel": "6.1", **SAVING}))
    assert (facts["kernel"], facts["governor"]) == ("6.1", "performance (n1), powersave (n2)")


def test_a_fact_of_a_later_version_has_its_key_as_name() -> None:
    run = run_on(n1=FAST)
    run.environment["machines"]["groups"][0]["facts"]["cache"] = "huge"
    assert environment_facts(run)["cache"] == "huge"
