"""What a soak found: hosts and paths in trouble, with the moment; and what it proves if nothing happened."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, median, median_low
from typing import NamedTuple

from harness.analysis.network.processor_limit import MAX_BUSY_PERCENT, MAX_STOLEN_PERCENT
from harness.analysis.network.soak_rates import (
    SLOW,
    blamed,
    expected_rates,
    fraction_of,
    path_of,
)
from harness.model.finding import Finding
from harness.model.link import throughput_text
from harness.model.probe import BEFORE, RecordedProbes
from harness.model.soak import LinkEvent, LinkEventKind, LinkSeconds, SoakFlow
from harness.words import count_of, percent

STALLED = 0.05
"""Below this fraction of its own rate, a transfer stands still."""
EDGE_S = 1.5
"""At either end of a transfer, a second of a link may lie partly outside of it."""
LOSSY = 5.0
"""A transfer with more than this many times the usual share of retransmits is lossy."""
FALSE_ALARM = 0.001
"""How likely a host without losses may be called lossy, over all hosts of a soak."""
CONFIDENCE = 0.95
_RULE_OF_THREE = -math.log(1 - CONFIDENCE)
_SEGMENT_BITS = 8 * 1448
_NOT_FAULTS = {LinkEventKind.DROPS, LinkEventKind.PAUSE, LinkEventKind.BACK}
"""Cards also count as dropped what nobody asked for, and pause frames are how some switches work."""
_COUNTED = {LinkEventKind.ERRORS, LinkEventKind.DROPS, LinkEventKind.PAUSE}
_INTERRUPTIONS = {LinkEventKind.CARRIER, LinkEventKind.REPLUGGED, LinkEventKind.LOST}
_RECOVERY_S = 5.0
"""TCP waits longer and longer before it sends again over a link that was interrupted."""
_TOGETHER_S = 10.0
"""Events of one kind within this time are one finding."""
_TRANSFERS_OF_HOST = 2


@dataclass(frozen=True)
class SoakVerdict:
    """The outcome of a soak.

    - `findings`: the faults in the order of their moments, then what is no fault, in the same order.
    - `link_s`: seconds in which links carried what they should, added up over the hosts.
    - `received_bits`: what arrived in that time.
    - `retransmits`: of all transfers that ended, and `segments`, about how many they sent.
    - `unjudged`: the transfers that the hosts' processors may have slowed down, so that nothing was concluded
      from them, and `unjudged_s`, how long they took.
    - `has_packet_errors`: whether an interface counted any.
    - `is_rate_known`: whether links that are slow all the time would be faults.
    """

    findings: tuple[Finding, ...]
    link_s: float
    received_bits: float
    retransmits: int
    segments: float
    unjudged: int
    unjudged_s: float
    has_packet_errors: bool
    is_rate_known: bool

    @property
    def faults(self) -> list[Finding]:
        """The findings that have to be mended."""
        return [finding for finding in self.findings if finding.is_fault]

    @property
    def is_proof(self) -> bool:
        """Whether nothing was wrong in the most part of the time, so that the limits below hold."""
        return not self.faults and self.link_s > self.unjudged_s

    @property
    def max_faults_per_hour(self) -> float:
        """What the rate of faults of a link is less than, with 95 % confidence, if none was found."""
        return _RULE_OF_THREE * 3600 / self.link_s if self.link_s else math.inf

    @property
    def max_bit_error_rate(self) -> float:
        """What the bit error rate is less than, with 95 % confidence, if no packet had an error."""
        return _RULE_OF_THREE / self.received_bits if self.received_bits else math.inf


def judge_soak(probed: RecordedProbes) -> SoakVerdict:
    """Return what a soak found."""
    flows, seconds = _transfers(probed)
    events = [event for event in probed.events if isinstance(event, LinkEvent)]
    links = probed.links(BEFORE)
    expected = expected_rates(flows, links)
    interrupted = _moments_of_interruptions(events)
    unexplained = [flow for flow in flows if not _is_explained(flow, interrupted)]
    unjudged = _unjudged(unexplained, seconds, expected)
    judged = [flow for flow in flows if flow not in unjudged]
    carried = [_carried(flow, seconds, expected[flow.round]) for flow in judged]
    findings = [
        *_link_findings(events),
        *_bad_transfers(
            # A transfer that is fast in spite of a hypervisor shows that its hosts are fine.
            [
                flow
                for flow in unexplained
                if flow not in unjudged or _is_fast(flow, expected[flow.round])
            ],
            seconds,
            expected,
        ),
        *_standstills(judged, seconds, interrupted),
        *_losses(judged),
    ]
    is_known = unjudged or any(link_s for link_s, _ in carried)
    if not is_known and not any(finding.is_fault for finding in findings):
        findings.append(Finding("", "nothing was transferred, so nothing is known", at_s=0.0))
    is_rate_known = any(link.rate_bit_s for link in links.values())
    if judged and not is_rate_known:
        text = "the rate of the links is unknown: that all are slow all the time would not be seen"
        findings.append(Finding("", text, is_fault=False))
    return SoakVerdict(
        findings=tuple(
            sorted(findings, key=lambda finding: (not finding.is_fault, finding.at_s or 0.0))
        ),
        link_s=sum(link_s for link_s, _ in carried),
        received_bits=sum(bits for _, bits in carried),
        retransmits=sum(flow.retransmits or 0 for flow in flows),
        segments=sum(_bits(flow) for flow in flows) / _SEGMENT_BITS,
        unjudged=len(unjudged),
        unjudged_s=sum(flow.seconds for flow in unjudged),
        has_packet_errors=any(event.happening is LinkEventKind.ERRORS for event in events),
        is_rate_known=is_rate_known,
    )


def received_in_transfers(probed: RecordedProbes) -> list[tuple[float, float]]:
    """Return the moments and the bit/s received of all seconds in which a transfer ran."""
    flows, seconds = _transfers(probed)
    return [
        (second.at_s, second.received_bit_s)
        for flow in flows
        for second in _of_transfer(flow, flow.receiver, seconds)
    ]


def _bits(flow: SoakFlow) -> float:
    return (flow.goodput_bit_s or 0.0) * flow.seconds


class _Second(NamedTuple):
    at_s: float
    received_bit_s: float
    stolen_percent: float
    busiest_percent: float


_Seconds = Mapping[str, Sequence[LinkSeconds]]
"""By host, in order: a record of seconds for each round."""


def _transfers(probed: RecordedProbes) -> tuple[list[SoakFlow], _Seconds]:
    flows = [event for event in probed.events if isinstance(event, SoakFlow)]
    seconds: dict[str, list[LinkSeconds]] = defaultdict(list)
    for event in probed.events:
        if isinstance(event, LinkSeconds) and event.at_s:
            seconds[event.host].append(event)
    return flows, seconds


def _within(seconds: _Seconds, host: str, start_s: float, end_s: float) -> list[_Second]:
    """Return the seconds of a host that lie between two moments."""
    # A soak over night has a thousand records of each host.
    own = seconds.get(host, ())
    first = bisect_left(own, start_s, key=lambda record: record.at_s[-1])
    end = bisect_right(own, end_s, key=lambda record: record.at_s[0])
    return [
        _Second(*values)
        for record in own[first:end]
        for values in zip(
            record.at_s,
            record.received_bit_s,
            record.stolen_percent,
            record.busiest_percent,
            strict=True,
        )
        if start_s + 1 <= values[0] <= end_s
    ]


def _of_transfer(flow: SoakFlow, host: str, seconds: _Seconds) -> list[_Second]:
    return _within(seconds, host, flow.start_s, flow.start_s + flow.seconds)


def _taken_processors(flow: SoakFlow, seconds: _Seconds) -> tuple[float, float]:
    """Return what a hypervisor took, and how busy the busiest processor was, of the worse of both hosts.

    In percent, as means over the transfer.
    """
    stolen, busiest = 0.0, 0.0
    for host in (flow.sender, flow.receiver):
        own = _of_transfer(flow, host, seconds)
        if own:
            stolen = max(stolen, fmean(second.stolen_percent for second in own))
            busiest = max(busiest, fmean(second.busiest_percent for second in own))
    return stolen, busiest


def _unjudged(
    flows: Iterable[SoakFlow], seconds: _Seconds, expected: Mapping[int, float]
) -> set[SoakFlow]:
    """Return the transfers that the processors of the hosts, and not the links, may have limited.

    One that failed is a fault, whatever the processors did. A busy processor explains nothing where most
    transfers with one are fast: hosts that share a machine are always busy.
    """
    ended = [flow for flow in flows if flow.error is None]
    processors = {flow: _taken_processors(flow, seconds) for flow in ended}
    disturbed = {flow for flow in ended if processors[flow][0] > MAX_STOLEN_PERCENT}
    busy = {flow for flow in ended if processors[flow][1] >= MAX_BUSY_PERCENT}
    limited = {flow for flow in busy if not _is_fast(flow, expected[flow.round])}
    return disturbed | limited if 2 * len(limited) >= len(busy) else disturbed


def _is_fast(flow: SoakFlow, expected_bit_s: float) -> bool:
    return fraction_of(flow, expected_bit_s) >= SLOW


def _carried(flow: SoakFlow, seconds: _Seconds, expected_bit_s: float) -> tuple[float, float]:
    """Return for how long a transfer used its link, and the bits that arrived in this time.

    Of a transfer that failed or was slow, these are the seconds in which it was as fast as expected.
    """
    if _is_fast(flow, expected_bit_s):
        return flow.seconds, _bits(flow)
    fast = [
        second.received_bit_s
        for second in _of_transfer(flow, flow.receiver, seconds)
        if 0 < SLOW * expected_bit_s <= second.received_bit_s
        and second.stolen_percent <= MAX_STOLEN_PERCENT
    ]
    return float(len(fast)), sum(fast)


def _link_findings(events: Iterable[LinkEvent]) -> Iterator[Finding]:
    """Yield a finding for events of one kind that follow each other on a host."""

    def key(event: LinkEvent) -> tuple[str, str]:
        return event.host, event.happening

    for (host, happening), group in groupby(sorted(events, key=key), key):
        own = sorted(group, key=lambda event: event.at_s)
        for close in _close_together(own):
            text = close[0].text
            if len(close) > 1:
                more = count_of(len(close) - 1, "time")
                text = f"{text}; {more} more within {close[-1].at_s - close[0].at_s:.0f} s"
                if happening in _COUNTED:
                    text = f"{text}, {sum(event.count for event in close):,} in all"
            yield Finding(host, text, happening not in _NOT_FAULTS, close[0].at_s)


def _close_together(events: Sequence[LinkEvent]) -> Iterator[list[LinkEvent]]:
    current: list[LinkEvent] = []
    for event in events:
        if current and event.at_s > current[-1].at_s + _TOGETHER_S:
            yield current
            current = []
        current.append(event)
    if current:
        yield current


def _moments_of_interruptions(events: Iterable[LinkEvent]) -> Mapping[str, Sequence[float]]:
    """Return when the links of hosts were interrupted, or the hosts lost, by host."""
    found: dict[str, list[float]] = defaultdict(list)
    for event in events:
        if event.happening in _INTERRUPTIONS:
            found[event.host].append(event.at_s)
    return found


def _interruptions_of(
    flow: SoakFlow, interrupted: Mapping[str, Sequence[float]]
) -> Sequence[float]:
    return [*interrupted.get(flow.sender, ()), *interrupted.get(flow.receiver, ())]


def _is_explained(flow: SoakFlow, interrupted: Mapping[str, Sequence[float]]) -> bool:
    """Whether the link of one of its hosts was interrupted while it ran, or the host lost."""
    end_s = flow.start_s + flow.seconds + _RECOVERY_S
    moments = _interruptions_of(flow, interrupted)
    return any(flow.start_s - EDGE_S <= moment <= end_s for moment in moments)


def _bad_transfers(
    flows: Sequence[SoakFlow], seconds: _Seconds, expected: Mapping[int, float]
) -> Iterator[Finding]:
    """Yield who has slow or failed transfers: a host, a path, or all."""
    for bad in blamed(flows, expected):
        rounds = count_of(len({flow.round for flow in bad.flows}), "round")
        who = f"in {rounds}{bad.role}" if bad.subject else f"in {rounds}, all transfers"
        text = f"{who}: {_trouble(bad.flows, expected)}"
        yield Finding(bad.subject, text, at_s=_moment_of_fall(bad.flows[0], seconds))


def _trouble(flows: Sequence[SoakFlow], expected: Mapping[int, float]) -> str:
    """Return how slow the slowest was, and how many failed, with the first reason."""
    parts = []
    ended = [flow for flow in flows if flow.error is None]
    if ended:
        worst = min(ended, key=lambda flow: fraction_of(flow, expected[flow.round]))
        rate, usual = worst.goodput_bit_s or 0.0, expected[worst.round]
        parts.append(
            f"slow, down to {throughput_text(rate)}, {percent(rate / usual)} of the expected "
            f"{throughput_text(usual)}"
        )
    errors = [flow.error for flow in flows if flow.error is not None]
    if errors:
        reason = errors[0].rpartition("iperf3: ")[2]
        parts.append(f"{count_of(len(errors), 'transfer')} failed ({reason})")
    return "; ".join(parts)


def _moment_of_fall(flow: SoakFlow, seconds: _Seconds) -> float:
    """Return the first second in which the receiver got less than half of its best; else the flow's start."""
    within = _of_transfer(flow, flow.receiver, seconds)
    best = max((second.received_bit_s for second in within), default=0.0)
    low = [second.at_s for second in within if second.received_bit_s < best / 2]
    return low[0] - 1 if low else flow.start_s


def _standstills(
    flows: Sequence[SoakFlow], seconds: _Seconds, interrupted: Mapping[str, Sequence[float]]
) -> Iterator[Finding]:
    """Yield whose transfers stood still for a second: the host that those at the same time share.

    A standstill that begins with the interruption of a link is not reported again.
    """
    stalled: dict[int, list[tuple[SoakFlow, float]]] = defaultdict(list)
    for flow in flows:
        moments = _interruptions_of(flow, interrupted)
        explained_s = -math.inf
        for at_s in _seconds_without_traffic(flow, seconds):
            goes_on = at_s <= explained_s + EDGE_S
            if goes_on or any(abs(at_s - moment) <= _RECOVERY_S for moment in moments):
                explained_s = at_s
            else:
                stalled[round(at_s)].append((flow, at_s))
    for moment in sorted(stalled):
        if moment - 1 in stalled:
            continue  # it is the same standstill
        of_moment = [*stalled[moment], *stalled.get(moment + 1, [])]
        ends_s = [at_s for _, at_s in of_moment]
        start_s, end_s = min(ends_s) - 1, max(ends_s)
        running = sum(
            flow.start_s <= end_s and flow.start_s + flow.seconds >= start_s for flow in flows
        )
        yield from _standing_still({flow for flow, _ in of_moment}, start_s, running)


def _seconds_without_traffic(flow: SoakFlow, seconds: _Seconds) -> Iterator[float]:
    """Yield the ends of the seconds in which nearly nothing arrived of a transfer that ended well."""
    if flow.error is not None:
        return
    end_s = flow.start_s + flow.seconds - EDGE_S
    within = _within(seconds, flow.receiver, flow.start_s + EDGE_S, end_s)
    usual = median(second.received_bit_s for second in within) if within else 0.0
    for second in within:
        if second.received_bit_s < STALLED * usual and second.stolen_percent <= MAX_STOLEN_PERCENT:
            yield second.at_s


def _standing_still(flows: Collection[SoakFlow], at_s: float, running: int) -> Iterator[Finding]:
    """Yield all hosts, a host that the transfers share, or each of their paths."""
    ends = Counter(host for flow in flows for host in (flow.sender, flow.receiver))
    shared = [host for host, count in ends.items() if count > 1]
    if len(flows) > max(_TRANSFERS_OF_HOST, running / 2):
        yield Finding("", f"{len(flows)} of {running} transfers stood still", at_s=at_s)
    elif len(shared) == 1:
        yield Finding(shared[0], "its transfers stood still for a second or longer", at_s=at_s)
    else:
        for path in sorted(map(path_of, flows)):
            yield Finding(path, "stood still for a second or longer", at_s=at_s)


class _Suspect(NamedTuple):
    """A host that sends or receives, and how likely as many of its transfers are lossy by chance.

    Suspects are compared by these three, the likeliest culprit first.
    """

    chance: float
    host: str
    verb: str
    flows: Sequence[SoakFlow]


def _losses(flows: Iterable[SoakFlow]) -> Iterator[Finding]:
    """Yield the hosts whose transfers are lossy more often than others', by Fisher's exact test.

    The transfers of a host that was found do not count for the others.
    """
    shares = {
        flow: flow.retransmits * _SEGMENT_BITS / _bits(flow)
        for flow in flows
        if flow.retransmits is not None and _bits(flow)
    }
    limit = LOSSY * median_low(shares.values()) if shares else 0.0
    lossy = {flow for flow, share in shares.items() if share > limit}
    hosts = {host for flow in shares for host in (flow.sender, flow.receiver)}
    left = list(shares)
    while lossy.intersection(left):
        worst = min(_suspects(left, lossy))
        if worst.chance * 2 * len(hosts) > FALSE_ALARM:
            return
        yield _loss(worst, lossy)
        left = [flow for flow in left if worst.host not in {flow.sender, flow.receiver}]


def _suspects(flows: Sequence[SoakFlow], lossy: Collection[SoakFlow]) -> Iterator[_Suspect]:
    from scipy.stats import hypergeom  # noqa: PLC0415  takes a second, and losses are rare

    by_end: dict[tuple[str, str], list[SoakFlow]] = defaultdict(list)
    for flow in flows:
        by_end[flow.sender, "sends"].append(flow)
        by_end[flow.receiver, "receives"].append(flow)
    all_lossy = sum(flow in lossy for flow in flows)
    for (host, verb), own in by_end.items():
        own_lossy = sum(flow in lossy for flow in own)
        chance = hypergeom.sf(own_lossy - 1, len(flows), all_lossy, len(own))
        yield _Suspect(float(chance), host, verb, own)


def _loss(suspect: _Suspect, lossy: Collection[SoakFlow]) -> Finding:
    own = [flow for flow in suspect.flows if flow in lossy]
    lost = sum(flow.retransmits or 0 for flow in own)
    paths = {path_of(flow) for flow in suspect.flows}
    return Finding(
        suspect.host if len(paths) > 1 else paths.pop(),
        f"loses packets{f' that it {suspect.verb}' if len(paths) > 1 else ''}: {lost:,} retransmits in "
        f"{len(own)} of {len(suspect.flows)} transfers, about 1 packet in "
        f"{sum(map(_bits, suspect.flows)) / _SEGMENT_BITS / lost:,.0f}",
        at_s=min(flow.start_s for flow in own),
    )
