"""Percentiles of the time that a small message takes there and back: a panel for each load of the network."""

from collections.abc import Iterable, Sequence
from functools import partial
from math import ceil, floor, log10
from statistics import median

from harness.model.network_metrics import IDLE, LATENCY, LOADED, ROUND_TRIP
from harness.present.data_table import DataTable, Quantity
from harness.present.report.chart import category, quantity
from harness.present.report.figure import (
    Evidence,
    Figure,
    Measured,
    Section,
    alternative,
    grouped,
    picture,
)
from harness.present.report.lines import Point, keys_of, panel
from harness.words import significant

_LEGEND = (
    "Round-trip times of a small message, medians over all pairs of hosts and repeats. p50 is the median "
    "message; 1 message in 100 takes longer than p99. The scale is logarithmic."
)
_MAX_POWERS_WITH_STEPS = 3


def points_of(measured: Measured) -> list[Point]:
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
    return found


@partial(Section, 90, "latency", "Latency")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure of round-trip times; None if none was measured."""
    found = points_of(evidence.measured)
    if not found:
        return None
    keys = keys_of(found, evidence.measured)
    x = category(
        "x", sort=list(ROUND_TRIP), axis={"labelAngle": 0, "labelExpr": "'p' + datum.label"}
    )
    rows = [(p.panel, p.line, f"p{p.x:g}", Quantity(significant(p.value), p.value)) for p in found]
    return Figure(
        alternative=alternative(
            "Lines: percentiles of the round-trip time of a small message, in microseconds.",
            ((f"{line}, {case}, {rank}", time.text) for case, line, rank, time in rows),
        ),
        pictures=tuple(
            picture(panel(of, keys, x, _times(of), (260, 150)), heading=f"{case}, µs")
            for case, of in grouped(found, lambda point: point.panel).items()
        ),
        numbers=DataTable(
            ("network", "configuration", "percentile", "round trip, µs"), tuple(rows)
        ),
        keys=keys,
        remarks=(_LEGEND,),
    )


def _times(points: Sequence[Point]) -> dict[str, object]:
    return quantity(
        "value",
        axis={"values": _ticks(p.value for p in points), "format": ",", "minExtent": 28},
        scale={"type": "log", "nice": False, "padding": 8},
    )


def _ticks(values: Iterable[float]) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten in range; the powers alone where those are many."""
    values = list(values)
    low, high = min(values), max(values)
    powers = [10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1)]
    steps = (1, 2, 5) if len(powers) <= _MAX_POWERS_WITH_STEPS else (1,)
    ticks = [step * power for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high] or [low]
