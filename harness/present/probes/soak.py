"""What a soak found: hosts in trouble with the moment, a line for each host, and what it proves."""

from collections.abc import Iterator, Sequence
from statistics import median

from harness.analysis.network.mesh import natural_order
from harness.analysis.network.soak import SoakVerdict, judge_soak
from harness.model.link import throughput_text
from harness.model.probe import RecordedProbes
from harness.model.soak import LinkEvent, LinkEventKind, LinkSeconds, SoakFlow
from harness.present.probes import UNKNOWN
from harness.present.quantities import quantity_text
from harness.present.text import fill, simple_table
from harness.runtime.clock import HOUR, duration_text
from harness.words import count_of, visible

_HEADINGS = ("host", "rounds", "sends", "receives", "slowest", "errors", "carrier changes", "°C")


def soak_sections(probed: RecordedProbes) -> Iterator[str]:
    """Yield a line for each host, then what the soak proves."""
    yield simple_table(_HEADINGS, _rows(probed))
    yield "\n".join(map(fill, sentences(judge_soak(probed))))


def sentences(soaked: SoakVerdict) -> Iterator[str]:
    """Yield what the soak proves: how long it was, and what it excludes."""
    under_load = f"{duration_text(soaked.link_s)} of link time under load (all hosts together)"
    if soaked.faults:
        yield f"{count_of(len(soaked.faults), 'fault')} in {under_load}."
    elif soaked.is_proof:
        which = "of a link" if soaked.is_rate_known else "of a link that come and go"
        yield (
            f"No fault in {under_load}: with 95 % confidence, faults {which} are rarer than one in "
            f"{duration_text(HOUR / soaked.max_faults_per_hour)} (rule of three)."
        )
    else:
        yield f"No fault in {under_load}, but most of the time was not judged: that proves nothing."
    if soaked.received_bits and not soaked.has_packet_errors:
        proof = (
            ": with 95 % confidence, fewer than one bit in "
            f"{quantity_text(1 / soaked.max_bit_error_rate, 'bit')} is wrong. Lost packets are not bit errors"
        )
        received = quantity_text(soaked.received_bits, "bit")
        yield (
            f"No interface counted an error in the {received} received{proof if soaked.is_proof else ''}."
        )
    if soaked.segments:
        share = soaked.retransmits / soaked.segments
        text = f"about 1 in {1 / share:,.0f}" if share else "none"
        yield f"TCP segments sent again: {soaked.retransmits:,} of about {soaked.segments:,.0f}, {text}."
    if soaked.unjudged:
        yield (
            f"Nothing was concluded from {count_of(soaked.unjudged, 'transfer')}, because a hypervisor "
            "took processor time from one of the hosts, or one of its processors was busy all the time."
        )


def _rows(probed: RecordedProbes) -> list[list[str]]:
    flows = [event for event in probed.events if isinstance(event, SoakFlow)]
    names = dict.fromkeys(host for flow in flows for host in (flow.sender, flow.receiver))
    return [_row(host, probed, flows) for host in sorted(names, key=natural_order)]


def _row(host: str, probed: RecordedProbes, flows: Sequence[SoakFlow]) -> list[str]:
    sent = [flow.goodput_bit_s for flow in flows if flow.sender == host and flow.goodput_bit_s]
    received = [
        flow.goodput_bit_s for flow in flows if flow.receiver == host and flow.goodput_bit_s
    ]
    own = [e for e in probed.events if isinstance(e, LinkEvent) and e.host == host]
    heat = [
        max(e.temperature_c)
        for e in probed.events
        if isinstance(e, LinkSeconds) and e.host == host and e.temperature_c
    ]
    counts = [
        sum(e.count for e in own if e.happening is happening)
        for happening in (LinkEventKind.ERRORS, LinkEventKind.CARRIER)
    ]
    return [
        visible(host),
        str(len({flow.round for flow in flows if host in {flow.sender, flow.receiver}})),
        *(throughput_text(median(values)) if values else UNKNOWN for values in (sent, received)),
        throughput_text(min([*sent, *received])) if sent or received else UNKNOWN,
        *map("{:,}".format, counts),
        f"{max(heat):.0f}" if heat else UNKNOWN,
    ]
