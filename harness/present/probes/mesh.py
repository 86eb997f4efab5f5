"""TCP goodput between each pair of hosts, its cost on both sides, and what is slow."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from harness.analysis.network.mesh import PairMatrix, pair_matrix
from harness.base.words import count_of, shorten, visible
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
from harness.present.probes import UNKNOWN
from harness.present.text import simple_table

_NAME_WIDTH = 16
_MAX_COLUMNS = 10
"""A terminal is wide enough for a column for each of so few hosts."""
_MAX_LINES, _WORST = 24, 10
"""Of more hosts than fit a screen, only the worst are listed."""
_COSTS = (IPERF_CPU, HOST_CPU, SOFTIRQ)
_COST_HEADINGS = ("host", "", "of theory", "retransmits", "iperf3", "host", "softirq")


def mesh_sections(probed: RecordedProbes) -> Iterator[str]:
    """Yield the goodput of every pair, and its costs; nothing without a pair."""
    one_way, both_ways = (
        pair_matrix(probed.measurements, MESH_GOODPUT, case) for case in ("", BOTH_WAYS)
    )
    if not one_way.hosts:
        return
    yield _goodput("", one_way)
    if both_ways.hosts:
        yield _goodput(", both ways at once", both_ways)
    yield _costs(probed, one_way)


def _goodput(case: str, goodput: PairMatrix) -> str:
    by_pair = len(goodput.hosts) <= _MAX_COLUMNS
    what = "rows send, columns receive" if by_pair else "of each host, when it sends and receives"
    title = f"goodput in Mbit/s{case}; {what}"
    return f"{title}\n{pair_table(goodput, lambda bit_s: f'{bit_s / 1e6:.1f}')}"


def _costs(probed: RecordedProbes, goodput: PairMatrix) -> str:
    """Return two lines for each host, as sender and as receiver: medians over its peers."""
    measurements = probed.measurements
    of_theory = _of_theory(goodput, probed.links(), _streams(probed))
    retransmits = pair_matrix(measurements, RETRANSMITS)
    costs = [
        [pair_matrix(measurements, metric) for metric in metrics]
        for metrics in zip(*_COSTS, strict=True)
    ]
    sent, received = ([of_theory, *of_end] for of_end in costs)
    rows = []
    for host in _shown(goodput):
        counts = retransmits.sent_by(host).values()
        relative, *others = (_percent(cost.sent_by(host).values()) for cost in sent)
        total = f"{sum(counts):.0f}" if counts else UNKNOWN
        rows.append([_host_name(host), "sends", relative, total, *others])
        relative, *others = (_percent(cost.received_by(host).values()) for cost in received)
        rows.append(["", "receives", relative, "", *others])
    title = (
        "goodput relative to the theoretical maximum; processor time of iperf3, relative to one "
        "processor,\nand of the host, relative to all"
    )
    return f"{title}\n{simple_table(_COST_HEADINGS, rows)}"


def _streams(probed: RecordedProbes) -> int:
    """Return the connections of a transfer, which a record has as text."""
    text = str(probed.run.parameters.get("streams", ""))
    return int(text) if text.isdecimal() and text != "0" else 1


def _of_theory(goodput: PairMatrix, links: Mapping[str, HostLink], streams: int) -> PairMatrix:
    """Return the goodput in percent of what the links at both ends can carry, where it is known."""
    percentages = {
        (sender, receiver): 100 * value / theory
        for (sender, receiver), value in goodput.values.items()
        if (theory := max_goodput_bit_s(links.get(sender), links.get(receiver), streams))
    }
    return replace(goodput, values=percentages)


def _percent(values: Collection[float]) -> str:
    return f"{median(values):.1f}%" if values else UNKNOWN


def pair_table(pairs: PairMatrix, form: Callable[[float], str]) -> str:
    """Return a table with a line for each sender and a column for each receiver.

    `form` formats a value. If there are too many hosts for columns, each
    host has one line with the minimum and the median of what it sends and receives.
    """
    if len(pairs.hosts) > _MAX_COLUMNS:
        return _summary_table(pairs, form)
    rows = [
        [
            _host_name(sender),
            *(_pair_cell(pairs, (sender, receiver), form) for receiver in pairs.hosts),
        ]
        for sender in pairs.hosts
    ]
    return simple_table(["", *map(_host_name, pairs.hosts)], rows)


def _pair_cell(pairs: PairMatrix, pair: Pair, form: Callable[[float], str]) -> str:
    if pair in pairs.values:
        return form(pairs.values[pair])
    if pair in pairs.errors:
        return "failed"
    return ""


def _summary_table(pairs: PairMatrix, form: Callable[[float], str]) -> str:
    rows = []
    for host in (shown := _shown(pairs)):
        sent, received = pairs.sent_by(host).values(), pairs.received_by(host).values()
        failed = pairs.failures(host)
        rows.append([_host_name(host), *_range(sent, form), *_range(received, form), f"{failed}"])
    headings = ["host", "sends: min", "median", "receives: min", "median", "failed transfers"]
    better = len(pairs.hosts) - len(shown)
    more = [f"and {count_of(better, 'host')} with better medians"] if better else []
    return "\n".join([simple_table(headings, rows), *more])


def _shown(pairs: PairMatrix) -> Sequence[str]:
    """Return the hosts that have a line; of very many, the hosts with the lowest medians."""
    if len(pairs.hosts) <= _MAX_LINES:
        return pairs.hosts
    return sorted(pairs.hosts, key=partial(_goodness, pairs))[:_WORST]


def _goodness(pairs: PairMatrix, host: str) -> float:
    """Return the median of what the host sends or receives, whichever is lower; a failure counts as 0."""
    half = [0.0] * (pairs.failures(host) // 2)
    return min(
        median([*half, *of(host).values()] or [0.0]) for of in (pairs.sent_by, pairs.received_by)
    )


def _range(values: Collection[float], form: Callable[[float], str]) -> tuple[str, str]:
    if not values:
        return UNKNOWN, UNKNOWN
    return form(min(values)), form(median(values))


def _host_name(host: str) -> str:
    return shorten(visible(host), _NAME_WIDTH)
