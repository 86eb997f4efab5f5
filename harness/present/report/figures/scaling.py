"""Efficiency by the number of nodes: a panel for each workload, a line for each configuration."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harness.analysis.compare.scaling import ScaledWorkload, scaling_of
from harness.present import quantities
from harness.present.data_table import DataTable
from harness.present.report import chart
from harness.present.report.figure import Evidence, Figure, Section, picture

_PX = (210, 150)


@partial(Section, 60, "scaling", "How performance grows with the number of nodes")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if no configuration was measured on several numbers of nodes."""
    found = scaling_of(evidence.comparison.columns)
    if found is None:
        return None
    keys = chart.series_of(dict.fromkeys(base for _, base, _ in found.points()))
    panels = {scaled.workload: list(_rows(scaled, keys)) for scaled in found.workloads}
    return Figure(
        alternative="Lines of efficiency by the number of nodes, one panel for each workload.",
        pictures=tuple(
            picture(_panel(rows), heading=workload)
            for workload, rows in panels.items()
            if len(rows) > 1
        ),
        numbers=DataTable.of(
            {
                "workload": workload,
                "configuration": base,
                "nodes": str(point.nodes),
                "speed-up": f"{point.speed_up.value:.2f}",
                "efficiency": quantities.share(point.efficiency.value, 1),
            }
            for workload, base, point in found.points()
            if point.speed_up and point.efficiency
        ),
        keys=keys,
        remarks=(
            "Lines: efficiency by the number of nodes, with 95 % intervals; 100 % is on the fewest nodes.",
            "Speed-up is performance relative to that on the fewest nodes.",
            "Efficiency is the speed-up relative to how many times as many nodes there are.",
        ),
    )


def _rows(scaled: ScaledWorkload, series: Mapping[str, chart.Series]) -> Iterator[dict[str, Any]]:
    """Yield a row for each efficiency that is known, and for the fewest nodes of each configuration."""
    for base, points in scaled.points.items():
        known = [(point, growth) for point in points if (growth := point.efficiency)]
        first = next((point for point in points if point.cell.summary), None)
        if known and first:
            yield {"nodes": first.nodes, "percent": 100.0, "base": base, **series[base].mark}
        for point, efficiency in known:
            ends = efficiency.interval
            yield {
                "nodes": point.nodes,
                "percent": 100 * efficiency.value,
                "low": ends and 100 * ends.low,
                "high": ends and 100 * ends.high,
                "base": base,
                **series[base].mark,
            }


def _panel(rows: list[dict[str, Any]]) -> chart.Spec:
    nodes = sorted({row["nodes"] for row in rows})
    x = chart.quantity(
        "nodes",
        ends=(nodes[0], nodes[-1]),
        scale={"type": "log", "base": 2},
        axis={"values": nodes, "format": "d", "grid": False},
        title="nodes",
    )
    highest = max(row.get("high") or row["percent"] for row in rows)
    y = chart.quantity(
        "percent", ends=(0, max(100, 1.05 * highest)), axis={"tickCount": 4}, title="%"
    )
    base = {"x": x, **chart.COLOUR, "detail": {"field": "base"}}
    place = {**base, "y": y}
    return chart.layered(
        rows,
        chart.mark(
            "rule", {**base, "y": {**y, "field": "low"}, "y2": {"field": "high"}}, strokeWidth=1.5
        ),
        chart.mark("line", place, strokeWidth=2),
        chart.mark("point", {**place, **chart.SHAPE}, filled=True, size=50, opacity=1),
        px=_PX,
    )
