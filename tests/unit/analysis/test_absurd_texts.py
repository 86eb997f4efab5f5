"""Texts of files that no probe and no run wrote, such as numbers of 5,000 digits: they are none."""

from dataclasses import replace

from harness.analysis.network.goodput import goodput
from harness.analysis.network.measured import pair_matrix
from harness.analysis.observed.declared import contradictions
from harness.analysis.observed.environment import link_mtus
from harness.base.words import natural_order
from harness.model.network_metrics import MESH_GOODPUT
from tests.unit.builders import a_run, known, recorded

HUGE = "9" * 5000


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
