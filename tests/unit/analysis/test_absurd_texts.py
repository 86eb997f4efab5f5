"""Texts of files that no probe and no run wrote, such as numbers of 5,000 digits: they are none."""

from dataclasses import replace

import pytest

from harness.analysis.network.goodput import goodput
from harness.analysis.network.incast import flow_steps, incast_findings
from harness.analysis.network.mesh import natural_order, pair_matrix
from harness.analysis.network.path import Limits, expectation_of, steps_of
from harness.analysis.observed.declared import contradictions
from harness.analysis.observed.environment import link_mtus
from harness.model.network_metrics import (
    ALL_TO_ALL,
    HALF_TO_HALF,
    INCAST_GOODPUT,
    MESH_GOODPUT,
    STEP_LOSS,
    STEP_SENT,
)
from harness.model.probe import Measurement, ProbeRun, RecordedProbes
from tests.unit.builders import a_run, known, recorded

HUGE = "9" * 5000


def probed(*measurements: Measurement, **parameters: str) -> RecordedProbes:
    return RecordedProbes(ProbeRun("1g", ("a", "b"), parameters), measurements)


def test_a_rate_is_no_claim() -> None:
    assert contradictions([recorded(a_run(facts={"link": f"{HUGE}gbit"}), [])]) == ()


def test_an_mtu_is_unknown() -> None:
    run = a_run(facts={"emulated": "yes", "mtu": HUGE, "link": "1gbit"})
    assert link_mtus(run) == {}
    usual = replace(run, facts={**run.facts, "mtu": "1500"})
    mesh = pair_matrix((), MESH_GOODPUT)
    assert known(goodput(run, mesh, "a")) == known(goodput(usual, mesh, "a"))


def test_the_number_in_a_name_has_a_place() -> None:
    assert sorted([f"n{HUGE}", "n10", "n2"], key=natural_order) == ["n2", "n10", f"n{HUGE}"]


@pytest.mark.parametrize(
    ("subject", "case"),
    [("n1", f"from {HUGE} hosts"), ("n1", f"to {HUGE} hosts"), ("4 hosts", f"each to {HUGE}")],
)
def test_a_case_of_so_many_flows_is_no_step(subject: str, case: str) -> None:
    assert flow_steps([INCAST_GOODPUT.of(subject, 1e9, case)]) == []


def test_the_flows_of_so_many_hosts_are_not_counted() -> None:
    [step] = flow_steps([INCAST_GOODPUT.of(f"{HUGE} hosts", 1e9, ALL_TO_ALL)])
    assert step.flows is None


@pytest.mark.parametrize("subject", ["a", "a -> b -> c"])
def test_a_bisection_is_between_two_halves(subject: str) -> None:
    assert list(incast_findings(probed(HALF_TO_HALF.of(subject, 1e9)))) == []


def test_a_rate_of_so_many_percent_is_no_step() -> None:
    case = f"at {HUGE}%"
    measured = STEP_LOSS.of("a -> b", 0, case), STEP_SENT.of("a -> b", 1e9, case)
    assert steps_of(probed(*measured, rate_bit_s="1000000000")) == []


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf", HUGE])
def test_what_a_path_should_carry_is_a_number(text: str) -> None:
    parameters = {"rate_bit_s": text, "max_loss_percent": text, "max_delay_ms": text}
    assert expectation_of(probed(**parameters)) == (0.0, Limits(0.0))
