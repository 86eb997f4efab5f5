"""Throughput and costs by packet size: a panel for each quantity, a line for each configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from harness.analysis.network.packet_costs import COST_METRICS, PacketCost, packet_costs
from harness.model.network_metrics import (
    PACKET_GOODPUT,
    PACKET_RECEIVER_CPU,
    PACKET_SENDER_CPU,
    RECEIVER_CYCLES,
    RECEIVER_INSTRUCTIONS,
    RECEIVER_PACKET_COST,
    SENDER_CYCLES,
    SENDER_INSTRUCTIONS,
    SENDER_PACKET_COST,
)
from harness.model.probe import Measurement, Metric
from harness.present.data_table import DataTable, Quantity
from harness.present.packets import Sweeps
from harness.present.report import chart
from harness.present.report.chart import Figure, Picture, Series, series_of
from harness.terminal import shorten, visible

Measured = Mapping[str, Sequence[Measurement]]
"""Measurements by configuration."""

WIDTH_PX, HEIGHT_PX, COLUMNS = 240, 130, 3
_NAME_WIDTH = 60
_DASHES = [5, 4]
_HEADINGS: Mapping[Metric, str] = {
    PACKET_GOODPUT: "throughput, Gbit/s",
    PACKET_SENDER_CPU: "sender's processor time, %",
    PACKET_RECEIVER_CPU: "receiver's processor time, %",
    SENDER_INSTRUCTIONS: "sender, instructions per byte",
    RECEIVER_INSTRUCTIONS: "receiver, instructions per byte",
    SENDER_CYCLES: "sender, cycles per byte",
    RECEIVER_CYCLES: "receiver, cycles per byte",
    SENDER_PACKET_COST: "sender, processors per Gbit/s",
    RECEIVER_PACKET_COST: "receiver, processors per Gbit/s",
}
"""The panels, in their order; one without a value is left out."""
_LEGEND = (
    "Medians over all pairs of hosts and repeats, by packet size in bytes.",
    "The scale of sizes is logarithmic.",
)
_BOTH_WAYS = (
    "Dashed, hollow: both ways at once, summed over both directions; the first host is the sender."
)
_LIMITED = "TCP's maximum segment size limits the packets; the interfaces keep their MTU."
_SET = "The sizes are MTUs of the interfaces."


@dataclass(frozen=True)
class Point:
    """One quantity of a configuration, or of two drivers in it, for one packet size `x` in bytes."""

    chart: str
    line: str
    x: int
    value: float
    both_ways: bool = False


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


def figure(measured: Measured) -> Figure | None:
    """Return the figure of packet sizes; None if none was tried."""
    found = points_of({name: (some, {}) for name, some in measured.items()})
    if not found:
        return None
    by_chart = _by_chart(found)
    keys = _keys(measured, found)
    return Figure(
        anchor="mtu",
        title="Throughput and processor time by packet size",
        alternative="Lines by packet size. "
        + "; ".join(f"{heading}: {_description(of)}" for heading, of in by_chart.items()),
        pictures=tuple(
            Picture(chart.svg(_panel(of, keys)), heading=heading)
            for heading, of in by_chart.items()
        ),
        numbers=DataTable(
            ("metric", "configuration", "packet size, bytes", "direction", "median"),
            tuple(
                (
                    p.chart,
                    p.line,
                    Quantity(f"{p.x:,}", p.x),
                    _direction(p),
                    Quantity(f"{p.value:.3g}", p.value),
                )
                for p in found
            ),
        ),
        keys=keys,
        remarks=tuple(_remarks(found)),
    )


def draw(sweeps: Sweeps) -> str:
    """Return the whole figure as SVG, with a legend in words: the panels below each other, as its source."""
    found = points_of(sweeps)
    keys = _keys(sweeps, found)
    panels = [
        _panel(of, keys).properties(title=alt.TitleParams(heading, anchor="start"))
        for heading, of in _by_chart(found).items()
    ]
    names = [f"{key.glyph} {shorten(visible(name), _NAME_WIDTH)}" for name, key in keys.items()]
    kinds = {cost.case.mtu_is_set for sweep in sweeps.values() for cost in packet_costs(*sweep)}
    kind = [_SET if kinds == {True} else _LIMITED] if len(kinds) == 1 else []
    title = alt.TitleParams([*names, *_remarks(found), *kind], anchor="start")
    return chart.svg(alt.vconcat(alt.concat(*panels, columns=COLUMNS, spacing=22), title=title))


def _remarks(found: Sequence[Point]) -> Iterator[str]:
    yield from _LEGEND
    if any(point.both_ways for point in found):
        yield _BOTH_WAYS


def _direction(point: Point) -> str:
    return "both ways" if point.both_ways else "one way"


def _description(points: Sequence[Point]) -> str:
    return ", ".join(
        f"{p.line} {p.value:.3g} at {p.x} bytes{' both ways' if p.both_ways else ''}"
        for p in points
    )


def _panel(points: Sequence[Point], keys: Mapping[str, Series]) -> alt.LayerChart | alt.FacetChart:
    sizes = sorted({point.x for point in points})
    # A single size needs a domain that is not empty.
    domain = [sizes[0], max(sizes[-1], sizes[0] + 1)]
    x = alt.X(
        "x:Q",
        axis=alt.Axis(
            grid=False, values=sizes, format="d", labelOverlap="greedy", labelSeparation=6
        ),
        scale=alt.Scale(type="log", domain=domain, nice=False, padding=12),
        title=None,
    )
    y = alt.Y(
        "value:Q", axis=alt.Axis(tickCount=4, minExtent=24), scale=alt.Scale(zero=True), title=None
    )
    rows: list[dict[str, Any]] = [
        {
            "x": point.x,
            "value": point.value,
            "dash": _DASHES if point.both_ways else [1, 0],
            "line": f"{point.line} {_direction(point)}",
            **keys[point.line].mark,
            "inside": chart.PAPER if point.both_ways else keys[point.line].colour,
        }
        for point in points
    ]
    lines = alt.Chart(chart.data(rows)).encode(
        x=x, y=y, color=alt.Color("colour:N", scale=None), detail="line:N"
    )
    return alt.layer(
        lines.mark_line(strokeWidth=2).encode(strokeDash=alt.StrokeDash("dash:N", scale=None)),
        lines.mark_point(size=42, opacity=1).encode(
            shape=alt.Shape("shape:N", scale=None), fill=alt.Fill("inside:N", scale=None)
        ),
    ).properties(width=WIDTH_PX, height=HEIGHT_PX)


def _by_chart(points: Sequence[Point]) -> dict[str, list[Point]]:
    charts: dict[str, list[Point]] = {}
    for point in points:
        charts.setdefault(point.chart, []).append(point)
    return charts


def _keys(configurations: Mapping[str, object], points: Sequence[Point]) -> dict[str, Series]:
    """Return the series of the lines; a configuration's own line has the colour of the other figures."""
    lines = list(dict.fromkeys(point.line for point in points))
    keys = series_of(dict.fromkeys((*configurations, *lines)))
    if not set(configurations) & set(lines):
        keys = series_of(lines)
    return {line: keys[line] for line in lines}
