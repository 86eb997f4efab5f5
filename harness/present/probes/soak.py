"""The page of a soak: a line for each host."""

from collections.abc import Iterator, Sequence
from statistics import median

from harness.analysis.network.mesh import natural_order
from harness.analysis.network.soak import soak_flows
from harness.model.link import throughput_text
from harness.model.probe import RecordedProbes
from harness.model.soak import LinkEvent, LinkEventKind, SoakFlow
from harness.present.probes import UNKNOWN
from harness.present.text import simple_table
from harness.words import visible

_HEADINGS = (
    *("host", "rounds", "sends", "receives", "slowest"),
    *("retransmits", "errors", "carrier changes"),
)


def soak_sections(probed: RecordedProbes) -> Iterator[str]:
    """Yield a table with a line for each host; nothing without a transfer."""
    flows = soak_flows(probed)
    events = [event for event in probed.events if isinstance(event, LinkEvent)]
    names = {host for flow in flows for host in flow.pair}
    if names:
        rows = [_row(host, flows, events) for host in sorted(names, key=natural_order)]
        yield simple_table(_HEADINGS, rows)


def _row(host: str, flows: Sequence[SoakFlow], events: Sequence[LinkEvent]) -> list[str]:
    own = [flow for flow in flows if host in flow.pair]
    sent = [flow.goodput_bit_s for flow in own if flow.sender == host and flow.goodput_bit_s]
    received = [flow.goodput_bit_s for flow in own if flow.receiver == host and flow.goodput_bit_s]
    counts = (
        sum(flow.retransmits or 0 for flow in own if flow.sender == host),
        *(
            sum(event.count for event in events if event.host == host and event.event is kind)
            for kind in (LinkEventKind.ERRORS, LinkEventKind.CARRIER)
        ),
    )
    return [
        visible(host),
        str(len({flow.round for flow in own})),
        *(throughput_text(median(values)) if values else UNKNOWN for values in (sent, received)),
        throughput_text(min([*sent, *received])) if sent or received else UNKNOWN,
        *map("{:,}".format, counts),
    ]
