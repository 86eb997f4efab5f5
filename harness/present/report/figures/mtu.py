"""Throughput, and processor time at both ends, by packet size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import altair as alt

from harness.model.network_metrics import PACKET_GOODPUT, RECEIVER_PACKET_COST, SENDER_PACKET_COST
from harness.model.probe import Measurement, Metric
from harness.present.report import chart
from harness.present.report.figure import DataTable, Figure, Picture, Quantity, Series, series_of

WIDTH_PX, HEIGHT_PX = 240, 130
_SIZE = re.compile(r"packets of (\d+) bytes")
HEADINGS: Mapping[Metric, str] = {
    PACKET_GOODPUT: "throughput, Gbit/s",
    SENDER_PACKET_COST: "sender, processors per Gbit/s",
    RECEIVER_PACKET_COST: "receiver, processors per Gbit/s",
}
LEGEND = (
    "Medians over all pairs of hosts and repeats, by packet size in bytes. The scale of sizes is "
    "logarithmic."
)


@dataclass(frozen=True)
class Point:
    """The median over pairs and repeats, in the unit of the heading."""

    metric: Metric
    configuration: str
    packet_bytes: int
    value: float


def points(measured: Mapping[str, Sequence[Measurement]]) -> tuple[Point, ...]:
    """Return the points by metric, configuration and packet size."""
    return tuple(
        point
        for metric in HEADINGS
        for configuration, measurements in measured.items()
        for point in _points(metric, configuration, measurements)
    )


def _points(
    metric: Metric, configuration: str, measurements: Sequence[Measurement]
) -> Iterator[Point]:
    by_size: dict[int, list[float]] = {}
    for measurement in measurements:
        size = _SIZE.fullmatch(measurement.case)
        is_metric = (measurement.probe, measurement.metric) == (metric.probe, metric.name)
        if is_metric and size and measurement.value is not None:
            by_size.setdefault(int(size[1]), []).append(measurement.value)
    scale = 1e9 if metric is PACKET_GOODPUT else 1
    for packet_bytes, values in sorted(by_size.items()):
        yield Point(metric, configuration, packet_bytes, median(values) / scale)


def figure(measured: Mapping[str, Sequence[Measurement]]) -> Figure | None:
    """Return the figure of measurements by configuration; None if no packet size was tried."""
    found = points(measured)
    if not found:
        return None
    keys = series_of(measured)
    by_metric = {
        metric: [point for point in found if point.metric is metric]
        for metric in dict.fromkeys(point.metric for point in found)
    }
    return Figure(
        anchor="mtu",
        title="Throughput and processor time by packet size",
        alternative="Lines by packet size. "
        + "; ".join(f"{HEADINGS[m]}: {_description(of)}" for m, of in by_metric.items()),
        pictures=tuple(
            Picture(_draw(of, keys), heading=HEADINGS[metric]) for metric, of in by_metric.items()
        ),
        numbers=DataTable(
            ("metric", "configuration", "packet size, bytes", "median"),
            tuple(
                (
                    HEADINGS[p.metric],
                    p.configuration,
                    Quantity(f"{p.packet_bytes:,}", p.packet_bytes),
                    Quantity(f"{p.value:.3g}", p.value),
                )
                for p in found
            ),
        ),
        keys={name: keys[name] for name in dict.fromkeys(point.configuration for point in found)},
        remarks=(LEGEND,),
    )


def _description(points: Sequence[Point]) -> str:
    return ", ".join(f"{p.configuration} {p.value:.3g} at {p.packet_bytes} bytes" for p in points)


def _draw(points: Sequence[Point], series: Mapping[str, Series]) -> str:
    rows = [
        {
            "bytes": point.packet_bytes,
            "value": point.value,
            **series[point.configuration].mark,
        }
        for point in points
    ]
    sizes = sorted({point.packet_bytes for point in points})
    # A single size needs a domain that is not empty.
    domain = [sizes[0], max(sizes[-1], sizes[0] + 1)]
    x = alt.X(
        "bytes:Q",
        axis=alt.Axis(grid=False, values=sizes, format="d", labelOverlap="greedy"),
        scale=alt.Scale(type="log", domain=domain, nice=False, padding=12),
        title=None,
    )
    y = alt.Y(
        "value:Q",
        axis=alt.Axis(tickCount=4, minExtent=24),
        scale=alt.Scale(zero=True),
        title=None,
    )
    return chart.line_chart(rows, x, y, WIDTH_PX, HEIGHT_PX)
