"""Line charts of probes: percentiles of latency."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median

import altair as alt

from harness.model.network_metrics import (
    IDLE,
    LATENCY,
    LOADED,
    ROUND_TRIP,
)
from harness.model.probe import Measurement
from harness.present.data_table import DataTable, Quantity
from harness.present.report import chart
from harness.present.report.chart import Figure, Picture, Series, series_of

Measured = Mapping[str, Sequence[Measurement]]
"""Measurements by configuration."""

_LATENCY_LEGEND = (
    "Round-trip times of a small message, medians over all pairs of hosts and repeats. p50 is the median "
    "message; 1 message in 100 takes longer than p99. The scale is logarithmic."
)
_MAX_POWERS_WITH_STEPS = 3


@dataclass(frozen=True)
class Point:
    """The median over pairs and repeats: of `chart`'s quantity, for one percentile `x`."""

    chart: str
    configuration: str
    x: float
    value: float

    @property
    def rank(self) -> str:
        """Return the percentile `x` as `p50`, `p99.9`."""
        return _rank(self.x)


def latency_points(measured: Measured) -> tuple[Point, ...]:
    """Return the round-trip times in microseconds by case, configuration and percentile."""
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


def latency_figure(measured: Measured) -> Figure | None:
    """Return the figure of round-trip times; None if none was measured."""
    found = latency_points(measured)
    if not found:
        return None
    keys = _keys(measured, found)
    return Figure(
        anchor="latency",
        title="Latency",
        alternative="Lines: percentiles of the round-trip time of a small message, in microseconds. "
        + "; ".join(f"{p.configuration}, {p.chart}, {p.rank}: {p.value:.4g}" for p in found),
        pictures=tuple(
            Picture(_draw_latency(of, keys), heading=f"{case}, µs")
            for case, of in _by_chart(found).items()
        ),
        numbers=DataTable(
            ("network", "configuration", "percentile", "round trip, µs"),
            tuple(
                (p.chart, p.configuration, p.rank, Quantity(f"{p.value:.4g}", p.value))
                for p in found
            ),
        ),
        keys=keys,
        remarks=(_LATENCY_LEGEND,),
    )


def _rank(percentile: float) -> str:
    return f"p{percentile:g}"


def _draw_latency(points: Sequence[Point], series: Mapping[str, Series]) -> str:
    x = alt.X("x:N", sort=list(map(_rank, ROUND_TRIP)), axis=alt.Axis(labelAngle=0), title=None)
    y = alt.Y(
        "value:Q",
        axis=alt.Axis(values=_ticks(p.value for p in points), format=",", minExtent=28),
        scale=alt.Scale(type="log", nice=False, padding=8),
        title=None,
    )
    rows = [{"x": p.rank, "value": p.value, **series[p.configuration].mark} for p in points]
    return chart.line_chart(rows, x, y, width_px=260, height_px=150)


def _ticks(values: Iterable[float]) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten in range; the powers alone where those are many."""
    values = list(values)
    low, high = min(values), max(values)
    powers = [10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1)]
    steps = (1, 2, 5) if len(powers) <= _MAX_POWERS_WITH_STEPS else (1,)
    ticks = [step * power for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high] or [low]


def _by_chart(points: Sequence[Point]) -> dict[str, list[Point]]:
    charts: dict[str, list[Point]] = {}
    for point in points:
        charts.setdefault(point.chart, []).append(point)
    return charts


def _keys(measured: Measured, points: Sequence[Point]) -> dict[str, Series]:
    """Return the series of the configurations that have points, coloured as in the other figures."""
    keys = series_of(measured)
    return {name: keys[name] for name in dict.fromkeys(point.configuration for point in points)}
