"""The path probe: RFC 6349's figures from a transfer, and the packets that make a step of rate."""

from dataclasses import replace

import pytest

from harness.hosts.transports.host import HostError, by_local
from harness.model.link import datagram_bit_s, goodput_bit_s
from harness.model.network_metrics import (
    BUFFER_DELAY,
    STEP_LOSS,
    STEP_RECEIVED,
    TCP_EFFICIENCY,
    TRANSFER_TIME_RATIO,
)
from harness.probes.messages import Message
from harness.probes.path import _figures, _Probe, _step, efficiency_percent, path_steps
from harness.probes.tools.iperf3 import DatagramReport, Report
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import Flow, Load
from tests.unit.probe_builders import MBIT, a_link

FLOW = Flow(by_local("a"), by_local("b"))
REPORT = Report(
    470.0 * MBIT, 10, 100, 1.0, 1.0, (), sent_bytes=587_500_000, mss_bytes=1448, mean_rtt_us=32_000
)
TRIPS = RoundTrips({50.0: 100.0, 90.0: 200.0, 99.0: 300.0, 99.9: 400.0}, 100)


def probe(rate_bit_s: int | None = None, speed: int | None = 1000) -> _Probe:
    links = {"a": a_link("a"), "b": a_link("b", speed_mbit_s=speed, mtu_bytes=9000)}
    return _Probe(links, Load(), rate_bit_s, Message(per_second=100))


def figures(report: Report, baseline: float | None, ideal: float | None) -> dict[str, float]:
    found = _figures("a -> b", report, baseline, ideal)
    return {each.metric: each.value for each in found if each.value is not None}


class TestFigures:
    def test_the_examples_of_the_rfc(self) -> None:
        # Section 4.2: 2,000 of 102,000 bytes sent again are 98.03 %; 4.3: 32 ms after 25 ms are 28 %.
        assert efficiency_percent(100_000, 2_000) == pytest.approx(98.04, abs=0.01)
        found = figures(REPORT, 25_000.0, None)
        assert found[BUFFER_DELAY.name] == pytest.approx(28)

    def test_queues_add_nothing_if_the_idle_path_answers_later(self) -> None:
        assert figures(REPORT, 40_000.0, None)[BUFFER_DELAY.name] == 0

    def test_half_the_goodput_takes_twice_the_time(self) -> None:
        assert figures(REPORT, None, 940e6)[TRANSFER_TIME_RATIO.name] == pytest.approx(2)

    def test_retransmitted_segments_count_with_their_size(self) -> None:
        again = 100 * 1448
        expected = 100 * 587_500_000 / (587_500_000 + again)
        assert figures(REPORT, None, None)[TCP_EFFICIENCY.name] == pytest.approx(expected)

    def test_what_is_unknown_is_left_out(self) -> None:
        bare = replace(REPORT, retransmits=None, mean_rtt_us=None)
        assert set(figures(bare, None, None)) == {"goodput_bit_s"}


class TestIdeal:
    def test_is_that_of_the_slower_link_at_the_smaller_mtu(self) -> None:
        assert probe(speed=100).ideal_bit_s(FLOW) == pytest.approx(goodput_bit_s(1e8, 1500))

    def test_is_that_of_the_expected_rate_if_there_is_one(self) -> None:
        assert probe(10**7, None).ideal_bit_s(FLOW) == pytest.approx(goodput_bit_s(1e7, 1500))

    def test_is_unknown_without_either(self) -> None:
        assert probe(speed=None).ideal_bit_s(FLOW) is None


class TestSteps:
    def test_only_a_rate_makes_steps_of_udp(self) -> None:
        hosts = [by_local(name) for name in "abc"]
        assert len(path_steps(hosts, {}, Load(), None)) == 3 * 2
        assert len(path_steps(hosts, {}, Load(), 10**9)) == 3 * 2 * (1 + 5)

    def test_rates_are_those_on_the_wire(self) -> None:
        payload = datagram_bit_s(1e8, 1500)
        assert payload == pytest.approx(1e8 * 1472 / 1538)
        report = DatagramReport(payload, payload, 0.0, 10.0)
        found = {m.metric: m.value for m in _step("a -> b", "at 25%", probe(), 1500, report, TRIPS)}
        assert found[STEP_RECEIVED.name] == pytest.approx(1e8, rel=0.002)

    def test_nothing_that_arrives_is_a_rate_of_0_and_all_lost(self) -> None:
        lost = DatagramReport(1e6, 0.0, 100.0, None)
        found = {m.metric: m.value for m in _step("a -> b", "at 25%", probe(), 1500, lost, TRIPS)}
        assert (found[STEP_RECEIVED.name], found[STEP_LOSS.name]) == (0, 100)

    def test_a_stream_that_fails_is_one_error(self) -> None:
        error = HostError("a -> b: iperf3: no route")
        [failed] = _step("a -> b", "at 25%", probe(), 1500, error, TRIPS)
        assert failed.error == str(error)
