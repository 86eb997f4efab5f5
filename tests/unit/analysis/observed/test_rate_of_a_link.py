"""All code sees the same rate of a link: the lower of its card's speed and the limit that tc sets."""

from collections.abc import Mapping
from typing import Any

import pytest

from harness.analysis.network.goodput import goodput, rate_bit_s
from harness.analysis.network.measured import pair_matrix
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.declared import contradictions
from harness.analysis.ready.gate import Expectation
from harness.analysis.ready.readiness import readiness
from harness.model.link import goodput_bit_s, parse_rate
from harness.model.network_metrics import MESH_GOODPUT
from harness.present.report.environment import fact_rows
from tests.unit.builders import a_run, configured, known
from tests.unit.probe_builders import gate_faults, healthy

GBIT = 10**9


def with_link(declared: str | None = None, **link: Any) -> ConfigurationRuns:
    link = {"state": "up", "driver": "ixgbe", "mtu_bytes": 1500, **link}
    facts = {} if declared is None else {"link": declared}
    return configured("after", environment={"nodes": {"node1": {"eth0": link}}}, facts=facts)


@pytest.mark.parametrize(
    ("link", "rate"),
    [
        ({"speed_mbit_s": 10_000}, "10gbit"),
        ({"speed_mbit_s": 10_000, "state": None}, "10gbit"),
        ({"speed_mbit_s": 10_000, "shaped_bit_s": GBIT}, "1gbit"),
        ({"speed_mbit_s": 1000, "shaped_bit_s": 40 * GBIT}, "1gbit"),
        ({"speed_mbit_s": 10_000, "driver": "veth", "shaped_bit_s": GBIT}, "1gbit"),
        ({"speed_mbit_s": None, "shaped_bit_s": GBIT}, "1gbit"),
    ],
)
class TestEveryoneSaysTheSame:
    def test_who_knows_the_rate(self, link: Mapping[str, Any], rate: str) -> None:
        runs = with_link(**link)
        [run] = [recorded.run for recorded in runs.runs]
        bit_s, other = parse_rate("rate", rate), "2.5gbit"
        assert contradictions(with_link(rate, **link).runs) == ()
        assert f"the fact is link={other}, but the run observed eth0 at" in "".join(
            contradictions(with_link(other, **link).runs)
        )
        assert rate_bit_s(run) == pytest.approx(bit_s, rel=1e-6)
        in_theory = known(goodput(run, pair_matrix((), MESH_GOODPUT), "node1"))
        assert in_theory.sent_bit_s == pytest.approx(goodput_bit_s(bit_s, 1500), rel=1e-6)
        probed = healthy(goodput=0.94 * bit_s, **link)
        assert gate_faults(probed, Expectation(bit_s)) == []

    def test_who_shows_it(self, link: Mapping[str, Any], rate: str) -> None:
        runs = with_link(**link)
        assert f" at {rate}" in readiness(runs).checks["links"].text
        assert {row.name: row.values for row in fact_rows([runs])}["rate of eth0"] == (rate,)


@pytest.mark.parametrize(
    "link",
    [
        {"speed_mbit_s": None},
        {"speed_mbit_s": 0, "shaped_bit_s": 0},
        {"speed_mbit_s": 10_000, "driver": "veth"},
        {"speed_mbit_s": 10_000, "has_unknown_limit": True},
        {"speed_mbit_s": 10_000, "state": "down"},
    ],
)
def test_an_unknown_rate_is_unknown_to_everyone(link: Mapping[str, Any]) -> None:
    assert contradictions(with_link("1gbit", **link).runs) == ()
    runs = with_link(**link)
    [run] = [recorded.run for recorded in runs.runs]
    assert goodput(run, pair_matrix((), MESH_GOODPUT), "node1") is None
    assert rate_bit_s(a_run("before", environment=run.environment)) is None
    assert " at " not in readiness(runs).checks["links"].text
    assert "rate of eth0" not in {row.name for row in fact_rows([runs])}
