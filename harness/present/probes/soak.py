"""The page of a soak: a line for each host."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from harness.analysis.network.soak import soak_flows
from harness.base.words import natural_order
from harness.model.link import throughput_text
from harness.model.probe import RecordedProbes
from harness.model.soak import LinkEvent, LinkEventKind, SoakFlow
from harness.present.probes.columns import Column, ProbeTable


@dataclass(frozen=True)
class SoakedHost:
    """A host, the transfers in which it sent or received, and what happened to its link."""

    host: str
    flows: Sequence[SoakFlow]
    events: Sequence[LinkEvent]
    errors: tuple[str, ...] = ()

    @property
    def sent(self) -> list[float]:
        """The goodputs in bit/s with which it sent."""
        return [f.goodput_bit_s for f in self.flows if f.sender == self.host and f.goodput_bit_s]

    @property
    def received(self) -> list[float]:
        """The goodputs in bit/s with which it received."""
        return [f.goodput_bit_s for f in self.flows if f.receiver == self.host and f.goodput_bit_s]

    @property
    def retransmits(self) -> int | None:
        """How many segments it sent again; None if a transfer did not tell."""
        counted = [f.retransmits for f in self.flows if f.sender == self.host and f.goodput_bit_s]
        known = [number for number in counted if number is not None]
        return sum(known) if known and len(known) == len(counted) else None

    def count(self, kind: LinkEventKind) -> int | None:
        """Return how often an event of this kind was counted; None if the host does not show it."""
        if any(event.unread is kind for event in self.events):
            return None
        return sum(event.count for event in self.events if event.event is kind)


def _soaked_hosts(probed: RecordedProbes) -> list[SoakedHost]:
    flows = soak_flows(probed)
    events = [event for event in probed.events if isinstance(event, LinkEvent)]
    return [
        SoakedHost(
            host,
            [flow for flow in flows if host in flow.pair],
            [event for event in events if event.host == host],
        )
        for host in sorted({host for flow in flows for host in flow.pair}, key=natural_order)
    ]


def _rate(bit_s: float | None) -> str | None:
    return None if bit_s is None else throughput_text(bit_s)


SOAKED_HOSTS = ProbeTable(
    _soaked_hosts,
    (
        Column[SoakedHost]("host", lambda row: row.host),
        Column[SoakedHost]("rounds", lambda row: len({f.round for f in row.flows}), ",.0f"),
        Column[SoakedHost]("sends", lambda row: _rate(median(row.sent) if row.sent else None)),
        Column[SoakedHost](
            "receives", lambda row: _rate(median(row.received) if row.received else None)
        ),
        Column[SoakedHost](
            "slowest", lambda row: _rate(min([*row.sent, *row.received], default=None))
        ),
        Column[SoakedHost]("retransmits", lambda row: row.retransmits, ",.0f"),
        Column[SoakedHost]("errors", lambda row: row.count(LinkEventKind.ERRORS), ",.0f"),
        Column[SoakedHost]("carrier changes", lambda row: row.count(LinkEventKind.CARRIER), ",.0f"),
    ),
)
