"""Findings of a soak: links in trouble, slow hosts and pairs, and the proof of a soak without a fault."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from harness.analysis.network.judge import (
    SLOW,
    Reference,
    no_slow_host,
    reference_of,
    slow_findings,
)
from harness.analysis.network.measured import pair_matrix
from harness.analysis.network.obstacles import (
    MAX_BUSY_PERCENT,
    MAX_STOLEN_PERCENT,
    failed_measurements,
    slowed_by_busy_processors,
)
from harness.base.clock import duration_text
from harness.base.items import grouped, known
from harness.base.words import count_of, join_names, natural_order
from harness.model.finding import EVERYTHING, Finding, Gravity, about, note
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement, RecordedProbes
from harness.model.soak import READ_EVERY_ROUND, LinkEvent, LinkEventKind, SoakFlow

_RULE_OF_THREE = -math.log(1 - 0.95)
_NOT_FAULTS = {LinkEventKind.DROPS, LinkEventKind.PAUSE, LinkEventKind.BACK}
"""Cards also count packets as dropped that no program asked for, and some switches work by pause frames."""
_INTERRUPTIONS = {LinkEventKind.CARRIER, LinkEventKind.REPLUGGED, LinkEventKind.LOST}


def transfer_seconds(probed: RecordedProbes) -> float:
    """Return the link time under load, all hosts together: the time of the transfers that ended well."""
    return sum(flow.seconds for flow in probed.events_of(SoakFlow) if flow.error is None)


@dataclass
class SoakedHost:
    """A host in a soak: the events of its link, its rounds, and the goodputs in bit/s of its transfers.

    `resent` has for each sending how many segments it sent again; None if iperf3 did not report it.
    """

    host: str
    events: list[LinkEvent] = field(default_factory=list)
    rounds: set[int] = field(default_factory=set)
    sent: list[float] = field(default_factory=list)
    received: list[float] = field(default_factory=list)
    resent: list[int | None] = field(default_factory=list)
    errors: tuple[str, ...] = ()

    @property
    def retransmits(self) -> int | None:
        """The number of segments that it sent again; None if it is unknown of a transfer."""
        if not self.resent or None in self.resent:
            return None
        return sum(known(self.resent))

    def count(self, kind: LinkEventKind) -> int | None:
        """Return the count of events of this kind; None if the host does not show them."""
        if any(event.unread is kind for event in self.events):
            return None
        return sum(event.count for event in self.events if event.event is kind)


def soaked_hosts(probed: RecordedProbes) -> list[SoakedHost]:
    """Return the hosts of a soak that took part in transfers, in natural order."""
    hosts: dict[str, SoakedHost] = {}
    for flow in probed.events_of(SoakFlow):
        for host in flow.pair:
            hosts.setdefault(host, SoakedHost(host))
        sender = hosts[flow.sender]
        receiver = hosts[flow.receiver]
        sender.rounds.add(flow.round)
        receiver.rounds.add(flow.round)
        if flow.goodput_bit_s is not None:
            sender.sent.append(flow.goodput_bit_s)
            sender.resent.append(flow.retransmits)
            receiver.received.append(flow.goodput_bit_s)
    for event in probed.events_of(LinkEvent):
        if event.host in hosts:
            hosts[event.host].events.append(event)
    return sorted(hosts.values(), key=lambda soaked: natural_order(soaked.host))


@dataclass(frozen=True)
class _Transfers:
    """The transfers that say something about links, and those that processors may have limited."""

    judged: Sequence[SoakFlow]
    limited: Sequence[SoakFlow]
    reference: Reference


def soak_findings(probed: RecordedProbes) -> list[Finding]:
    """Return events of links, failed and slow transfers, and notes; faults first, each by its moment."""
    recorded = probed.events_of(LinkEvent)
    events = [event for event in recorded if event.unread is None]
    links = probed.links().values()
    flows = _without_interrupted(probed.events_of(SoakFlow), events)
    best = pair_matrix(_goodputs(flows), MESH_GOODPUT, summary=max)
    transfers = _transfers(flows, reference_of(best, links))
    unread = _unread(recorded)
    found = list(_event_findings(events))
    found += [note(f"{each}: unknown whether it would have shown a fault") for each in unread]
    found += _transfer_findings(transfers)
    if not any(finding.is_fault for finding in found):
        if best.values:
            found.append(no_slow_host(best, links))
        found.append(_proof(transfers, unread))
    return sorted(found, key=lambda finding: (not finding.is_open, finding.at_s or 0.0))


def _without_interrupted(flows: Iterable[SoakFlow], events: Iterable[LinkEvent]) -> list[SoakFlow]:
    """Leave out the transfers of hosts whose link was interrupted in that round, a finding itself."""
    interrupted: set[tuple[str, int]] = set()
    for event in events:
        if event.event in _INTERRUPTIONS:
            interrupted.add((event.host, event.round))
    kept: list[SoakFlow] = []
    for flow in flows:
        ends = {(flow.sender, flow.round), (flow.receiver, flow.round)}
        if interrupted.isdisjoint(ends):
            kept.append(flow)
    return kept


def _transfers(flows: Sequence[SoakFlow], reference: Reference) -> _Transfers:
    """Separate the transfers that processors may have limited from the others."""
    slow: set[SoakFlow] = set()
    busy: set[SoakFlow] = set()
    stolen: set[SoakFlow] = set()
    for flow in flows:
        if (flow.busiest_percent or 0) >= MAX_BUSY_PERCENT:
            busy.add(flow)
        if _is_slow(flow, reference):
            slow.add(flow)
            if (flow.stolen_percent or 0) >= MAX_STOLEN_PERCENT:
                stolen.add(flow)
    limited = stolen | slowed_by_busy_processors(slow, busy)
    judged = [flow for flow in flows if flow not in limited]
    return _Transfers(judged, list(limited), reference)


def _is_slow(flow: SoakFlow, reference: Reference) -> bool:
    if flow.goodput_bit_s is None:
        return False
    return flow.goodput_bit_s < SLOW * reference.of(flow.pair).bit_s


def _transfer_findings(transfers: _Transfers) -> Iterator[Finding]:
    """Yield failed and slow transfers, and in which of them processors may be the reason."""
    judged = transfers.judged
    failed = [flow for flow in judged if flow.error is not None]
    slow = [flow for flow in judged if _is_slow(flow, transfers.reference)]
    measured = _goodputs(judged)
    # A link may fail after hours, so the slowest round counts.
    slowest = pair_matrix(measured, MESH_GOODPUT, summary=min)
    yield from _with_moments(failed_measurements(measured), failed)
    yield from _with_moments(slow_findings(slowest, transfers.reference), slow)
    unknown = [flow for flow in slow if flow.stolen_percent is None]
    if unknown:
        yield note(
            f"nothing is known of the processors in {count_of(len(unknown), 'slow transfer')}: they, and not "
            "the links, may be the reason"
        )
    if transfers.limited:
        yield note(
            f"nothing was concluded from {count_of(len(transfers.limited), 'transfer')}: a hypervisor took "
            "processor time from one of the hosts, or one of its processors was busy all the time"
        )


def _event_findings(events: Iterable[LinkEvent]) -> Iterator[Finding]:
    """Yield one finding for all events of a kind on a host: the first, and how often it happened."""
    for (host, kind), own in grouped(events, attrgetter("host", "event")).items():
        first = min(own, key=lambda event: event.at_s)
        text = first.text
        if len(own) > 1:
            number = sum(event.count for event in own)
            text += f"; {count_of(len(own) - 1, 'time')} more, {number:,} in all"
        gravity = Gravity.NOTE if kind in _NOT_FAULTS else Gravity.FAULT
        yield Finding(about(host), text, gravity, at_s=first.at_s)


def _goodputs(flows: Iterable[SoakFlow]) -> list[Measurement]:
    measured = []
    for flow in flows:
        if flow.goodput_bit_s is None:
            measured.append(MESH_GOODPUT.failed(flow.pair, flow.error))
        else:
            measured.append(MESH_GOODPUT.of(flow.pair, flow.goodput_bit_s))
    return measured


def _with_moments(findings: Iterable[Finding], flows: Sequence[SoakFlow]) -> Iterator[Finding]:
    """Yield the findings with the number of rounds in which they were seen, and when first."""
    for finding in findings:
        rounds: set[int] = set()
        starts_s: list[float] = []
        for flow in flows:
            if set(finding.subject.names) <= set(flow.pair):
                rounds.add(flow.round)
                starts_s.append(flow.start_s)
        seen = f"in {count_of(len(rounds), 'round')}: {finding.seen}"
        yield replace(finding, seen=seen, at_s=min(starts_s))


def _unread(events: Iterable[LinkEvent]) -> list[str]:
    """Return what could not be read, and where: `the kernel log of a, b cannot be read (root can)`."""
    hosts: dict[tuple[LinkEventKind, str], list[str]] = defaultdict(list)
    for event in events:
        if event.unread is not None:
            hosts[event.unread, event.text].append(event.host)
    found = []
    for (kind, reason), own in hosts.items():
        own.sort(key=natural_order)
        found.append(f"the {READ_EVERY_ROUND[kind]} of {join_names(own)} cannot be read ({reason})")
    return found


def _seconds(flows: Iterable[SoakFlow]) -> float:
    return sum(flow.seconds for flow in flows)


def _proof(transfers: _Transfers, unread: Sequence[str]) -> Finding:
    """Return the proof of a soak without a fault: less than one fault in a third of its time.

    Faults that only an unread log or counter would show are not among them.
    """
    link_s = _seconds(transfers.judged)
    unjudged_s = _seconds(transfers.limited)
    if not link_s and not unjudged_s:
        return Finding(EVERYTHING, "nothing was transferred, so nothing is known", at_s=0.0)
    text = f"no fault in {duration_text(link_s)} of link time under load (all hosts together)"
    if link_s <= unjudged_s:
        return note(f"{text}, but most of the time was not judged: that proves nothing")
    rarer_s = link_s / _RULE_OF_THREE
    faults = "faults of a link"
    if unread:
        text += ", as far as the hosts could be read"
        faults += " that show there"
    return note(
        f"{text}: with 95 % confidence, {faults} are rarer than one in {duration_text(rarer_s)} "
        "(rule of three)"
    )
