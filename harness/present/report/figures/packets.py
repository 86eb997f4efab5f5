"""Throughput and costs by packet size: a panel for each quantity, a line for each configuration."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from harness.analysis.network.packet_costs import COST_METRICS, PacketCost, packet_costs
from harness.model.network_metrics import (
    CYCLES,
    INSTRUCTIONS,
    PACKET_COST,
    PACKET_CPU,
    PACKET_GOODPUT,
)
from harness.model.probe import Metric
from harness.present.data_table import DataTable, Quantity
from harness.present.packets import Sweeps
from harness.present.report.chart import Series, Spec, quantity
from harness.present.report.figure import Evidence, Figure, Section, alternative, grouped, picture
from harness.present.report.lines import Point, keys_of, panel
from harness.words import significant

_PX = (240, 130)
_DIGITS = 3
_HEADINGS: Mapping[Metric, str] = {
    PACKET_GOODPUT: "throughput, Gbit/s",
    PACKET_CPU.sender: "sender's processor time, %",
    PACKET_CPU.receiver: "receiver's processor time, %",
    INSTRUCTIONS.sender: "sender, instructions per byte",
    INSTRUCTIONS.receiver: "receiver, instructions per byte",
    CYCLES.sender: "sender, cycles per byte",
    CYCLES.receiver: "receiver, cycles per byte",
    PACKET_COST.sender: "sender, processors per Gbit/s",
    PACKET_COST.receiver: "receiver, processors per Gbit/s",
}
"""The panels, in their order; one without a value is left out."""
_LEGEND = (
    "Medians over all pairs of hosts and repeats, by packet size in bytes.",
    "The scale of sizes is logarithmic.",
)
_BOTH_WAYS = (
    "Dashed, hollow: both ways at once, summed over both directions; the first host is the sender."
)


def points_of(sweeps: Sweeps) -> tuple[Point, ...]:
    """Return the points by panel, line and packet size."""
    costs = {name: packet_costs(*sweep) for name, sweep in sweeps.items()}
    ways_to_limit = {cost.case.mtu_is_set for found in costs.values() for cost in found}
    return tuple(
        Point(
            heading,
            _line(name, cost, distinguish=len(ways_to_limit) > 1),
            cost.case.packet_bytes,
            value,
            cost.case.both_ways,
        )
        for metric, heading in _HEADINGS.items()
        for name, found in costs.items()
        for cost in found
        if (value := _value(cost, metric)) is not None
    )


def _value(cost: PacketCost, metric: Metric) -> float | None:
    if metric in COST_METRICS:
        return cost.costs.get(metric)
    return None if cost.goodput_bit_s is None else cost.goodput_bit_s / 1e9


def _line(name: str, cost: PacketCost, *, distinguish: bool) -> str:
    """Return the name of a line; it tells drivers, and ways to limit packets, only where they differ."""
    limit = "MTU set" if cost.case.mtu_is_set else "segments limited"
    about = [cost.drivers.replace("<->", "->"), limit if distinguish else ""]
    return ", ".join(filter(None, (name, *about)))


@partial(Section, 80, "mtu", "Throughput and processor time by packet size")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure of packet sizes; None if none was tried."""
    found = points_of(
        {name: (some, evidence.links.get(name, {})) for name, some in evidence.measured.items()}
    )
    if not found:
        return None
    keys = keys_of(found, evidence.measured)
    panels = grouped(found, lambda point: point.panel)
    return Figure(
        alternative=alternative(
            "Lines by packet size.", ((heading, _description(of)) for heading, of in panels.items())
        ),
        pictures=tuple(
            picture(_panel(of, keys), heading=heading) for heading, of in panels.items()
        ),
        numbers=DataTable.of(
            {
                "metric": p.panel,
                "configuration": p.line,
                "packet size, bytes": Quantity.of(p.x, "{:,}".format),
                "direction": p.direction,
                "median": _value_text(p),
            }
            for p in found
        ),
        keys=keys,
        remarks=tuple(_remarks(found)),
    )


def _remarks(found: Sequence[Point]) -> Iterator[str]:
    yield from _LEGEND
    if any(point.both_ways for point in found):
        yield _BOTH_WAYS


def _value_text(point: Point) -> Quantity:
    return Quantity(significant(point.value, _DIGITS), point.value)


def _description(points: Sequence[Point]) -> str:
    return ", ".join(
        f"{p.line} {_value_text(p).text} at {p.x} bytes{' both ways' if p.both_ways else ''}"
        for p in points
    )


def _panel(points: Sequence[Point], keys: Mapping[str, Series]) -> Spec:
    sizes = sorted({point.x for point in points})
    labels = {"values": sizes, "format": "d", "labelOverlap": "greedy", "labelSeparation": 6}
    # A single size needs a scale that is not empty.
    x = quantity(
        "x",
        axis={"grid": False, **labels},
        ends=(sizes[0], max(sizes[-1], sizes[0] + 1)),
        scale={"type": "log", "padding": 12},
    )
    y = quantity("value", axis={"tickCount": 4, "minExtent": 24}, scale={"zero": True})
    return panel(points, keys, x, y, _PX)
