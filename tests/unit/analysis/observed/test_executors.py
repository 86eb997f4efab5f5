"""The executors of trials: how many, on how many nodes, and what a comparison says where they differ."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from harness.analysis.compare.confounders import confounders
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.caveats import caveats
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import environment_facts
from harness.analysis.observed.executors import executors_text
from harness.model.executors import TrialExecutors
from tests.unit.builders import a_run, ok, recorded

TWO = {"n1": 1, "n2": 1}
ONE = {"n1": 1}
POD_1, POD_2 = "10.244.1.7", "10.244.2.9"


def side(*numbers: Mapping[str, int] | None, **environment: Any) -> ConfigurationRuns:
    """Return a run with a trial for each placement of executors; None: an older version recorded none."""
    observed = {"executors": ["n1", "n2"], "spark": "4.3.0", **environment}
    trials = []
    for round_, hosts in enumerate(numbers, 1):
        executors = None if hosts is None else TrialExecutors(hosts)
        trials.append(ok("w", 1.0, round_, executors=executors))
    return ConfigurationRuns("side", (recorded(a_run(environment=observed), trials),))


def described(before: ConfigurationRuns, after: ConfigurationRuns) -> list[str]:
    return [found.describe("before") for found in confounders(Sides(before, after))]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (side(TWO), side(TWO), []),
        (side(TWO), side({"n8": 1, "n9": 1}), []),
        (side(TWO), side(ONE), ["executors: 1 on 1 node here, 2 on 2 nodes in before"]),
        (
            side(TWO, TWO),
            side(TWO, ONE),
            ["executors: 2 on 2 nodes, 1 on 1 node here, 2 on 2 nodes in before"],
        ),
        # One came between the description of the run and its first trial.
        (side(TWO), side(TWO, executors=["n1"]), []),
        # Without what trials recorded, what was there at the beginning counts.
        (
            side(TWO),
            side(None, executors=["n1"]),
            ["executors: 1 on 1 node here, 2 on 2 nodes in before"],
        ),
    ],
)
def test_a_different_number_is_a_confounder(
    before: ConfigurationRuns, after: ConfigurationRuns, lines: list[str]
) -> None:
    assert described(before, after) == lines


def test_a_number_that_changes_within_a_run_is_a_footnote() -> None:
    [line] = caveats(side(TWO, TWO, ONE).runs)
    assert line == (
        "executors changed between the trials that count: 2 on 2 nodes in 2 trials, 1 on 1 node in 1 trial"
    )


def test_a_run_that_began_with_fewer_than_it_asked_for_says_so() -> None:
    [line] = caveats(side(TWO, executors_asked=3).runs)
    assert line == (
        "a run began with fewer executors: 2 of the 3 executors that were asked for had come when it began"
    )
    assert caveats(side(TWO, executors_asked=2).runs) == ()


def pods(network: str, nodes: tuple[str | None, str | None] = (None, None)) -> dict[str, Any]:
    """Return the environment of two executors in pods."""
    known = {}
    for host, node in zip((POD_1, POD_2), nodes, strict=True):
        named = {} if node is None else {"node": node}
        known[host] = {"network": network, **named}
    return {"executors": [POD_1, POD_2], "pods": known, "master": "k8s://https://h:6443"}


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        (pods("pods", ("a", "b")), "2 on 2 nodes"),
        (pods("pods", ("a", "a")), "2 on 1 node"),
        (pods("hosts", ("a", "b")), "2 on 2 nodes"),
        (pods("hosts"), "2 on 2 nodes"),
        (pods("pods"), "2 in pods, on unknown nodes"),
        (pods("pods", ("a", None)), "2 in pods, on unknown nodes"),
        ({"executors": [POD_1, POD_1]}, "2 on 1 node"),
        ({}, None),
    ],
)
def test_an_address_of_a_pod_does_not_tell_its_node(
    environment: dict[str, Any], text: str | None
) -> None:
    assert executors_text(environment.get("executors"), environment) == text


def test_the_node_of_a_pod_that_came_later_is_unknown() -> None:
    environment = pods("pods", ("a", "b"))
    assert executors_text([POD_1, "10.244.1.8"], environment) == "2 in pods, on unknown nodes"


def test_the_network_of_pods_and_where_they_run_are_confounders() -> None:
    before = side(None, **pods("pods", ("a", "b")))
    after = side(None, **pods("hosts", ("a", "a")))
    assert described(before, after) == [
        "executors: 2 on 1 node here, 2 on 2 nodes in before",
        (
            "executors run in: pods, with the network of their hosts here, "
            "pods, each with a network of its own in before"
        ),
    ]


def test_types_and_zones_of_nodes_are_facts_where_they_are_known() -> None:
    environment = pods("hosts")
    environment["pods"][POD_1] |= {"type": "m7i.2xlarge", "zone": "eu-1a"}
    environment["pods"][POD_2] |= {"type": "m7i.2xlarge", "zone": "eu-1b"}
    facts = environment_facts(a_run(environment=environment), with_nodes=False)
    assert facts["types of nodes"] == "m7i.2xlarge"
    assert facts["zones"] == "eu-1a and eu-1b"
    without = a_run(environment=pods("hosts"))
    assert "zones" not in environment_facts(replace(without, environment=pods("hosts")))
