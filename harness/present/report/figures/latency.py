"""Latency: percentiles of the round trip of a small message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median

import altair as alt

from harness.model.network_metrics import IDLE, LATENCY, LOADED, ROUND_TRIP
from harness.model.probe import Measurement
from harness.present.report import chart
from harness.present.report.figure import DataTable, Figure, Picture, Quantity, Series, series_of

WIDTH_PX, HEIGHT_PX = 260, 150
_MAX_POWERS_WITH_STEPS = 3
LEGEND = (
    "Round-trip times of a small message, medians over all pairs of hosts and repeats. p50 is the median "
    "message; 1 message in 100 takes longer than p99. The scale is logarithmic."
)


@dataclass(frozen=True)
class Point:
    """A percentile of the round-trip time in microseconds: the median over pairs and repeats."""

    case: str
    configuration: str
    percentile: float
    microseconds: float

    @property
    def rank(self) -> str:
        """Return `p50`, `p99.9`."""
        return _rank(self.percentile)


def points(measured: Mapping[str, Sequence[Measurement]]) -> tuple[Point, ...]:
    """Return the points by case, configuration and percentile."""
    found = []
    for case in (IDLE, LOADED):
        for configuration, measurements in measured.items():
            for percentile, metric in ROUND_TRIP.items():
                # A logarithmic scale has no place for 0, and no message takes no time.
                values = [
                    m.value
                    for m in measurements
                    if (m.probe, m.metric, m.case) == (LATENCY, metric.name, case) and m.value
                ]
                if values:
                    found.append(Point(case, configuration, percentile, median(values)))
    return tuple(found)


def figure(measured: Mapping[str, Sequence[Measurement]]) -> Figure | None:
    """Return the figure of measurements by configuration; None if no latency was measured."""
    found = points(measured)
    if not found:
        return None
    keys = series_of(measured)
    return Figure(
        anchor="latency",
        title="Latency",
        alternative="Lines: percentiles of the round-trip time of a small message, in microseconds. "
        + "; ".join(f"{p.configuration}, {p.case}, {p.rank}: {p.microseconds:.4g}" for p in found),
        pictures=tuple(
            Picture(_draw([p for p in found if p.case == case], keys), heading=f"{case}, µs")
            for case in dict.fromkeys(point.case for point in found)
        ),
        numbers=DataTable(
            ("network", "configuration", "percentile", "round trip, µs"),
            tuple(
                (
                    p.case,
                    p.configuration,
                    p.rank,
                    Quantity(f"{p.microseconds:.4g}", p.microseconds),
                )
                for p in found
            ),
        ),
        keys={name: keys[name] for name in dict.fromkeys(point.configuration for point in found)},
        remarks=(LEGEND,),
    )


def _rank(percentile: float) -> str:
    return f"p{percentile:g}"


def _ticks(values: Iterable[float]) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten in range; the powers alone where those are many."""
    values = list(values)
    low, high = min(values), max(values)
    powers = [10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1)]
    steps = (1, 2, 5) if len(powers) <= _MAX_POWERS_WITH_STEPS else (1,)
    ticks = [step * power for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high] or [low]


def _draw(points: Sequence[Point], series: Mapping[str, Series]) -> str:
    rows = [
        {
            "rank": point.rank,
            "microseconds": point.microseconds,
            **series[point.configuration].mark,
        }
        for point in points
    ]
    x = alt.X("rank:N", sort=list(map(_rank, ROUND_TRIP)), axis=alt.Axis(labelAngle=0), title=None)
    ticks = _ticks(point.microseconds for point in points)
    y = alt.Y(
        "microseconds:Q",
        axis=alt.Axis(values=ticks, format=",", minExtent=28),
        scale=alt.Scale(type="log", nice=False, padding=8),
        title=None,
    )
    return chart.line_chart(rows, x, y, WIDTH_PX, HEIGHT_PX)
