"""The mesh: who sends how much to whom, what it costs either, and what is slow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import median

from harness.analysis.mesh import Matrix, matrix, slowness
from harness.model.interface import HostLink, max_goodput_bit_s
from harness.model.network_metrics import (
    BOTH_WAYS,
    MESH_GOODPUT,
    RECEIVER_CPU,
    RECEIVER_IPERF_CPU,
    RECEIVER_SOFTIRQ,
    RETRANSMITS,
    SENDER_CPU,
    SENDER_IPERF_CPU,
    SENDER_SOFTIRQ,
)
from harness.model.probe import Measurement, RecordedProbes
from harness.present.probes.grid import UNKNOWN, footnotes, grid, name, table
from harness.present.table import Footnotes
from harness.terminal import visible

_SENDING = (SENDER_IPERF_CPU, SENDER_CPU, SENDER_SOFTIRQ)
_RECEIVING = (RECEIVER_IPERF_CPU, RECEIVER_CPU, RECEIVER_SOFTIRQ)
_HEADERS = ("host", "", "of theory", "retransmits", "iperf3", "host", "softirq")


def render(probed: RecordedProbes) -> str:
    """Goodput from everybody to everybody, what it cost, and a line on each that is slow."""
    measurements, links = probed.measurements, probed.links()
    one_way = pair_matrix(measurements, MESH_GOODPUT)
    both_ways = pair_matrix(measurements, MESH_GOODPUT, BOTH_WAYS)
    notes = Footnotes()
    sections = [_goodput("", one_way, notes)]
    if both_ways.hosts:
        sections.append(_goodput(", both ways at once", both_ways, notes))
    sections += [_costs(measurements, one_way, links), _remarks(one_way, both_ways)]
    return "\n\n".join([*sections, *footnotes(notes)]) + "\n"


def _goodput(how: str, held: PairMatrix, notes: Footnotes) -> str:
    title = f"goodput in Mbit/s{how}; rows send, columns receive"
    return f"{title}\n{grid(held, _mbit, notes)}"


def _remarks(one_way: PairMatrix, both_ways: PairMatrix) -> str:
    lines = slow_hosts_and_pairs(one_way)
    lines += [f"{line} (both ways at once)" for line in slow_hosts_and_pairs(both_ways)]
    return "\n".join(map(visible, lines)) or "no host and no pair is slower than usual"


def _costs(
    measurements: Sequence[Measurement], goodput: PairMatrix, links: Mapping[str, HostLink]
) -> str:
    """A line for each host as sender, and as receiver: the medians over its peers."""
    retransmits = pair_matrix(measurements, RETRANSMITS)
    sending = [pair_matrix(measurements, metric) for metric in _SENDING]
    receiving = [pair_matrix(measurements, metric) for metric in _RECEIVING]
    share = _of_theory(goodput, links)
    rows = []
    for host in goodput.hosts:
        lost = retransmits.sent_by(host).values()
        costs = [_percent(held.sent_by(host).values()) for held in sending]
        total = f"{sum(lost):.0f}" if lost else UNKNOWN
        rows.append([name(host), "sends", _percent(share.sent_by(host).values()), total, *costs])
        costs = [_percent(held.received_by(host).values()) for held in receiving]
        rows.append(["", "receives", _percent(share.received_by(host).values()), "", *costs])
    title = "share of what links and MTU allow; processor time: iperf3's, of one; the host's, of all its"
    return f"{title}\n{table(_HEADERS, rows)}"


def _of_theory(goodput: PairMatrix, links: Mapping[str, HostLink]) -> PairMatrix:
    """Goodput in percent of what the links at both ends can carry, where that is known."""
    shares = {
        (sender, receiver): 100 * value / theory
        for (sender, receiver), value in goodput.values.items()
        if (theory := max_goodput_bit_s(links.get(sender), links.get(receiver)))
    }
    return replace(goodput, values=shares)


def _percent(values: Collection[float]) -> str:
    return f"{median(values):.1f}%" if values else UNKNOWN


def _mbit(bit_s: float) -> str:
    return f"{bit_s / 1e6:.1f}"
