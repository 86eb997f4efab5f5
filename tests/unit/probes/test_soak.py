"""The rounds of a soak keep to their time, and tell hosts that fell silent from those that came back."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import Host, HostError, by_local
from harness.model.interface import HostLink
from harness.model.probe import Measurement
from harness.model.soak import LinkEvent, LinkEventKind, SoakEvent, SoakFlow
from harness.probes import soak as module
from harness.probes.soak import Soak
from harness.probes.tools.iperf3 import Report
from harness.probes.traffic import Flow, Load, Outcomes, Transfer
from tests.unit.node.test_link_reading import PRINTED

HOSTS = [by_local(name) for name in ("a", "b", "c")]
LOAD = Load(seconds=10)


class Network:
    """Hosts that answer as long as they are not down; a round takes some seconds more than it should."""

    def __init__(self, extra_s: float = 0.0) -> None:
        self.now_s = 100.0
        self.extra_s = extra_s
        self.down: set[str] = set()
        self.carrier_changes = 2
        self.log = ""

    def run_flows(self, flows: Sequence[Flow], load: Load) -> Outcomes:
        self.now_s += load.total_s + self.extra_s
        report = Report(1e9, load.seconds, 0, 1.0, 1.0)
        return dict.fromkeys(flows, Transfer(report, (None, None)))

    def ask(
        self, commands: Mapping[Host, object], parse: Callable[[Host, CompletedCommand], object]
    ) -> dict[Host, object]:
        text = PRINTED.replace("carrier_changes:2", f"carrier_changes:{self.carrier_changes}")
        text += self.log
        return {
            host: HostError(f"{host}: it does not answer")
            if host.name in self.down
            else parse(host, CompletedCommand(0, text, ""))
            for host in commands
        }


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    made = Network()
    monkeypatch.setattr(module, "run_flows", made.run_flows)
    monkeypatch.setattr(module, "ask", made.ask)
    return made


def rounds_of(network: Network, rounds: int) -> Iterator[list[SoakEvent]]:
    links = {host.name: HostLink(host.name, "eth0", mtu_bytes=1500) for host in HOSTS}
    rng = random.Random(1)  # noqa: S311  chance that can be repeated
    soak = Soak(HOSTS, links, LOAD, rng, lambda: network.now_s)
    for step in soak.steps(rounds):
        yield [event for event in step.measure() if not isinstance(event, Measurement)]


def transfers(events: Sequence[SoakEvent]) -> int:
    return sum(isinstance(event, SoakFlow) for event in events)


def test_every_host_sends_once_and_receives_once_in_each_round(network: Network) -> None:
    for number, events in enumerate(rounds_of(network, 3), 1):
        flows = [event for event in events if isinstance(event, SoakFlow)]
        assert {flow.sender for flow in flows} == {flow.receiver for flow in flows} == {*"abc"}
        assert {flow.round for flow in flows} == {number}


def test_what_rounds_take_too_long_is_taken_from_the_last(network: Network) -> None:
    network.extra_s = 10.0
    assert [transfers(events) for events in rounds_of(network, 4)] == [3, 3, 3, 0]


def test_a_host_that_does_not_answer_is_left_out_until_it_answers_again(network: Network) -> None:
    found = rounds_of(network, 3)
    assert transfers(next(found)) == 3
    network.down = {"b"}
    *_, lost = next(found)
    assert isinstance(lost, LinkEvent)
    assert lost == LinkEvent("b", 2, lost.at_s, LinkEventKind.LOST, "it does not answer")
    network.down = set()
    events = next(found)
    assert transfers(events) == 2
    assert [event.event for event in events if isinstance(event, LinkEvent)] == [LinkEventKind.BACK]


def test_a_carrier_that_changed_in_a_round_is_an_event(network: Network) -> None:
    found = rounds_of(network, 2)
    next(found)
    network.carrier_changes = 4
    events = [event for event in next(found) if isinstance(event, LinkEvent)]
    assert {(event.host, event.event, event.count) for event in events} == {
        (host.name, LinkEventKind.CARRIER, 2) for host in HOSTS
    }


def link_events_of(events: Sequence[SoakEvent]) -> list[tuple[str, LinkEventKind, str]]:
    found = [event for event in events if isinstance(event, LinkEvent)]
    return [(event.host, event.event, event.text) for event in found]


def test_a_line_of_the_log_is_an_event_once_whatever_the_hosts_clock_says(network: Network) -> None:
    """The log's clock may stand still for a night, or lag behind by a minute after a month."""
    found = rounds_of(network, 4)
    old = "[   99.000000] r8152 2-1:1.0 eth1: Tx status -71\n"
    network.log = old
    assert link_events_of(next(found)) == []
    network.log = f"{old}[  100.600000] r8152 2-1:1.0 eth1: Tx status -71\n"
    line = "r8152 2-1:1.0 eth1: Tx status -71"
    new = [(host.name, LinkEventKind.KERNEL, line) for host in HOSTS]
    assert link_events_of(next(found)) == new
    assert link_events_of(next(found)) == []
    network.log = "[  100.700000] r8152 2-1:1.0 eth1: Tx status -71\n"  # dmesg -C
    assert link_events_of(next(found)) == new


def test_a_log_that_cannot_be_read_is_an_event_once(network: Network) -> None:
    network.log = "== no log\ndmesg: read kernel buffer failed: Operation not permitted\n"
    first, second = (
        [event for event in events if isinstance(event, LinkEvent)]
        for events in rounds_of(network, 2)
    )
    assert [(event.host, event.unread, event.text) for event in first] == [
        (host.name, LinkEventKind.KERNEL, "root can") for host in HOSTS
    ]
    assert second == []


def test_a_log_that_cannot_be_read_for_a_while_is_compared_with_the_last_one(
    network: Network,
) -> None:
    found = rounds_of(network, 3)
    next(found)
    network.log = "== no log\ndmesg ended with code 1\n"
    next(found)
    network.log = "[  300.000000] r8152 2-1:1.0 eth1: Tx status -71\n"
    assert {kind for _, kind, _ in link_events_of(next(found))} == {LinkEventKind.KERNEL}
