"""What packets of each size carry and cost, as tables: one configuration, or several one below the other."""

from collections.abc import Callable, Mapping, Sequence

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
from harness.present.probes.columns import Column
from harness.present.text import simple_table
from harness.words import visible

Sweeps = Mapping[str, tuple[Sequence[Measurement], Mapping[str, HostLink]]]
"""The measurements of each configuration, and the links of its hosts by name."""

Row = tuple[str, PacketCost]
"""The name of a configuration, and what packets of one size cost in it."""


def _cost(metric: Metric) -> Callable[[Row], float | None]:
    return lambda row: row[1].costs.get(metric)


_PROCESSOR_TIME = (
    Column[Row]("goodput Mbit/s", lambda row: row[1].goodput_bit_s, ".1f", 1e-6),
    Column("sender CPU", _cost(PACKET_CPU.sender), ".1f", unit="%"),
    Column("receiver CPU", _cost(PACKET_CPU.receiver), ".1f", unit="%"),
    Column("sender", _cost(PACKET_COST.sender), ".2f"),
    Column("receiver", _cost(PACKET_COST.receiver), ".2f"),
    Column[Row]("failed", lambda row: str(row[1].failed or "")),
)
_WORK = (
    Column("instr/byte, sender", _cost(INSTRUCTIONS.sender), ".2f"),
    Column("receiver", _cost(INSTRUCTIONS.receiver), ".2f"),
    Column("cycles/byte, sender", _cost(CYCLES.sender), ".2f"),
    Column("receiver", _cost(CYCLES.receiver), ".2f"),
)
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
    sections = [f"{_TITLE}\n{_table(rows, _PROCESSOR_TIME)}"]
    if any(cost.case.both_ways for _, cost in rows):
        sections.append(_BOTH_WAYS)
    counted = [row for row in rows if any(column.value(row) is not None for column in _WORK)]
    if counted:
        title = "instructions and cycles of all processors for each byte"
        sections.append(f"{title}\n{_table(counted, _WORK)}")
    return sections


def _table(rows: Sequence[Row], columns: Sequence[Column[Row]]) -> str:
    """Return a line for each configuration, packet size and pair of drivers."""
    named = any(name for name, _ in rows)
    # A column without a heading is aligned to the left.
    headings = [*(["configuration", ""] if named else ["packets"]), *(c.heading for c in columns)]
    lines, last = [], ""
    for name, cost in rows:
        size = visible(", ".join(filter(None, (str(cost.case), cost.drivers))))
        first = [visible(name) if name != last else "", size] if named else [size]
        lines.append([*first, *(column.text((name, cost)) for column in columns)])
        last = name
    return simple_table(headings, lines)


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
