"""What packets of some size carry, and what they cost the processors at both ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import altair as alt

from harness.model.network_metrics import PACKET_GOODPUT, RECEIVER_PACKET_COST, SENDER_PACKET_COST
from harness.model.probe import Measurement, Metric
from harness.present.report import chart
from harness.present.report.chart import Figure, Numbers, Picture, Quantity, Series, series_of

WIDTH_PX, HEIGHT_PX = 240, 130
_SIZE = re.compile(r"packets of (\d+) bytes")
HEADINGS: Mapping[Metric, str] = {
    PACKET_GOODPUT: "throughput, Gbit/s",
    SENDER_PACKET_COST: "sender, processors per Gbit/s",
    RECEIVER_PACKET_COST: "receiver, processors per Gbit/s",
}
LEGEND = (
    "Medians over pairs of hosts and repeats, over the size of packets in bytes, which is "
    "logarithmic."
)


@dataclass(frozen=True)
class Point:
    """The median over pairs and repeats, in the heading's unit."""

    metric: Metric
    configuration: str
    packet_bytes: int
    value: float


def points(measured: Mapping[str, Sequence[Measurement]]) -> tuple[Point, ...]:
    """By metric, configuration and size."""
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
    for one in measurements:
        size = _SIZE.fullmatch(one.case)
        if (
            (one.probe, one.metric) == (metric.probe, metric.name)
            and size
            and one.value is not None
        ):
            by_size.setdefault(int(size[1]), []).append(one.value)
    scale = 1e9 if metric is PACKET_GOODPUT else 1
    for size_bytes, values in sorted(by_size.items()):
        yield Point(metric, configuration, size_bytes, median(values) / scale)


def figure(measured: Mapping[str, Sequence[Measurement]]) -> Figure | None:
    """The figure, of measurements by configuration; None where no sizes were tried."""
    found = points(measured)
    if not found:
        return None
    keys = series_of(measured)
    by_metric = {
        metric: [point for point in found if point.metric is metric] for metric in HEADINGS
    }
    return Figure(
        anchor="mtu",
        title="What the size of packets does",
        alternative="Lines over the size of packets. "
        + "; ".join(f"{HEADINGS[m]}: {_told(of)}" for m, of in by_metric.items() if of),
        pictures=tuple(
            Picture(_draw(of, keys), heading=HEADINGS[metric])
            for metric, of in by_metric.items()
            if of
        ),
        numbers=Numbers(
            ("", "configuration", "bytes of a packet", "median"),
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


def _told(of: Sequence[Point]) -> str:
    return ", ".join(f"{p.configuration} {p.value:.3g} at {p.packet_bytes} bytes" for p in of)


def _draw(of: Sequence[Point], series: Mapping[str, Series]) -> str:
    rows = [
        {
            "bytes": point.packet_bytes,
            "value": point.value,
            "colour": series[point.configuration].colour,
            "shape": series[point.configuration].shape,
        }
        for point in of
    ]
    sizes = sorted({point.packet_bytes for point in of})
    lines = alt.Chart(chart.rows(rows)).encode(
        x=alt.X(
            "bytes:Q",
            axis=alt.Axis(grid=False, values=sizes, format="d", labelOverlap="greedy"),
            scale=alt.Scale(
                type="log", domain=[sizes[0], max(sizes[-1], sizes[0] + 1)], nice=False, padding=12
            ),
            title=None,
        ),
        y=alt.Y(
            "value:Q",
            axis=alt.Axis(tickCount=4, minExtent=24),
            scale=alt.Scale(zero=True),
            title=None,
        ),
        color=alt.Color("colour:N", scale=None),
    )
    dots = lines.mark_point(filled=True, size=40, opacity=1)
    return chart.svg(
        alt.layer(
            lines.mark_line(strokeWidth=2), dots.encode(shape=alt.Shape("shape:N", scale=None))
        ).properties(width=WIDTH_PX, height=HEIGHT_PX)
    )
