"""The incast probe: which flows run in each case, what is recorded of them, and hosts that fail."""

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.hosts.parallelism import MAX_OPENING
from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import Host, HostError, by_local
from harness.model.network_metrics import (
    BISECTION,
    HALF_TO_HALF,
    INCAST_BUSIEST,
    INCAST_GOODPUT,
    INCAST_RETRANSMITS,
    INCAST_ROUND_TRIP,
    INCAST_STOLEN,
    SLOWEST_FLOW,
)
from harness.model.probe import Measurement
from harness.probes.incast import MAX_FLOWS, _shuffle, flow_numbers, incast_steps
from harness.probes.messages import Message
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.iperf3 import Report, TransferInterval
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import (
    Flow,
    Load,
    Transfer,
    opening_batches,
    with_processors,
)

PORT_BIT_S = 1e9
TRIPS = RoundTrips({50.0: 100.0, 90.0: 200.0, 99.0: 300.0, 99.9: 400.0}, 100)
ANSWERED = "1 packets transmitted, 1 received"
LOST = "1 packets transmitted, 0 received"

Outcome = tuple[list[RoundTrips | HostError], list[Transfer | HostError]]


def hosts(number: int) -> list[Host]:
    return [by_local(f"h{index}", f"10.0.0.{index}") for index in range(number)]


def transfer(bit_s: float, seconds: int, began_s: float = 0) -> Transfer:
    intervals = tuple(TransferInterval(i, i + 1, bit_s, 2) for i in range(seconds))
    return Transfer(Report(bit_s, seconds, 2 * seconds, None, None, intervals), began_s)


@pytest.mark.parametrize(
    ("most", "expected"),
    [(0, []), (1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 4]), (9, [1, 2, 4, 8, 9])],
)
def test_flow_numbers_are_powers_of_two_and_all(most: int, expected: list[int]) -> None:
    assert flow_numbers(most) == expected


@given(st.integers(2, 700))
def test_flow_numbers_and_shuffles_stay_below_the_limit(number: int) -> None:
    assert max(flow_numbers(number)) <= MAX_FLOWS
    flows = _shuffle(hosts(number))
    assert len(flows) <= max(MAX_FLOWS, number)
    assert len(flows) == len({(flow.sender, flow.receiver) for flow in flows})
    for counted in ("sender", "receiver"):
        counts = Counter(getattr(flow, counted).name for flow in flows)
        assert set(counts.values()) == {min(number - 1, max(1, MAX_FLOWS // number))}
    assert all(flow.sender != flow.receiver for flow in flows)


@given(st.integers(2, 30))
def test_few_connections_to_a_host_begin_together(number: int) -> None:
    to_one = [Flow(host, hosts(1)[0]) for host in hosts(number)[1:]]
    for flows in (to_one, _shuffle(hosts(number))):
        batches = opening_batches(flows)
        assert [flow for batch in batches for flow in batch] == flows
        for batch in batches:
            names = [host.name for flow in batch for host in (flow.sender, flow.receiver)]
            assert max(Counter(names).values()) <= MAX_OPENING


Measure = Callable[..., list[Measurement]]


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Measure hosts with ports of 1 Gbit/s. `silent` answer no ping; the flows of `broken` fail."""

    def measure(
        number: int, *, silent: str = "", broken: str = "", late_s: float = 0
    ) -> list[Measurement]:
        def run_all(commands: Sequence[tuple[Host, Sequence[str]]]) -> list[CompletedCommand]:
            return [
                CompletedCommand(0, LOST if host.name == silent else ANSWERED, "", 0)
                for host, _ in commands
            ]

        def run_messages(
            paths: Sequence[Flow],
            load: Load,
            message: Message,
            flows: Sequence[Flow] = (),
            metered: Sequence[Host] = (),
        ) -> Outcome:
            assert message.per_second == 100
            busiest = Counter(
                name for flow in flows for name in (f"{flow.sender}>", f">{flow.receiver}")
            )
            transfers: list[Transfer | HostError] = [
                HostError(f"{flow}: iperf3: no route")
                if broken in {flow.sender.name, flow.receiver.name}
                else transfer(
                    PORT_BIT_S / max(busiest[f"{flow.sender}>"], busiest[f">{flow.receiver}"]),
                    load.seconds,
                    late_s * index,
                )
                for index, flow in enumerate(flows)
            ]
            cpus = {
                host.name: Cpu(60.0, 20.0, 2, 1.0, 99.0 if host is made[0] else 50.0)
                for host in metered
            }
            return [TRIPS for _ in paths], with_processors(flows, transfers, cpus)

        made = hosts(number)
        monkeypatch.setattr("harness.hosts.remote_process.run_all", run_all)
        monkeypatch.setattr("harness.probes.incast.run_messages", run_messages)
        steps = incast_steps(made, made[0], Load(), 64)
        return [measurement for step in steps for measurement in step.measure()]

    return measure


def values(found: Sequence[Measurement], metric: str) -> dict[tuple[str, str], float | None]:
    return {(each.subject, each.case): each.value for each in found if each.metric == metric}


class TestMeasuring:
    def test_every_case_has_its_goodput_retransmits_and_round_trips(self, measure: Measure) -> None:
        found = measure(4)
        fans = [
            ("h0", f"{way} {number}")
            for way in ("from", "to")
            for number in ("1 host", "2 hosts", "3 hosts")
        ]
        goodput = {key: pytest.approx(PORT_BIT_S) for key in fans}
        shuffle = ("4 hosts", "all to all")
        assert values(found, INCAST_GOODPUT.name) == {**goodput, shuffle: pytest.approx(4e9)}
        assert values(found, SLOWEST_FLOW.name)["h0", "from 3 hosts"] == pytest.approx(1e9 / 3)
        assert values(found, INCAST_RETRANSMITS.name)["h0", "to 2 hosts"] == 2 * 2 * 10
        for rank, us in ((50.0, 100), (99.0, 300)):
            trips = values(found, INCAST_ROUND_TRIP[rank].name)
            assert trips == dict.fromkeys([("h0", "idle"), *fans, shuffle], us)

    def test_the_processors_of_the_hub_are_measured_and_of_all_hosts_where_all_send(
        self, measure: Measure
    ) -> None:
        busiest = values(measure(4), INCAST_BUSIEST.name)
        assert len(busiest) == 2 * 3 + 1 + 2
        assert set(busiest.values()) == {99.0}
        assert set(values(measure(4), INCAST_STOLEN.name).values()) == {1.0}

    def test_the_halves_send_to_each_other_in_pairs(self, measure: Measure) -> None:
        found = measure(5)
        assert values(found, BISECTION.name) == {("5 hosts", "bisection"): pytest.approx(2e9)}
        assert values(found, HALF_TO_HALF.name) == {
            ("h0,h1 -> h2,h3,h4", "bisection"): pytest.approx(2e9),
            ("h2,h3,h4 -> h0,h1", "bisection"): pytest.approx(2e9),
        }


class TestFailures:
    def test_a_host_that_does_not_reach_the_hub_is_left_out_of_the_rest(
        self, measure: Measure
    ) -> None:
        found = measure(4, silent="h2")
        [error] = [each for each in found if each.error]
        assert (error.subject, error.case) == ("h2 -> h0", "idle")
        assert error.error == "h2 -> h0: pings are not answered; h2 is left out"
        assert ("3 hosts", "all to all") in values(found, INCAST_GOODPUT.name)
        assert ("h0", "from 3 hosts") not in values(found, INCAST_GOODPUT.name)

    def test_nobody_reaches_the_hub(self, measure: Measure) -> None:
        found = measure(2, silent="h1")
        assert [each.error for each in found] == [
            "h1 -> h0: pings are not answered; h1 is left out"
        ]

    def test_a_flow_that_fails_makes_its_cases_fail_and_not_those_without_it(
        self, measure: Measure
    ) -> None:
        found = measure(4, broken="h3")
        goodput = values(found, INCAST_GOODPUT.name)
        assert goodput["h0", "from 2 hosts"] == pytest.approx(1e9)
        assert goodput["h0", "from 3 hosts"] is goodput["h0", "to 3 hosts"] is None
        assert not values(found, BISECTION.name)

    def test_flows_that_hardly_run_together_are_an_error(self, measure: Measure) -> None:
        found = measure(3, late_s=6)
        errors = {each.case: each.error for each in found if each.error}
        assert errors["from 2 hosts"] == (
            "h0, from 2 hosts: its flows did not run in the same seconds"
        )
