"""How long a small message takes there and back, the usual one and the slowest of many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import median

import altair as alt

from harness.model.network_metrics import IDLE, LATENCY, LOADED, ROUND_TRIP
from harness.model.probe import Measurement
from harness.present.report import chart
from harness.present.report.chart import Figure, Numbers, Picture, Quantity, Series, series_of

WIDTH_PX, HEIGHT_PX = 260, 150
_POWERS_WITH_STEPS = 3
LEGEND = (
    "Round trips of a small message, medians over pairs of hosts and repeats; p99 is what one "
    "of a hundred takes longer than. The scale is logarithmic."
)


@dataclass(frozen=True)
class Point:
    """A percentile of the round trip in microseconds, the median over pairs and repeats."""

    case: str
    configuration: str
    percentile: float
    microseconds: float


def points(measured: Mapping[str, Sequence[Measurement]]) -> tuple[Point, ...]:
    """By case, configuration and percentile."""
    found = []
    for case in (IDLE, LOADED):
        for configuration, measurements in measured.items():
            for percentile, metric in ROUND_TRIP.items():
                key = (LATENCY, metric.name, case)
                # Nothing takes no time at all, and a logarithmic scale has no place for it.
                values = [
                    one.value
                    for one in measurements
                    if (one.probe, one.metric, one.case) == key and one.value
                ]
                if values:
                    found.append(Point(case, configuration, percentile, median(values)))
    return tuple(found)


def figure(measured: Mapping[str, Sequence[Measurement]]) -> Figure | None:
    """The figure, of measurements by configuration; None where no latency was measured."""
    found = points(measured)
    if not found:
        return None
    keys = series_of(measured)
    cases = list(dict.fromkeys(point.case for point in found))
    return Figure(
        anchor="latency",
        title="There and back",
        alternative="Lines: percentiles of the round trip of a small message in microseconds. "
        + "; ".join(
            f"{p.configuration}, {p.case}, {_rank(p)}: {p.microseconds:.4g}" for p in found
        ),
        pictures=tuple(
            Picture(_draw([p for p in found if p.case == case], keys), heading=f"{case}, µs")
            for case in cases
        ),
        numbers=Numbers(
            ("case", "configuration", "percentile", "µs"),
            tuple(
                (
                    p.case,
                    p.configuration,
                    _rank(p),
                    Quantity(f"{p.microseconds:.4g}", p.microseconds),
                )
                for p in found
            ),
        ),
        keys={name: keys[name] for name in dict.fromkeys(point.configuration for point in found)},
        remarks=(LEGEND,),
    )


def _ticks(values: Iterable[float]) -> list[float]:
    """1, 2 and 5 of every power of ten among them, or powers alone where that would be many."""
    values = list(values)
    least, most = min(values), max(values)
    powers = [10.0**power for power in range(floor(log10(least)), ceil(log10(most)) + 1)]
    steps = (1, 2, 5) if len(powers) <= _POWERS_WITH_STEPS else (1,)
    ticks = [step * power for power in powers for step in steps]
    return [tick for tick in ticks if least <= tick <= most] or [least]


def _rank(point: Point) -> str:
    return f"p{point.percentile:g}"


def _draw(of: Sequence[Point], series: Mapping[str, Series]) -> str:
    rows = [
        {
            "rank": _rank(point),
            "microseconds": point.microseconds,
            "colour": series[point.configuration].colour,
            "shape": series[point.configuration].shape,
        }
        for point in of
    ]
    ranks = [f"p{percentile:g}" for percentile in ROUND_TRIP]
    lines = alt.Chart(chart.rows(rows)).encode(
        x=alt.X("rank:N", sort=ranks, axis=alt.Axis(labelAngle=0), title=None),
        y=alt.Y(
            "microseconds:Q",
            axis=alt.Axis(
                values=_ticks(point.microseconds for point in of), format=",", minExtent=28
            ),
            scale=alt.Scale(type="log", nice=False, padding=8),
            title=None,
        ),
        color=alt.Color("colour:N", scale=None),
    )
    dots = lines.mark_point(filled=True, size=45, opacity=1)
    return chart.svg(
        alt.layer(
            lines.mark_line(strokeWidth=2), dots.encode(shape=alt.Shape("shape:N", scale=None))
        ).properties(width=WIDTH_PX, height=HEIGHT_PX)
    )
