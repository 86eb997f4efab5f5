"""TCP goodput between each pair of hosts, and its cost on both sides."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from harness.analysis.network.measured import PairMatrix, pair_matrix
from harness.base.words import count_of, label
from harness.model.interface import HostLink, max_goodput_bit_s
from harness.model.network_metrics import (
    BOTH_WAYS,
    HOST_CPU,
    IPERF_CPU,
    MESH_GOODPUT,
    RETRANSMITS,
    SOFTIRQ,
)
from harness.model.probe import Pair, RecordedProbes
from harness.present.blocks import Block, Heading, Table
from harness.present.probes.columns import UNKNOWN, numbers

_NAME_WIDTH = 16
_MAX_COLUMNS = 10
"""A terminal is wide enough for a column for each of this many hosts."""
_MAX_LINES = 24
_WORST = 10
"""If there are more than _MAX_LINES hosts, only the worst are listed."""
_COSTS = (IPERF_CPU, HOST_CPU, SOFTIRQ)
_COST_HEADINGS = ("host", "", "of theory", "retransmits", "iperf3", "host", "softirq")


def mesh_sections(probed: RecordedProbes) -> Iterator[Block]:
    """Yield the goodput of every pair, and its costs; nothing without a pair."""
    one_way = pair_matrix(probed.measurements, MESH_GOODPUT)
    both_ways = pair_matrix(probed.measurements, MESH_GOODPUT, BOTH_WAYS)
    if not one_way.hosts:
        return
    yield from _goodput("", one_way)
    if both_ways.hosts:
        yield from _goodput(", both ways at once", both_ways)
    yield Heading(
        "goodput relative to the theoretical maximum; processor time of iperf3, relative to one processor,"
    )
    yield Heading("and of the host, relative to all")
    yield _costs(probed, one_way)


def _goodput(case: str, goodput: PairMatrix) -> Iterator[Block]:
    by_pair = len(goodput.hosts) <= _MAX_COLUMNS
    order = "rows send, columns receive" if by_pair else "of each host, when it sends and receives"
    yield Heading(f"goodput in Mbit/s{case}; {order}")
    yield pair_table(goodput, lambda bit_s: f"{bit_s / 1e6:.1f}")


def _costs(probed: RecordedProbes, goodput: PairMatrix) -> Table:
    """Return two lines for each host, as sender and as receiver: medians over its peers."""
    of_theory = _percent_of_theory(goodput, probed.links(), _streams(probed))
    retransmits = pair_matrix(probed.measurements, RETRANSMITS)
    sent = [of_theory]
    received = [of_theory]
    for metrics in _COSTS:
        sent.append(pair_matrix(probed.measurements, metrics.sender))
        received.append(pair_matrix(probed.measurements, metrics.receiver))
    rows = []
    for host in _shown(goodput):
        counts = retransmits.sent_by[host].values()
        total = f"{sum(counts):.0f}" if counts else UNKNOWN
        relative, *others = (_percent(cost.sent_by[host].values()) for cost in sent)
        rows.append([_host_name(host), "sends", relative, total, *others])
        relative, *others = (_percent(cost.received_by[host].values()) for cost in received)
        rows.append(["", "receives", relative, "", *others])
    return numbers(_COST_HEADINGS, rows)


def _streams(probed: RecordedProbes) -> int:
    """Return the connections of a transfer, which a record has as text."""
    text = str(probed.run.parameters.get("streams", ""))
    if text.isdecimal() and text != "0":
        return int(text)
    return 1


def _percent_of_theory(
    goodput: PairMatrix, links: Mapping[str, HostLink], streams: int
) -> PairMatrix:
    """Return the goodput in percent of the theoretical maximum of both links, where it is known."""
    percentages = {}
    for pair, bit_s in goodput.values.items():
        theory = max_goodput_bit_s(links.get(pair[0]), links.get(pair[1]), streams)
        if theory:
            percentages[pair] = 100 * bit_s / theory
    return replace(goodput, values=percentages)


def _percent(values: Collection[float]) -> str:
    if values:
        return f"{median(values):.1f}%"
    return UNKNOWN


def pair_table(pairs: PairMatrix, form: Callable[[float], str]) -> Table:
    """Return a table with a line for each sender and a column for each receiver.

    `form` formats a value. If there are too many hosts for columns, each host has one line with the minimum
    and the median, when it sends and when it receives.
    """
    if len(pairs.hosts) > _MAX_COLUMNS:
        return _summary_table(pairs, form)
    rows = []
    for sender in pairs.hosts:
        cells = [_pair_cell(pairs, (sender, receiver), form) for receiver in pairs.hosts]
        rows.append([_host_name(sender), *cells])
    return Table(["", *map(_host_name, pairs.hosts)], rows)


def _pair_cell(pairs: PairMatrix, pair: Pair, form: Callable[[float], str]) -> str:
    if pair in pairs.values:
        return form(pairs.values[pair])
    return "failed" if pair in pairs.errors else ""


def _summary_table(pairs: PairMatrix, form: Callable[[float], str]) -> Table:
    shown = _shown(pairs)
    rows = []
    for host in shown:
        sent = _range(pairs.sent_by[host].values(), form)
        received = _range(pairs.received_by[host].values(), form)
        rows.append([_host_name(host), *sent, *received, str(pairs.failures[host])])
    headings = ["host", "sends: min", "median", "receives: min", "median", "failed transfers"]
    better = len(pairs.hosts) - len(shown)
    remarks = [f"and {count_of(better, 'host')} with better medians"] if better else []
    return Table(headings, rows, remarks=remarks)


def _shown(pairs: PairMatrix) -> Sequence[str]:
    """Return the hosts that have a line: all, or if they are very many, those with the lowest medians."""
    if len(pairs.hosts) <= _MAX_LINES:
        return pairs.hosts
    return sorted(pairs.hosts, key=partial(_goodness, pairs))[:_WORST]


def _goodness(pairs: PairMatrix, host: str) -> float:
    """Return the median goodput when the host sends or receives, whichever is lower; failures count as 0."""
    medians = []
    for by_host in (pairs.sent_by, pairs.received_by):
        values = [0.0] * (pairs.failures[host] // 2)
        values += by_host[host].values()
        medians.append(median(values or [0.0]))
    return min(medians)


def _range(values: Collection[float], form: Callable[[float], str]) -> tuple[str, str]:
    if not values:
        return UNKNOWN, UNKNOWN
    return form(min(values)), form(median(values))


def _host_name(host: str) -> str:
    return label(host, _NAME_WIDTH)
