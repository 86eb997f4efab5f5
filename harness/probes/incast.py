"""The incast probe: many hosts send to one, one to many, and all to all, as a shuffle does.

Beside the flows, a small message goes to and fro between two of the hosts. Of the flows, only the seconds in
which all of them ran count. A host that does not reach the one is left out of everything.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from harness.hosts.remote_process import parse_completed, run_all
from harness.hosts.transports.host import Host, HostError
from harness.model.network_metrics import (
    ALL_TO_ALL,
    BISECTION,
    BISECTION_PAIRS,
    FAN_BUSIEST,
    FAN_GOODPUT,
    FAN_RETRANSMITS,
    FAN_ROUND_TRIP,
    FAN_STOLEN,
    HALF_TO_HALF,
    IDLE,
    SLOWEST_FLOW,
    incast_case,
    outcast_case,
)
from harness.model.probe import ARROW, Measurement
from harness.probes.bisection import slowest_halves
from harness.probes.common_window import NOT_TOGETHER, Window, window_of
from harness.probes.messages import OUTLASTING_S, Message, run_messages
from harness.probes.plan import ProbeStep
from harness.probes.tools import ping
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import Flow, Load, Transfer, worst_processors
from harness.terminal import count_of

INCAST_PROGRAMS = ("ip", "ping", "iperf3", "sockperf")
SET_UP_S = 3.0
PER_FLOW_S = 0.05
"""What starting a flow takes in addition, at least."""
PING_BYTES = 576
MESSAGES_PER_S = 100
"""Few enough that a round trip of 10 ms does not delay the next: percentiles then are those of the time."""
MAX_FLOWS = 512
"""Flows at the same time, at most: each takes two processes here, and two on the hosts."""


@dataclass
class _Fan:
    """The one host, those that send to it, and which of them reach it, as far as that is known."""

    hub: Host
    others: Sequence[Host]
    load: Load
    message: Message
    reaching: list[Host] = field(default_factory=list)


def incast_steps(
    hosts: Sequence[Host], hub: Host, load: Load, message_bytes: int
) -> list[ProbeStep]:
    """Measure flows to `hub` from 1, 2, 4, ... and all other hosts, the same back, and all to all.

    First, every host tries to reach the hub, and a small message is measured on the idle network.
    """
    others = [host for host in hosts if host.name != hub.name]
    fan = _Fan(hub, others, load, Message(message_bytes, MESSAGES_PER_S))
    run_s = load.total_s + OUTLASTING_S + SET_UP_S
    steps = [ProbeStep(f"incast: who reaches {hub}", run_s, partial(_reach, fan))]
    for incast in (True, False):
        for index, number in enumerate(rungs(len(others))):
            case = incast_case(number) if incast else outcast_case(number)
            steps.append(
                ProbeStep(
                    f"{'incast' if incast else 'outcast'}: {case}",
                    run_s + number * PER_FLOW_S,
                    partial(_measure_fan, fan, index, incast=incast),
                )
            )
    number = len(_shuffle(hosts))
    description = f"all to all: {count_of(number, 'flow')}; bisection"
    steps.append(ProbeStep(description, 2 * run_s + number * PER_FLOW_S, partial(_all_to_all, fan)))
    return steps


def rungs(most: int) -> list[int]:
    """Return the powers of two below `most`, and `most`; nothing for 0. No number exceeds MAX_FLOWS."""
    most = min(most, MAX_FLOWS)
    return [*(2**i for i in range(most.bit_length()) if 2**i < most), *([most] if most else [])]


def peers_of_each(hosts: int) -> int:
    """Return to how many others each of the hosts sends in an all-to-all of MAX_FLOWS flows or fewer."""
    return min(hosts - 1, max(1, MAX_FLOWS // hosts))


def _shuffle(hosts: Sequence[Host]) -> list[Flow]:
    """Return the flows of an all-to-all; if these were too many, as many from and to every host.

    Of N hosts, the flows with a common distance in the circle come one after the other, so that opening
    them spreads over the hosts.
    """
    peers, size = peers_of_each(len(hosts)), len(hosts)
    distances = [1 + index * (size - 1) // peers for index in range(peers)]
    return [
        Flow(sender, hosts[(index + distance) % size])
        for distance in distances
        for index, sender in enumerate(hosts)
    ]


def _reach(fan: _Fan) -> Iterator[Measurement]:
    """Find out who reaches the hub, and measure the small message on the idle network."""
    attempts = [(host, ping.command(fan.hub.address, PING_BYTES)) for host in fan.others]
    fan.reaching = []
    for host, completed in zip(fan.others, run_all(attempts), strict=True):
        reply = parse_completed(
            host, completed, lambda done: ping.read_answer(done.output, done.errors)
        )
        subject = str(Flow(host, fan.hub))
        if isinstance(reply, HostError):
            yield FAN_GOODPUT.failed(subject, reply, IDLE)
        elif reply.echo is ping.Echo.ARRIVED:
            fan.reaching.append(host)
        else:
            error = f"{subject}: pings are not answered; {host} is left out"
            yield FAN_GOODPUT.failed(subject, error, IDLE)
    if fan.reaching:
        [trips], _ = run_messages([_message(fan)], fan.load, fan.message)
        yield from _round_trips(fan.hub.name, IDLE, trips)


def _message(fan: _Fan) -> Flow:
    """Return where the small message goes: the same way in every case."""
    return Flow(fan.reaching[0], fan.hub)


def _measure_fan(fan: _Fan, index: int, *, incast: bool) -> Iterator[Measurement]:
    numbers = rungs(len(fan.reaching))
    if index >= len(numbers):  # fewer hosts reach the hub than were expected to
        return
    number = numbers[index]
    peers = fan.reaching[:number]
    case = incast_case(number) if incast else outcast_case(number)
    flows = [Flow(peer, fan.hub) if incast else Flow(fan.hub, peer) for peer in peers]
    # All flows meet at the hub, so its processors are the first that may be the limit.
    yield from _measure(fan, flows, fan.hub.name, case, [fan.hub])


def _all_to_all(fan: _Fan) -> Iterator[Measurement]:
    """Measure the shuffle, then disjoint pairs across the halves between which it was slowest."""
    if not fan.reaching:
        return
    hosts = [fan.hub, *fan.reaching]
    peers = peers_of_each(len(hosts))
    case = ALL_TO_ALL if peers == len(hosts) - 1 else f"each to {peers}"
    flows = _shuffle(hosts)
    window = yield from _measure(fan, flows, count_of(len(hosts), "host"), case, hosts)
    if window is not None:
        yield from _bisection(fan, hosts, flows, window)


def _measure(
    fan: _Fan, flows: Sequence[Flow], subject: str, case: str, metered: Sequence[Host]
) -> Generator[Measurement, None, Window | None]:
    """Measure flows and the message beside them; return their window, None without one.

    One flow that fails makes the case fail: fewer flows are another case.
    """
    [trips], transfers = run_messages([_message(fan)], fan.load, fan.message, flows, metered)
    window = yield from _window(subject, case, transfers, fan.load)
    if window is not None:
        yield FAN_GOODPUT.of(subject, window.bit_s, case)
        yield SLOWEST_FLOW.of(subject, min(window.flows_bit_s), case)
        if window.retransmits is not None:
            yield FAN_RETRANSMITS.of(subject, window.retransmits, case)
        yield from _round_trips(subject, case, trips)
        yield from worst_processors(transfers, FAN_STOLEN, FAN_BUSIEST, subject, case)
    return window


def _window(
    subject: str, case: str, transfers: Sequence[Transfer | HostError], load: Load
) -> Generator[Measurement, None, Window | None]:
    """Return the window in which all transfers ran; None, and yield why, if there is none."""
    for transfer in transfers:
        if isinstance(transfer, HostError):
            yield FAN_GOODPUT.failed(subject, transfer, case)
    carried = [transfer for transfer in transfers if isinstance(transfer, Transfer)]
    if len(carried) < len(transfers):
        return None
    window = window_of(carried, load.seconds)
    if window is None:
        yield FAN_GOODPUT.failed(subject, f"{subject}, {case}: {NOT_TOGETHER}", case)
    return window


def _round_trips(subject: str, case: str, trips: RoundTrips | HostError) -> Iterator[Measurement]:
    for percentile, metric in FAN_ROUND_TRIP.items():
        if isinstance(trips, HostError):
            yield metric.failed(subject, trips, case)
        else:
            yield metric.of(subject, trips.microseconds[percentile], case)


def _bisection(
    fan: _Fan, hosts: Sequence[Host], flows: Sequence[Flow], window: Window
) -> Iterator[Measurement]:
    """Have the slowest halves send to each other, host by host, both ways at the same time."""
    rates = {
        (flow.sender.name, flow.receiver.name): bit_s
        for flow, bit_s in zip(flows, window.flows_bit_s, strict=True)
    }
    by_name = {host.name: host for host in hosts}
    halves = slowest_halves(list(by_name), rates)
    pairs = [(by_name[a], by_name[b]) for a, b in zip(*halves, strict=False)]
    across = [*(Flow(a, b) for a, b in pairs), *(Flow(b, a) for a, b in pairs)]
    _, transfers = run_messages([], fan.load, fan.message, across, hosts)
    there, back = (ARROW.join(map(",".join, each)) for each in (halves, halves[::-1]))
    common = yield from _window(there, BISECTION_PAIRS, transfers, fan.load)
    if common is not None:
        rates_bit_s = common.flows_bit_s
        ways = (sum(rates_bit_s[: len(pairs)]), sum(rates_bit_s[len(pairs) :]))
        for subject, bit_s in zip((there, back), ways, strict=True):
            yield HALF_TO_HALF.of(subject, bit_s, BISECTION_PAIRS)
            yield from worst_processors(
                transfers, FAN_STOLEN, FAN_BUSIEST, subject, BISECTION_PAIRS
            )
        yield BISECTION.of(count_of(len(hosts), "host"), min(ways), BISECTION_PAIRS)
