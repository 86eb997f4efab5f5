"""What a soak found: hosts and pairs in trouble, with the moment; and what it proves if nothing happened.

Whatever happens between two hosts may be the fault of either. Because pairs are drawn anew in each round, the
host that is at fault is the one that all troubled transfers have in common.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import median

from harness.model.finding import Finding
from harness.model.link import throughput_text
from harness.model.probe import ARROW, RecordedProbes
from harness.model.soak import LinkEvent, LinkEventKind, LinkSeconds, SoakFlow
from harness.terminal import count_of, percent

SLOW = 0.9
"""A transfer below this fraction of what is usual, in its round and over the whole soak, is slow."""
STALLED = 0.05
"""Below this fraction of its own rate, a transfer stands still."""
DISTURBED_PERCENT = 10.0
"""If a hypervisor takes more of a host's processors in a second, or in a round, its link is not blamed."""
EDGE_S = 1.5
"""At either end of a transfer, a second of a link may lie partly outside of it."""
MIN_ROUNDS = 2
"""A host is at fault only if it was slow in so many rounds: in a single one, either partner may be."""
LOSSY = 5.0
"""A transfer with so many times the usual share of retransmits is lossy."""
FALSE_ALARM = 0.001
"""How likely a host without losses may be called lossy, over all hosts of a soak."""
CONFIDENCE = 0.95
_RULE_OF_THREE = -math.log(1 - CONFIDENCE)
_SEGMENT_BITS = 8 * 1448
_NOT_FAULTS = {LinkEventKind.DROPS, LinkEventKind.PAUSE, LinkEventKind.BACK}
"""Cards also count as dropped what nobody asked for, and pause frames are how some switches work."""
_INTERRUPTIONS = {LinkEventKind.CARRIER, LinkEventKind.REPLUGGED, LinkEventKind.LOST}
_RECOVERY_S = 5.0
"""TCP waits longer and longer before it sends again over a link that was interrupted."""
_TOGETHER_S = 10.0
"""The same thing within so many seconds is one finding."""


@dataclass(frozen=True)
class SoakVerdict:
    """The outcome of a soak.

    - `started_at`: ISO 8601.
    - `link_s`: seconds in which links were under load, added up over the hosts.
    - `findings`: the faults in the order of their moments, then what is no fault, in the same order.
    - `clean_bits`: the bits that arrived at hosts whose interfaces counted no error; `errors`: the packets
      with errors of the others.
    - `retransmits`: of all transfers, and `segments`, about how many they sent.
    - `unjudged`: the transfers that were disturbed by a hypervisor, so that nothing was concluded from them.
    """

    started_at: str
    link_s: float
    findings: tuple[Finding, ...]
    clean_bits: float
    errors: int
    retransmits: int
    segments: float
    unjudged: int = 0

    @property
    def faults(self) -> list[Finding]:
        """The findings that have to be mended."""
        return [finding for finding in self.findings if finding.is_fault]

    @property
    def max_faults_per_hour(self) -> float:
        """What the rate of faults of a link is less than, with 95 % confidence, if none was found."""
        return _RULE_OF_THREE * 3600 / self.link_s if self.link_s else math.inf

    @property
    def max_bit_error_rate(self) -> float:
        """What the bit error rate is less than, with 95 % confidence, where no packet had an error."""
        return _RULE_OF_THREE / self.clean_bits if self.clean_bits else math.inf


def soak_findings(probed: RecordedProbes) -> list[Finding]:
    """Return the faults of a soak in the order of their moments, then the remarks in the same order."""
    return list(judge_soak(probed).findings)


def judge_soak(probed: RecordedProbes) -> SoakVerdict:
    """Return what a soak found."""
    flows = [event for event in probed.events if isinstance(event, SoakFlow)]
    seconds = _by_host(event for event in probed.events if isinstance(event, LinkSeconds))
    events = [event for event in probed.events if isinstance(event, LinkEvent)]
    judged = [flow for flow in flows if not _is_disturbed(flow, seconds)]
    findings = [
        *_link_findings(events),
        *_slow([flow for flow in judged if not _is_explained(flow, events)], seconds),
        *_stalls(judged, seconds, events),
        *_lossy(judged),
    ]
    errors = _count_by_host(events, LinkEventKind.ERRORS)
    return SoakVerdict(
        started_at=probed.run.started_at,
        # A ring has as many transfers as links, and each link carries two of them at the same time.
        link_s=sum(flow.seconds for flow in flows if flow.error is None),
        findings=tuple(
            sorted(findings, key=lambda finding: (not finding.is_fault, finding.at_s or 0.0))
        ),
        clean_bits=sum(
            _bits(flow) for flow in flows if flow.receiver not in errors and flow.goodput_bit_s
        ),
        errors=sum(errors.values()),
        retransmits=sum(flow.retransmits or 0 for flow in flows),
        segments=sum(_bits(flow) for flow in flows) / _SEGMENT_BITS,
        unjudged=len(flows) - len(judged),
    )


def _bits(flow: SoakFlow) -> float:
    return (flow.goodput_bit_s or 0.0) * flow.seconds


def _count_by_host(events: Iterable[LinkEvent], happening: LinkEventKind) -> dict[str, int]:
    found: dict[str, int] = {}
    for event in events:
        if event.happening is happening:
            found[event.host] = found.get(event.host, 0) + event.count
    return found


@dataclass
class _Seconds:
    """All seconds of a host, in order."""

    at_s: list[float] = field(default_factory=list)
    received_bit_s: list[float] = field(default_factory=list)
    stolen_percent: list[float] = field(default_factory=list)

    def within(self, start_s: float, end_s: float) -> list[tuple[float, float, float]]:
        """Return moment, received bit/s and stolen percent of the seconds that lie within."""
        # A soak over night has tens of thousands of seconds and hundreds of transfers for each host.
        first, end = bisect_left(self.at_s, start_s + 1), bisect_right(self.at_s, end_s)
        series = (self.at_s, self.received_bit_s, self.stolen_percent)
        return list(zip(*(each[first:end] for each in series), strict=True))


def _by_host(events: Iterable[LinkSeconds]) -> dict[str, _Seconds]:
    found: dict[str, _Seconds] = {}
    for event in events:
        own = found.setdefault(event.host, _Seconds())
        own.at_s += event.at_s
        own.received_bit_s += event.received_bit_s
        own.stolen_percent += event.stolen_percent
    return found


def _is_disturbed(flow: SoakFlow, seconds: Mapping[str, _Seconds]) -> bool:
    stolen = [
        [
            percent
            for _, _, percent in seconds[host].within(flow.start_s, flow.start_s + flow.seconds)
        ]
        for host in (flow.sender, flow.receiver)
        if host in seconds
    ]
    return any(sum(of_host) > DISTURBED_PERCENT * len(of_host) for of_host in stolen if of_host)


def _link_findings(events: Iterable[LinkEvent]) -> Iterator[Finding]:
    """Yield a finding for events of one kind that follow each other on a host."""

    def key(event: LinkEvent) -> tuple[str, str]:
        return event.host, event.happening

    for (host, happening), group in groupby(sorted(events, key=key), key):
        own = sorted(group, key=lambda event: event.at_s)
        is_fault = happening not in _NOT_FAULTS
        for run in _runs(own):
            total = sum(event.count for event in run)
            text = run[0].text
            if len(run) > 1:
                more = count_of(len(run) - 1, "time")
                text = f"{text}; {more} more within {run[-1].at_s - run[0].at_s:.0f} s"
            if (
                happening in {LinkEventKind.ERRORS, LinkEventKind.DROPS, LinkEventKind.PAUSE}
                and len(run) > 1
            ):
                text = f"{text}, {total:,} in all"
            yield Finding(host, text, is_fault, run[0].at_s)


def _runs(events: Sequence[LinkEvent]) -> Iterator[list[LinkEvent]]:
    current: list[LinkEvent] = []
    for event in events:
        if current and event.at_s > current[-1].at_s + _TOGETHER_S:
            yield current
            current = []
        current.append(event)
    if current:
        yield current


def _pair(flow: SoakFlow) -> str:
    return f"{flow.sender}{ARROW}{flow.receiver}"


def _is_explained(flow: SoakFlow, events: Iterable[LinkEvent]) -> bool:
    """Whether the link of one of its hosts was interrupted while it ran, or the host lost."""
    return any(
        event.happening in _INTERRUPTIONS
        and event.host in {flow.sender, flow.receiver}
        and flow.start_s - EDGE_S <= event.at_s <= flow.start_s + flow.seconds + _RECOVERY_S
        for event in events
    )


def _slow(flows: Sequence[SoakFlow], seconds: Mapping[str, _Seconds]) -> Iterator[Finding]:
    """Yield hosts that all slow or failed transfers have in common, and the other pairs."""
    ratios = _relative_rates(flows)
    slow = {flow for flow, ratio in ratios.items() if ratio < SLOW}
    for host, own in _common_hosts(slow):
        first = min(own, key=lambda flow: flow.start_s)
        rounds = count_of(len({flow.round for flow in own}), "round")
        text = f"in {rounds}: {_trouble(own, ratios)}"
        yield Finding(host, text, at_s=_moment_of_fall(first, seconds))
        slow -= set(own)
    for flow in sorted(slow, key=lambda flow: flow.start_s):
        text = f"in one round: {_trouble([flow], ratios)}"
        yield Finding(_pair(flow), text, at_s=_moment_of_fall(flow, seconds))


def _trouble(flows: Sequence[SoakFlow], ratios: Mapping[SoakFlow, float]) -> str:
    """Return how slow the slowest was, and how many failed, with the first reason."""
    parts = []
    if done := [flow for flow in flows if flow.goodput_bit_s]:
        worst = min(done, key=lambda flow: ratios[flow])
        rate = throughput_text(worst.goodput_bit_s or 0)
        parts.append(f"slow, down to {rate}, {percent(ratios[worst])} of what is usual")
    if errors := [flow.error for flow in flows if flow.error]:
        reason = errors[0].rpartition("iperf3: ")[2]
        parts.append(f"{count_of(len(errors), 'transfer')} failed ({reason})")
    return "; ".join(parts)


def _relative_rates(flows: Sequence[SoakFlow]) -> dict[SoakFlow, float]:
    """Return each goodput relative to what is usual; that of a failed transfer is 0.

    Usual is what the second-best transfer of a round reaches, because several bad hosts may slow most of
    the others down. If all transfers of a round were slow together, no link is to blame for it.
    """
    by_round: dict[int, list[float]] = {}
    for flow in flows:
        by_round.setdefault(flow.round, []).append(flow.goodput_bit_s or 0.0)
    best = {number: sorted(values)[-2:][0] for number, values in by_round.items()}
    usual = median(best.values()) if best else 0.0
    return {
        flow: (flow.goodput_bit_s or 0.0) / expected
        for flow in flows
        if (expected := _expected(usual, best[flow.round], len(by_round[flow.round])))
    }


def _expected(usual: float, best: float, transfers: int) -> float:
    # Of three transfers, two may be those of one bad host.
    return usual if transfers <= 3 else min(usual, best)  # noqa: PLR2004  as said


def _common_hosts(flows: Collection[SoakFlow]) -> list[tuple[str, list[SoakFlow]]]:
    """Return hosts that explain the flows, those that explain most first.

    A host explains flows in MIN_ROUNDS rounds or more that no earlier host does.
    """
    left = sorted(flows, key=lambda flow: (flow.round, flow.sender))
    found = []
    while left:
        by_host: dict[str, list[SoakFlow]] = {}
        for flow in left:
            for host in (flow.sender, flow.receiver):
                by_host.setdefault(host, []).append(flow)
        host, own = max(sorted(by_host.items()), key=lambda item: len(item[1]))
        rivals = [name for name, others in by_host.items() if name != host and others == own]
        if len({flow.round for flow in own}) < MIN_ROUNDS or rivals:
            break
        found.append((host, own))
        left = [flow for flow in left if flow not in own]
    return found


def _moment_of_fall(flow: SoakFlow, seconds: Mapping[str, _Seconds]) -> float:
    """Return the first second in which the receiver got less than half of its best; else the flow's start."""
    if flow.receiver not in seconds:
        return flow.start_s
    within = seconds[flow.receiver].within(flow.start_s, flow.start_s + flow.seconds)
    best = max((rate for _, rate, _ in within), default=0.0)
    low = [at_s for at_s, rate, _ in within if rate < best / 2]
    return low[0] - 1 if low else flow.start_s


def _stalls(
    flows: Sequence[SoakFlow], seconds: Mapping[str, _Seconds], events: Sequence[LinkEvent]
) -> Iterator[Finding]:
    """Yield whose transfers stood still for a second: the host that those at the same time share.

    A standstill is not reported again where an interrupted link explains it.
    """
    stalled: dict[int, list[tuple[SoakFlow, float]]] = {}
    for flow in flows:
        for at_s in _standstills(flow, seconds, events):
            stalled.setdefault(round(at_s), []).append((flow, at_s))
    for moment in sorted(stalled):
        if moment - 1 in stalled:
            continue  # it is the same standstill
        of_moment = [*stalled[moment], *stalled.get(moment + 1, [])]
        at_s = min(at_s for _, at_s in of_moment) - 1
        running = sum(flow.start_s <= at_s <= flow.start_s + flow.seconds for flow in flows)
        yield from _standing_still({flow for flow, _ in of_moment}, at_s, running)


def _standstills(
    flow: SoakFlow, seconds: Mapping[str, _Seconds], events: Sequence[LinkEvent]
) -> Iterator[float]:
    """Yield the ends of the seconds in which nearly nothing arrived."""
    if flow.receiver not in seconds or flow.error is not None:
        return
    end_s = flow.start_s + flow.seconds - EDGE_S
    within = seconds[flow.receiver].within(flow.start_s + EDGE_S, end_s)
    usual = median(rate for _, rate, _ in within) if within else 0.0
    interruptions = [
        event.at_s
        for event in events
        if event.happening in _INTERRUPTIONS and event.host in {flow.sender, flow.receiver}
    ]
    for at_s, rate, stolen in within:
        explained = any(abs(at_s - interruption) <= _RECOVERY_S for interruption in interruptions)
        if rate < STALLED * usual and stolen <= DISTURBED_PERCENT and not explained:
            yield at_s


def _standing_still(flows: Collection[SoakFlow], at_s: float, running: int) -> Iterator[Finding]:
    """Yield a host that the transfers share, or each of their pairs."""
    ends = [host for flow in flows for host in (flow.sender, flow.receiver)]
    common = {host for host in ends if ends.count(host) > 1}
    if len(flows) > 3 and len(flows) > running / 2:  # noqa: PLR2004  a host has two transfers
        yield Finding("", f"{len(flows)} of {running} transfers stood still", at_s=at_s)
    elif len(common) == 1:
        yield Finding(common.pop(), "its transfers stood still for a second or longer", at_s=at_s)
    else:
        for flow in sorted(flows, key=_pair):
            yield Finding(_pair(flow), "stood still for a second or longer", at_s=at_s)


def _lossy(flows: Sequence[SoakFlow]) -> Iterator[Finding]:
    """Yield the hosts whose transfers are lossy more often than others', by Fisher's exact test."""
    shares = {
        flow: flow.retransmits * _SEGMENT_BITS / _bits(flow)
        for flow in flows
        if flow.retransmits is not None and flow.goodput_bit_s
    }
    if not shares:
        return
    limit = LOSSY * median(shares.values())
    hosts = sorted({host for flow in shares for host in (flow.sender, flow.receiver)})
    left = dict(shares)
    while left:
        tested = [
            (_fisher(own, left, limit), host, direction, own)
            for host in hosts
            for direction, own in _directions(host, left)
        ]
        p, host, direction, own = min(tested, key=lambda each: (each[0], each[1], each[2]))
        if p * 2 * len(hosts) > FALSE_ALARM:
            return
        lossy = [flow for flow in own if left[flow] > limit]
        lost = sum(flow.retransmits or 0 for flow in lossy)
        share = lost * _SEGMENT_BITS / sum(map(_bits, own))
        yield Finding(
            host,
            at_s=min(flow.start_s for flow in lossy),
            text=f"loses packets that it {direction}: {lost:,} retransmits in {len(lossy)} of {len(own)} "
            f"transfers, about 1 packet in {1 / share:,.0f}",
        )
        left = {
            flow: share for flow, share in left.items() if host not in {flow.sender, flow.receiver}
        }


def _directions(
    host: str, flows: Collection[SoakFlow]
) -> Iterator[tuple[str, tuple[SoakFlow, ...]]]:
    yield "sends", tuple(flow for flow in flows if flow.sender == host)
    yield "receives", tuple(flow for flow in flows if flow.receiver == host)


def _fisher(own: Collection[SoakFlow], flows: Mapping[SoakFlow, float], limit: float) -> float:
    """Return how likely so many of a host's transfers are lossy if lossy ones are anybody's."""
    total, lossy = len(flows), sum(share > limit for share in flows.values())
    hits = sum(flows[flow] > limit for flow in own)
    ways = math.comb(total, len(own))
    return sum(
        math.comb(lossy, k) * math.comb(total - lossy, len(own) - k) / ways
        for k in range(hits, min(lossy, len(own)) + 1)
        if len(own) - k <= total - lossy
    )
