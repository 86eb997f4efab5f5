"""A transfer that the processors bounded says nothing about its link."""

from harness.analysis.network.measured import measured_cases
from harness.analysis.network.obstacles import processor_limits
from harness.model.network_metrics import (
    ACROSS_RACKS,
    BOTH_WAYS,
    BUSIEST,
    IPERF_CPU,
    RACK_BUSIEST,
    RACK_STOLEN,
    RACKS,
    STOLEN,
)
from harness.model.probe import Metric
from harness.probes.racks import processor_limit_text
from tests.unit.probe_builders import pairs

PAIR = ("n1", "n2")


def limits(*measured: tuple[Metric, float], case: str = "") -> dict[tuple[str, str], str]:
    found = [each for metric, value in measured for each in pairs(metric, {PAIR: value}, case)]
    return processor_limits(found, {PAIR})


def test_idle_processors_bound_nothing() -> None:
    assert limits((STOLEN.sender, 2.0), (BUSIEST.receiver, 60.0)) == {}


def test_a_hypervisor_that_took_them_is_named_with_its_host() -> None:
    assert limits((STOLEN.sender, 45.0)) == {PAIR: "a hypervisor took 45 % of n1's processors"}


def test_one_processor_at_its_end_is_enough() -> None:
    assert limits((BUSIEST.receiver, 99.0)) == {PAIR: "a processor of n2 was 99 % busy"}
    assert limits((IPERF_CPU.receiver, 98.0)) == {PAIR: "a processor of n2 was 98 % busy"}


def test_the_hypervisor_comes_first() -> None:
    found = limits((BUSIEST.receiver, 99.0), (STOLEN.sender, 30.0))
    assert found == {PAIR: "a hypervisor took 30 % of n1's processors"}


def test_a_fast_transfer_needs_no_reason() -> None:
    assert processor_limits(pairs(STOLEN.sender, {PAIR: 45.0}), set()) == {}


def test_busy_processors_explain_nothing_if_most_transfers_with_them_are_fast() -> None:
    busy = pairs(BUSIEST.receiver, {PAIR: 99.0, ("n2", "n3"): 99.0, ("n3", "n1"): 99.0})
    assert processor_limits(busy, {PAIR}) == {}
    assert processor_limits(busy, {PAIR, ("n3", "n1")}).keys() == {PAIR, ("n3", "n1")}


def test_another_case_is_another_transfer() -> None:
    assert limits((BUSIEST.receiver, 99.0), case=BOTH_WAYS) == {}


def test_racks_say_what_may_have_been_the_limit_in_most_draws() -> None:
    stolen = [RACK_STOLEN.of(("a", "b"), value) for value in (45.0, 50.0, 0.0)]
    busy = [RACK_BUSIEST.of(("b", "a"), 100.0), RACK_STOLEN.of(("b", "a"), 1.0)]
    quiet = [RACK_BUSIEST.of("a", 60.0), RACK_STOLEN.of("a", 1.0)]
    unknown = [ACROSS_RACKS.of("b", 1e9)]
    found = [*stolen, *busy, *quiet, *unknown]
    texts = {case.subject: processor_limit_text(case) for case in measured_cases(found, RACKS)}
    assert texts["a -> b"] == (
        "; a hypervisor took 45 % of a host's processors, which may have been the limit"
    )
    assert "; a processor of a host was busy all the time" in texts["b -> a"]
    assert texts["a"] == ""
    assert texts["b"] == "; unknown whether processors were the limit"
