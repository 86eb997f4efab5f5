"""The incast probe: many hosts send to one, one to many, and all to all, as a shuffle does.

Beside the flows, a small message goes to and fro between two of the hosts. Of the flows, only the seconds in
which all of them ran count. A host that does not reach the one is left out of everything.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import click

from harness.analysis.network.incast import (
    COLLAPSE_FRACTION,
    FALL_FRACTION,
    FlowStep,
    flow_steps,
    hub_of,
    incast_findings,
)
from harness.hosts.transports.host import Host, HostError
from harness.model.errors import BadInput
from harness.model.network_metrics import (
    ALL_TO_ALL,
    BISECTION,
    BISECTION_PAIRS,
    HALF_TO_HALF,
    IDLE,
    INCAST,
    INCAST_BUSIEST,
    INCAST_GOODPUT,
    INCAST_RETRANSMITS,
    INCAST_ROUND_TRIP,
    INCAST_STOLEN,
    SLOWEST_FLOW,
    incast_case,
    outcast_case,
)
from harness.model.probe import ARROW, Measurement
from harness.present.probes.columns import Column, ProbeTable, of_metric
from harness.probes.bisection import slowest_halves
from harness.probes.common_window import Window, measured_window
from harness.probes.kind import ProbeKind
from harness.probes.messages import (
    OUTLASTING_S,
    Message,
    round_trip_measurements,
    run_messages,
)
from harness.probes.options import message_option, port_option, seconds_option
from harness.probes.path_mtu import send_pings
from harness.probes.plan import Links, ProbePlan, ProbeStep
from harness.probes.site import Site
from harness.probes.tools.ping import Echo
from harness.probes.traffic import Flow, Load, worst_processors
from harness.words import count_of, percent

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
class _Incast:
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
    probe = _Incast(hub, others, load, Message(message_bytes, MESSAGES_PER_S))
    run_s = load.total_s + OUTLASTING_S + SET_UP_S
    steps = [ProbeStep(f"incast: who reaches {hub}", run_s, partial(_reach, probe))]
    for incast in (True, False):
        for index, number in enumerate(flow_numbers(len(others))):
            case = incast_case(number) if incast else outcast_case(number)
            steps.append(
                ProbeStep(
                    f"{'incast' if incast else 'outcast'}: {case}",
                    run_s + number * PER_FLOW_S,
                    partial(_measure_one_host, probe, index, incast=incast),
                )
            )
    number = len(_shuffle(hosts))
    description = f"all to all: {count_of(number, 'flow')}; bisection"
    steps.append(
        ProbeStep(description, 2 * run_s + number * PER_FLOW_S, partial(_all_to_all, probe))
    )
    return steps


def flow_numbers(most: int) -> list[int]:
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


def _reach(probe: _Incast) -> Iterator[Measurement]:
    """Find out who reaches the hub, and measure the small message on the idle network."""
    probe.reaching = []
    pings = dict.fromkeys((Flow(host, probe.hub) for host in probe.others), PING_BYTES)
    for flow, reply in send_pings(pings).items():
        if isinstance(reply, HostError):
            yield INCAST_GOODPUT.failed(str(flow), reply, IDLE)
        elif reply.echo is Echo.ARRIVED:
            probe.reaching.append(flow.sender)
        else:
            error = f"{flow}: pings are not answered; {flow.sender} is left out"
            yield INCAST_GOODPUT.failed(str(flow), error, IDLE)
    if probe.reaching:
        [trips], _ = run_messages([_message(probe)], probe.load, probe.message)
        yield from round_trip_measurements(INCAST_ROUND_TRIP, probe.hub.name, trips, IDLE)


def _message(probe: _Incast) -> Flow:
    """Return where the small message goes: the same way in every case."""
    return Flow(probe.reaching[0], probe.hub)


def _measure_one_host(probe: _Incast, index: int, *, incast: bool) -> Iterator[Measurement]:
    numbers = flow_numbers(len(probe.reaching))
    if index >= len(numbers):  # fewer hosts reach the hub than were expected to
        return
    number = numbers[index]
    peers = probe.reaching[:number]
    case = incast_case(number) if incast else outcast_case(number)
    flows = [Flow(peer, probe.hub) if incast else Flow(probe.hub, peer) for peer in peers]
    # All flows meet at the hub, so its processors are the first that may be the limit.
    yield from _measure(probe, flows, probe.hub.name, case, [probe.hub])


def _all_to_all(probe: _Incast) -> Iterator[Measurement]:
    """Measure the shuffle, then disjoint pairs across the halves between which it was slowest."""
    if not probe.reaching:
        return
    hosts = [probe.hub, *probe.reaching]
    peers = peers_of_each(len(hosts))
    case = ALL_TO_ALL if peers == len(hosts) - 1 else f"each to {peers}"
    flows = _shuffle(hosts)
    window = yield from _measure(probe, flows, count_of(len(hosts), "host"), case, hosts)
    if window is not None:
        yield from _bisection(probe, hosts, flows, window)


def _measure(
    probe: _Incast, flows: Sequence[Flow], subject: str, case: str, metered: Sequence[Host]
) -> Generator[Measurement, None, Window | None]:
    """Measure flows and the message beside them; return their window, None without one.

    One flow that fails makes the case fail: fewer flows are another case.
    """
    [trips], transfers = run_messages([_message(probe)], probe.load, probe.message, flows, metered)
    window = yield from measured_window(
        INCAST_GOODPUT, subject, transfers, probe.load.seconds, case, needs_all=True
    )
    if window is not None:
        yield INCAST_GOODPUT.of(subject, window.bit_s, case)
        yield SLOWEST_FLOW.of(subject, min(window.flows_bit_s), case)
        if window.retransmits is not None:
            yield INCAST_RETRANSMITS.of(subject, window.retransmits, case)
        yield from round_trip_measurements(INCAST_ROUND_TRIP, subject, trips, case)
        yield from worst_processors(transfers, INCAST_STOLEN, INCAST_BUSIEST, subject, case)
    return window


def _bisection(
    probe: _Incast, hosts: Sequence[Host], flows: Sequence[Flow], window: Window
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
    _, transfers = run_messages([], probe.load, probe.message, across, hosts)
    there, back = (ARROW.join(map(",".join, each)) for each in (halves, halves[::-1]))
    common = yield from measured_window(
        INCAST_GOODPUT, there, transfers, probe.load.seconds, BISECTION_PAIRS, needs_all=True
    )
    if common is not None:
        rates_bit_s = common.flows_bit_s
        ways = (sum(rates_bit_s[: len(pairs)]), sum(rates_bit_s[len(pairs) :]))
        for subject, bit_s in zip((there, back), ways, strict=True):
            yield HALF_TO_HALF.of(subject, bit_s, BISECTION_PAIRS)
            yield from worst_processors(
                transfers, INCAST_STOLEN, INCAST_BUSIEST, subject, BISECTION_PAIRS
            )
        yield BISECTION.of(count_of(len(hosts), "host"), min(ways), BISECTION_PAIRS)


def _plan(site: Site, *, hub: str | None, seconds: int, message_bytes: int, port: int) -> ProbePlan:
    hosts = site.hosts()
    chosen = hosts[0].name if hub is None else hub
    if chosen not in {host.name for host in hosts}:
        raise BadInput(f"--hub: {chosen!r} is not one of the hosts; name one of them")
    load = Load(seconds, first_port=port)

    def make_steps(usable: Sequence[Host], _links: Links) -> list[ProbeStep]:
        # It has an address now. If it was left out, the next one takes its place, unless a user chose it.
        by_name = {host.name: host for host in usable}
        if hub is not None and hub not in by_name:
            raise BadInput(f"--hub: {hub} cannot be used; choose another host")
        return incast_steps(usable, by_name.get(chosen, usable[0]), load, message_bytes)

    return ProbePlan(
        hosts,
        INCAST_PROGRAMS,
        make_steps,
        parameters={"hub": chosen, "seconds": seconds, "message_bytes": message_bytes},
    )


def _if_there_are_flows(
    value: Callable[[FlowStep], float | None],
) -> Callable[[FlowStep], float | str | None]:
    return lambda step: "" if step.case == IDLE else value(step)


_TABLE = ProbeTable(
    lambda probed: flow_steps(probed.measurements),
    (
        Column[FlowStep]("flows", lambda step: step.name),
        Column("Mbit/s", _if_there_are_flows(of_metric(INCAST_GOODPUT)), ",.1f", 1e-6),
        Column[FlowStep](
            "of best", lambda step: "" if step.of_best is None else step.of_best, ".0%"
        ),
        Column("slowest", _if_there_are_flows(lambda step: step.slowest_of_share), ".0%"),
        Column("retransmits", _if_there_are_flows(of_metric(INCAST_RETRANSMITS)), ",.0f"),
        *(
            Column(f"p{rank:g} µs", of_metric(metric), ",.0f")
            for rank, metric in INCAST_ROUND_TRIP.items()
        ),
    ),
    title=lambda probed: f"flows from and to {hub_of(flow_steps(probed.measurements))}",
    rule=(
        "Mbit/s is the goodput in the seconds in which all flows ran; of best: relative to the best at fewer "
        f"flows, below {percent(FALL_FRACTION)} it falls, below {percent(COLLAPSE_FRACTION)} it collapses; "
        "slowest: the slowest flow, relative to an equal share; p50, p99: round trips of a small message "
        "beside. For the bisection, the two halves with the slowest flows in all to all send to each other "
        "in pairs, both ways at once; the slower way counts."
    ),
)

KIND = ProbeKind(
    INCAST,
    "Measure many hosts that send to one, one that sends to many, and all to all, as in a shuffle.",
    _plan,
    options=(
        click.option(
            "--hub",
            metavar="NAME",
            help="The host that receives from the others, and sends to them.  [default: the first one]",
        ),
        seconds_option,
        message_option,
        port_option,
    ),
    measures=(INCAST,),
    tables=(_TABLE,),
    judge=incast_findings,
)
