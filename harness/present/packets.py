"""What packets of each size carry and cost, as tables: one configuration, or several one below the other."""

from collections.abc import Mapping, Sequence

from harness.analysis.network.packet_costs import PacketCost, packet_costs
from harness.model.interface import HostLink
from harness.model.network_metrics import (
    CYCLES,
    HARDWARE_COUNTERS,
    INSTRUCTIONS,
    PACKET_COST,
    PACKET_CPU,
)
from harness.model.probe import Measurement, Metric
from harness.present.text import simple_table
from harness.terminal import visible

UNKNOWN = "?"
Sweeps = Mapping[str, tuple[Sequence[Measurement], Mapping[str, HostLink]]]
"""The measurements of each configuration, and the links of its hosts by name."""

_PROCESSOR_TIME: Mapping[Metric, tuple[str, str]] = {
    PACKET_CPU.sender: ("sender CPU", ".1f"),
    PACKET_CPU.receiver: ("receiver CPU", ".1f"),
    PACKET_COST.sender: ("sender", ".2f"),
    PACKET_COST.receiver: ("receiver", ".2f"),
}
_WORK: Mapping[Metric, tuple[str, str]] = {
    INSTRUCTIONS.sender: ("instr/byte, sender", ".2f"),
    INSTRUCTIONS.receiver: ("receiver", ".2f"),
    CYCLES.sender: ("cycles/byte, sender", ".2f"),
    CYCLES.receiver: ("receiver", ".2f"),
}
"""Headings and formats of the columns."""
_TITLE = (
    "goodput of packet sizes; processor time of each host in percent of all its processors, and the number\n"
    "of processors that 1 Gbit/s keeps busy (1 is 8 ns for each byte)"
)
_BOTH_WAYS = (
    "both ways: the goodput is the sum of both directions; the sender is the host that is named first, and "
    "costs\nare for each byte that it sends or receives"
)


def packet_sections(sweeps: Sweeps) -> list[str]:
    """Return the tables of the sweeps; none if no packet size was measured."""
    costs = {name: packet_costs(*sweep) for name, sweep in sweeps.items()}
    rows = [(name, cost) for name, found in costs.items() for cost in found]
    if not rows:
        return []
    table = _table(rows, _PROCESSOR_TIME, with_goodput=True)
    sections = [f"{_TITLE}\n{table}"]
    if any(cost.case.both_ways for _, cost in rows):
        sections.append(_BOTH_WAYS)
    counted = [(name, cost) for name, cost in rows if any(metric in cost.costs for metric in _WORK)]
    if counted:
        title = "instructions and cycles of all processors for each byte"
        sections.append(f"{title}\n{_table(counted, _WORK)}")
    return sections


def _table(
    rows: Sequence[tuple[str, PacketCost]],
    columns: Mapping[Metric, tuple[str, str]],
    *,
    with_goodput: bool = False,
) -> str:
    """Return a line for each configuration, packet size and pair of drivers."""
    named = any(name for name, _ in rows)
    # A column without a heading is aligned to the left.
    headings = ["configuration", ""] if named else ["packets"]
    headings += [*(["goodput Mbit/s"] if with_goodput else [])]
    headings += [heading for heading, _ in columns.values()]
    headings += [*(["failed"] if with_goodput else [])]
    lines, last = [], ""
    for name, cost in rows:
        goodput = UNKNOWN if cost.goodput_bit_s is None else f"{cost.goodput_bit_s / 1e6:.1f}"
        drivers = f", {cost.drivers}" if cost.drivers else ""
        lines.append(
            [
                *([visible(name) if name != last else ""] if named else []),
                visible(f"{cost.case}{drivers}"),
                *([goodput] if with_goodput else []),
                *(_value(cost, metric, form) for metric, (_, form) in columns.items()),
                *([str(cost.failed or "")] if with_goodput else []),
            ]
        )
        last = name
    return simple_table(headings, lines)


def _value(cost: PacketCost, metric: Metric, form: str) -> str:
    value = cost.costs.get(metric)
    unit = "%" if metric.unit == "%" else ""
    return UNKNOWN if value is None else f"{value:{form}}{unit}"


def uncounted(sweeps: Sweeps) -> str:
    """Return why hosts count neither instructions nor cycles; empty if all do, or if nobody asked."""
    errors = dict.fromkeys(
        measurement.error
        for measurements, _ in sweeps.values()
        for measurement in measurements
        if measurement.metric == HARDWARE_COUNTERS.name and measurement.error is not None
    )
    lines = "\n".join(visible(f"- {error}") for error in errors)
    return f"instructions and cycles per byte are unknown:\n{lines}" if errors else ""
