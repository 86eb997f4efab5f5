"""What a soak found: links in trouble, slow hosts and pairs, and what it proves if there is no fault."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from harness.analysis.network.failures import failed_measurements
from harness.analysis.network.judge import (
    SLOW,
    Reference,
    no_slow_host,
    reference_of,
    slow_findings,
)
from harness.analysis.network.mesh import PairMatrix
from harness.analysis.network.processor_limit import (
    MAX_BUSY_PERCENT,
    MAX_STOLEN_PERCENT,
    slowed_by_busy_processors,
)
from harness.base.clock import HOUR, duration_text
from harness.base.words import count_of, join_names, natural_order
from harness.model.finding import Finding
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import ARROW, Pair, RecordedProbes
from harness.model.soak import READ_EVERY_ROUND, LinkEvent, LinkEventKind, SoakFlow

_RULE_OF_THREE = -math.log(1 - 0.95)
_NOT_FAULTS = {LinkEventKind.DROPS, LinkEventKind.PAUSE, LinkEventKind.BACK}
"""Cards also count packets as dropped that no program asked for, and some switches work by pause frames."""
_INTERRUPTIONS = {LinkEventKind.CARRIER, LinkEventKind.REPLUGGED, LinkEventKind.LOST}


def soak_flows(probed: RecordedProbes) -> list[SoakFlow]:
    """Return the transfers of a soak, in order."""
    return [event for event in probed.events if isinstance(event, SoakFlow)]


def transfer_seconds(probed: RecordedProbes) -> float:
    """Return for how long links were under load, all hosts together: the time of transfers that ended."""
    return sum(flow.seconds for flow in soak_flows(probed) if flow.error is None)


def soak_findings(probed: RecordedProbes) -> list[Finding]:
    """Return what happened to links, failed and slow transfers, and what is no fault, each by its moment."""
    recorded = [event for event in probed.events if isinstance(event, LinkEvent)]
    events = [event for event in recorded if event.unread is None]
    unread = _unread(recorded)
    links = probed.links().values()
    # An interrupted link is a finding itself, and explains what its host carried in that round.
    interrupted = {(each.host, each.round) for each in events if each.event in _INTERRUPTIONS}
    flows = [
        flow
        for flow in soak_flows(probed)
        if not any((host, flow.round) in interrupted for host in flow.pair)
    ]
    best = _goodputs(flows, max)
    reference = reference_of(best, links)
    limited = _limited_by_processors(flows, reference)
    judged = [flow for flow in flows if flow not in limited]
    found = [
        *_link_findings(events),
        *(
            Finding("", f"{each}: what only this would show is unknown", is_fault=False)
            for each in unread
        ),
        *_with_moments(_failures(judged), [flow for flow in judged if flow.error is not None]),
        *_with_moments(
            slow_findings(_goodputs(judged, min), reference),
            [flow for flow in judged if _is_slow(flow, reference)],
        ),
    ]
    unknown = [flow for flow in judged if flow.stolen_percent is None and _is_slow(flow, reference)]
    if unknown:
        text = (
            f"nothing is known of the processors in {count_of(len(unknown), 'slow transfer')}: they, and not "
            "the links, may be the reason"
        )
        found.append(Finding("", text, is_fault=False))
    if limited:
        text = (
            f"nothing was concluded from {count_of(len(limited), 'transfer')}, because a hypervisor took "
            "processor time from one of the hosts, or one of its processors was busy all the time"
        )
        found.append(Finding("", text, is_fault=False))
    if not any(finding.is_fault for finding in found):
        found += [no_slow_host(best, links)] if best.values else []
        found.append(_proof(judged, sum(flow.seconds for flow in limited), unread))
    return sorted(found, key=lambda finding: (not finding.is_fault, finding.at_s or 0.0))


def _goodputs(flows: Iterable[SoakFlow], summary: Callable[[Iterable[float]], float]) -> PairMatrix:
    """Return the goodput of each pair in its best round, or in its slowest: a link may fail after hours."""
    found: dict[Pair, list[float]] = defaultdict(list)
    for flow in flows:
        if flow.goodput_bit_s is not None:
            found[flow.pair].append(flow.goodput_bit_s)
    hosts = sorted({host for pair in found for host in pair}, key=natural_order)
    return PairMatrix(tuple(hosts), {pair: summary(own) for pair, own in found.items()}, {})


def _is_slow(flow: SoakFlow, reference: Reference) -> bool:
    return (
        flow.goodput_bit_s is not None and flow.goodput_bit_s < SLOW * reference.of(flow.pair).bit_s
    )


def _limited_by_processors(flows: Sequence[SoakFlow], reference: Reference) -> set[SoakFlow]:
    """Return the slow transfers that the processors of the hosts, and not the links, may have limited."""
    slow = {flow for flow in flows if _is_slow(flow, reference)}
    busy = {flow for flow in flows if (flow.busiest_percent or 0) >= MAX_BUSY_PERCENT}
    stolen = {flow for flow in slow if (flow.stolen_percent or 0) >= MAX_STOLEN_PERCENT}
    return stolen | slowed_by_busy_processors(slow, busy)


def _link_findings(events: Iterable[LinkEvent]) -> Iterator[Finding]:
    """Yield one finding for all events of a kind on a host: the first, and how often it happened."""
    by_kind: dict[tuple[str, LinkEventKind], list[LinkEvent]] = defaultdict(list)
    for event in events:
        by_kind[event.host, event.event].append(event)
    for (host, kind), own in by_kind.items():
        first = min(own, key=lambda event: event.at_s)
        text = first.text
        if len(own) > 1:
            text = f"{text}; {count_of(len(own) - 1, 'time')} more, {sum(e.count for e in own):,} in all"
        yield Finding(host, text, kind not in _NOT_FAULTS, first.at_s)


def _failures(flows: Iterable[SoakFlow]) -> list[Finding]:
    return failed_measurements(
        MESH_GOODPUT.of(flow.pair, flow.goodput_bit_s)
        if flow.goodput_bit_s is not None
        else MESH_GOODPUT.failed(flow.pair, flow.error)
        for flow in flows
    )


def _with_moments(findings: Iterable[Finding], flows: Sequence[SoakFlow]) -> Iterator[Finding]:
    for finding in findings:
        own = [
            flow for flow in flows if finding.subject in {*flow.pair, ARROW.join(flow.pair)}
        ] or flows
        rounds = count_of(len({flow.round for flow in own}), "round")
        at_s = min(flow.start_s for flow in own)
        yield replace(finding, text=f"in {rounds}: {finding.text}", at_s=at_s)


def _unread(events: Iterable[LinkEvent]) -> list[str]:
    """Return what could not be read of which hosts: `the kernel log of a, b cannot be read (root can)`."""
    hosts: dict[tuple[LinkEventKind, str], list[str]] = defaultdict(list)
    for event in events:
        if event.unread is not None:
            hosts[event.unread, event.text].append(event.host)
    found = []
    for (kind, why), own in hosts.items():
        own.sort(key=natural_order)
        names = join_names(own)
        found.append(f"the {READ_EVERY_ROUND[kind]} of {names} cannot be read ({why})")
    return found


def _proof(judged: Sequence[SoakFlow], unjudged_s: float, unread: Sequence[str]) -> Finding:
    """Return what a soak without a fault proves: less than one fault in a third of its time.

    Faults that only an unread log or counter would show are not among them.
    """
    link_s = sum(flow.seconds for flow in judged)
    if not link_s and not unjudged_s:
        return Finding("", "nothing was transferred, so nothing is known", at_s=0.0)
    text = f"no fault in {duration_text(link_s)} of link time under load (all hosts together)"
    if link_s <= unjudged_s:
        return Finding(
            "", f"{text}, but most of the time was not judged: that proves nothing", is_fault=False
        )
    hours = link_s / HOUR / _RULE_OF_THREE
    faults = "faults of a link"
    if unread:
        text += ", as far as the hosts could be read"
        faults += " that show there"
    text += (
        f": with 95 % confidence, {faults} are rarer than one in "
        f"{duration_text(hours * HOUR)} (rule of three)"
    )
    return Finding("", text, is_fault=False)
