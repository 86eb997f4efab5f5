"""The path probe: what TCP makes of each path (RFC 6349), and whether a path carries an expected rate.

RFC 6349, section 4, has three figures: the time of a transfer relative to the ideal one, the bytes that were
not sent again, and what queues add to the round trip. The steps of UDP are those of ITU-T Y.1564's service
configuration test: rising rates, each with its loss and delay.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

import click

from harness.analysis.network.cases import MeasuredCase, measured_cases
from harness.analysis.network.path import Step, expectation_of, path_findings, steps_of
from harness.hosts.remote_process import (
    ClientServerRun,
    RemoteProcesses,
    ask,
    ask_all,
)
from harness.hosts.transports.host import Host, HostError
from harness.model.errors import BadInput
from harness.model.interface import max_goodput_bit_s
from harness.model.link import (
    IP_AND_UDP_BYTES,
    MAX_BIT_S,
    TYPICAL_MTU,
    datagram_bit_s,
    goodput_bit_s,
    parse_rate,
    rate_text,
)
from harness.model.network_metrics import (
    BASELINE_ROUND_TRIP,
    BUFFER_DELAY,
    PATH,
    PATH_GOODPUT,
    STEP_HOST_DROPS,
    STEP_JITTER,
    STEP_LOSS,
    STEP_RECEIVED,
    STEP_ROUND_TRIP,
    STEP_SENT,
    TCP_EFFICIENCY,
    TRANSFER_ROUND_TRIP,
    TRANSFER_TIME_RATIO,
    step_case,
)
from harness.model.probe import Measurement, RecordedProbes
from harness.node.kernel import snmp_counter
from harness.option_types import RealNumber
from harness.present.probes.columns import Column, ProbeTable, of_metric
from harness.probes.kind import ProbeKind
from harness.probes.messages import (
    OUTLASTING_S,
    Message,
    round_trip_measurements,
    run_beside,
)
from harness.probes.options import port_option, seconds_option, streams_option
from harness.probes.plan import Links, ProbePlan, ProbeStep, round_robin
from harness.probes.site import Site
from harness.probes.tools import iperf3, ping
from harness.probes.tools.iperf3 import DatagramReport, Report
from harness.probes.tools.sockperf import RoundTrips
from harness.probes.traffic import GRACE_S, Flow, Load, open_runs, run_flows
from harness.words import join_names

PATH_PROGRAMS, STEP_PROGRAMS = ("ip", "ping", "iperf3"), ("sockperf",)
STEP_PERCENTS = (25, 50, 75, 90, 100)
BASELINE_S, SET_UP_S = 2.0, 3.0
IPV6_EXTRA_BYTES = 40 - 20
DEFAULT_MAX_LOSS = 0.1
"""Percent of the packets of a step."""
MESSAGES_PER_S = 100
"""Few enough that they hardly add to the rate of a step."""


@dataclass(frozen=True)
class _Probe:
    """What every step needs. `rate_bit_s` is the expected rate on the wire, None if it was not given."""

    links: Links
    load: Load
    rate_bit_s: int | None
    message: Message

    def mtu(self, flow: Flow) -> int:
        """Return the smaller MTU of a flow's ends, as far as they are known."""
        ends = [self.links.get(host.name) for host in flow.ends]
        known = [link.mtu_bytes for link in ends if link is not None and link.mtu_bytes]
        return min(known, default=TYPICAL_MTU)

    def ideal_bit_s(self, flow: Flow) -> float | None:
        """Return the goodput over the bottleneck: the expected rate, or else that of the slower link."""
        if self.rate_bit_s is not None:
            return goodput_bit_s(self.rate_bit_s, self.mtu(flow))
        return max_goodput_bit_s(*(self.links.get(host.name) for host in flow.ends))


def path_steps(
    hosts: Sequence[Host], links: Links, load: Load, rate_bit_s: int | None
) -> list[ProbeStep]:
    """Measure every pair in one direction, then in the other; no host is in two pairs at the same time.

    With a rate, steps of UDP up to it follow for the same pairs.
    """
    probe = _Probe(links, load, rate_bit_s, Message(per_second=MESSAGES_PER_S))
    steps = []
    for pairs in round_robin(hosts):
        for flows in ([Flow(a, b) for a, b in pairs], [Flow(b, a) for a, b in pairs]):
            names = join_names(flows)
            steps.append(
                ProbeStep(
                    f"path: {names}, TCP",
                    BASELINE_S + load.total_s + SET_UP_S,
                    partial(_measure_tcp, probe, flows),
                )
            )
            if rate_bit_s is not None:
                steps += [
                    ProbeStep(
                        f"path: {names}, UDP {step_case(percent)}",
                        load.seconds + OUTLASTING_S + SET_UP_S,
                        partial(_measure_step, probe, flows, rate_bit_s, percent),
                    )
                    for percent in STEP_PERCENTS
                ]
    return steps


def _measure_tcp(probe: _Probe, flows: Sequence[Flow]) -> Iterator[Measurement]:
    """Measure the round trip on the idle path, then a transfer."""
    pings = {flow: (flow.sender, ping.round_trips(flow.receiver.address)) for flow in flows}
    baselines = ask(pings, lambda _, done: ping.read_shortest_us(done.output, done.errors))
    for flow, transfer in zip(flows, run_flows(flows, probe.load), strict=True):
        baseline = baselines[flow]
        if isinstance(transfer, HostError):
            yield PATH_GOODPUT.failed(str(flow), transfer)
            continue
        if isinstance(baseline, HostError):
            yield BASELINE_ROUND_TRIP.failed(str(flow), baseline)
        yield from _figures(
            str(flow),
            transfer.report,
            None if isinstance(baseline, HostError) else baseline,
            probe.ideal_bit_s(flow),
        )


def _figures(
    subject: str, report: Report, baseline_us: float | None, ideal_bit_s: float | None
) -> Iterator[Measurement]:
    """Yield RFC 6349's figures, as far as what they are made of is known."""
    yield PATH_GOODPUT.of(subject, report.goodput_bit_s)
    if ideal_bit_s is not None:
        # Of the same bytes, times are to each other as the inverse rates.
        yield TRANSFER_TIME_RATIO.of(subject, ideal_bit_s / report.goodput_bit_s)
    if None not in (report.retransmits, report.mss_bytes) and report.sent_bytes:
        again = (report.retransmits or 0) * (report.mss_bytes or 0)
        yield TCP_EFFICIENCY.of(subject, efficiency_percent(report.sent_bytes, again))
    if baseline_us is not None:
        yield BASELINE_ROUND_TRIP.of(subject, baseline_us)
    if report.mean_rtt_us is not None:
        yield TRANSFER_ROUND_TRIP.of(subject, report.mean_rtt_us)
        if baseline_us is not None:
            # An idle processor that first has to wake up answers later than a busy one: no queue adds less.
            delay = max(0.0, 100 * (report.mean_rtt_us - baseline_us) / baseline_us)
            yield BUFFER_DELAY.of(subject, delay)


def efficiency_percent(payload_bytes: float, again_bytes: float) -> float:
    """Return RFC 6349's TCP efficiency: of the bytes transmitted, those that were not retransmissions.

    iperf3 counts each byte of the payload once, so what was sent again was transmitted in addition.
    """
    return 100 * payload_bytes / (payload_bytes + again_bytes)


def _measure_step(
    probe: _Probe, flows: Sequence[Flow], rate_bit_s: int, percent: int
) -> Iterator[Measurement]:
    """Send UDP at a part of the expected rate, and a small message beside."""
    # The messages take the ports before those of the streams.
    first_port = probe.load.first_port + len(flows)
    receivers = [flow.receiver for flow in flows]
    before = _drops(receivers)
    trips, reports = run_beside(
        flows,
        probe.load,
        probe.message,
        lambda remotes: open_runs(
            flows,
            first_port,
            lambda flow, port: _datagram_run(
                remotes, probe, flow, port, rate_bit_s * percent / 100
            ),
        ),
    )
    after = _drops(receivers)
    case = step_case(percent)
    for flow, trip, report in zip(flows, trips, reports, strict=True):
        yield from _step(str(flow), case, probe, probe.mtu(flow), report, trip)
        counts = (before.get(flow.receiver.name), after.get(flow.receiver.name))
        if isinstance(report, DatagramReport) and None not in counts:
            yield STEP_HOST_DROPS.of(str(flow), max(0, (counts[1] or 0) - (counts[0] or 0)), case)


def _drops(hosts: Sequence[Host]) -> dict[str, int]:
    """Return how many packets each host has dropped so far, unread by the program, as far as it tells."""
    found = ask_all(
        hosts,
        ("cat", "/proc/net/snmp"),
        lambda text: snmp_counter(text.splitlines(), "Udp", "RcvbufErrors"),
    )
    return {host.name: drops for host, drops in found.items() if isinstance(drops, int)}


def _datagram_run(
    remotes: RemoteProcesses, probe: _Probe, flow: Flow, port: int, wire_bit_s: float
) -> ClientServerRun[DatagramReport]:
    mtu, address = probe.mtu(flow), flow.receiver.address
    client = iperf3.datagram_client(
        address,
        port,
        seconds=probe.load.seconds + OUTLASTING_S,
        payload_bit_s=round(datagram_bit_s(wire_bit_s - probe.message.wire_bit_s, mtu)),
        payload_bytes=mtu - IP_AND_UDP_BYTES - (IPV6_EXTRA_BYTES if ":" in address else 0),
    )
    return ClientServerRun(
        remotes,
        server=(flow.receiver, iperf3.server(flow.receiver.address, port)),
        client=(flow.sender, client),
        listening=iperf3.LISTENING,
        parse=lambda completed: iperf3.read_datagram_report(completed.output),
        timeout_s=probe.load.seconds + OUTLASTING_S + GRACE_S,
        max_bytes=iperf3.report_bytes(probe.load.seconds + OUTLASTING_S),
    )


def _step(
    subject: str,
    case: str,
    probe: _Probe,
    mtu: int,
    report: DatagramReport | HostError,
    trips: RoundTrips | HostError,
) -> Iterator[Measurement]:
    if isinstance(report, HostError):
        yield STEP_LOSS.failed(subject, report, case)
        return
    payload_part, beside = datagram_bit_s(1, mtu), probe.message.wire_bit_s
    received = report.received_bit_s / payload_part
    yield STEP_SENT.of(subject, report.sent_bit_s / payload_part + beside, case)
    yield STEP_RECEIVED.of(subject, received + beside if received else 0.0, case)
    yield STEP_LOSS.of(subject, report.loss_percent, case)
    if report.jitter_us is not None:
        yield STEP_JITTER.of(subject, report.jitter_us, case)
    yield from round_trip_measurements(STEP_ROUND_TRIP, subject, trips, case)


def _plan(
    site: Site,
    *,
    rate: str | None,
    max_loss: float | None,
    max_delay: float | None,
    seconds: int,
    streams: int,
    port: int,
) -> ProbePlan:
    rate_bit_s = None if rate is None else parse_rate("--rate", rate, MAX_BIT_S)
    for option, given in (("--max-loss", max_loss), ("--max-delay", max_delay)):
        if rate_bit_s is None and given is not None:
            raise BadInput(f"{option} needs --rate")
    load = Load(seconds, streams, first_port=port)
    limits = {
        "max_loss_percent": DEFAULT_MAX_LOSS if max_loss is None else max_loss,
        "max_delay_ms": max_delay or "",
    }
    expected = {} if rate_bit_s is None else {"rate_bit_s": rate_bit_s, **limits}
    return ProbePlan(
        site.hosts(),
        PATH_PROGRAMS if rate_bit_s is None else (*PATH_PROGRAMS, *STEP_PROGRAMS),
        lambda hosts, links: path_steps(hosts, links, load, rate_bit_s),
        parameters={"seconds": seconds, "streams": streams, **expected},
    )


_TCP = ProbeTable(
    lambda probed: [case for case in measured_cases(probed.measurements, PATH) if not case.case],
    (
        Column[MeasuredCase]("TCP", lambda row: row.subject),
        Column("Mbit/s", of_metric(PATH_GOODPUT), ",.1f", 1e-6),
        Column("time ratio", of_metric(TRANSFER_TIME_RATIO), ".2f"),
        Column("efficiency", of_metric(TCP_EFFICIENCY), ".3f", unit="%"),
        Column("idle RTT µs", of_metric(BASELINE_ROUND_TRIP), ",.0f"),
        Column("RTT µs", of_metric(TRANSFER_ROUND_TRIP), ",.0f"),
        Column("buffer delay", of_metric(BUFFER_DELAY), ",.0f", unit="%"),
    ),
    rule=(
        "Time ratio: the time of the transfer, divided by the ideal time at the bottleneck's rate; ? if the "
        "rate of a link is not known: give it with --rate. Efficiency: the bytes that were not "
        "retransmissions, of all transmitted. Buffer delay: what the transfer adds to the least round trip "
        "on the idle path, relative to that (RFC 6349)."
    ),
    badness=lambda row: inf if row.errors else -(row.median(PATH_GOODPUT) or 0.0),
)


def _step_rule(probed: RecordedProbes) -> str:
    rate_bit_s, limits = expectation_of(probed)
    return (
        f"Steps of UDP up to {rate_text(round(rate_bit_s))} on the wire (ITU-T Y.1564), received in Mbit/s. "
        f"A step passes up to {limits}. p50, p99: round trips of a small message beside."
    )


_UDP = ProbeTable(
    steps_of,
    (
        Column[Step]("UDP", lambda step: step.subject),
        Column[Step]("rate", lambda step: f"{step.percent}%"),
        Column("received", of_metric(STEP_RECEIVED), ",.1f", 1e-6),
        Column[Step]("loss", lambda step: step.loss_percent, ".2f", unit="%"),
        Column("jitter µs", of_metric(STEP_JITTER), ",.0f"),
        *(
            Column(f"p{rank:g} µs", of_metric(metric), ",.0f")
            for rank, metric in STEP_ROUND_TRIP.items()
        ),
        Column[Step]("", lambda step: f"FAIL: {step.fault.name}" if step.fault else "pass"),
    ),
    rule=_step_rule,
    badness=lambda step: (step.fault is not None) + (step.loss_percent or 0.0),
)

KIND = ProbeKind(
    PATH,
    "Measure what TCP makes of each path (RFC 6349), and steps of UDP up to an expected rate (Y.1564).",
    _plan,
    options=(
        click.option(
            "--rate",
            metavar="RATE",
            help="The rate that every path should carry, such as 2.5gbit; also send UDP at 25 to 100 % of "
            "it.",
        ),
        click.option(
            "--max-loss",
            type=RealNumber(0, 100),
            metavar="PERCENT",
            help="For --rate: percent of packets that a step may lose.  "
            f"[default: {DEFAULT_MAX_LOSS}]",
        ),
        click.option(
            "--max-delay",
            type=RealNumber(0, min_open=True),
            metavar="MS",
            help="For --rate: the p99 round trip of a small message that a step may have.  [default: any]",
        ),
        seconds_option,
        streams_option,
        port_option,
    ),
    measures=(PATH,),
    tables=(_TCP, _UDP),
    judge=path_findings,
)
