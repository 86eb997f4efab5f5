"""The change of each workload as a dot with its interval, all on one scale."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from harness.present import quantities
from harness.present.blocks import table_of
from harness.present.report import chart
from harness.present.report.figure import Evidence, Figure, Section, picture
from harness.present.report.outcome import Outcome, outcomes
from harness.statistics.change import Change, Verdict

Changed = tuple[Outcome, Change]
"""An outcome that has a change, and that change."""
MAX_INTERVAL_END = 1.0
"""Intervals are cut off at this change, unless a dot is beyond it: a long one would flatten the rest."""


@partial(Section, 10, "change", "How much each workload changed")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if nothing can be compared."""
    every = outcomes(evidence.comparison)
    found = [(outcome, outcome.change) for outcome in every if outcome.change]
    if not found:
        return None
    keys = chart.series_of(column.name for column in evidence.comparison.columns)
    baseline, *others = keys
    return Figure(
        alternative=f"Dot plot: the change of each time against {baseline}, with its 95 % interval.",
        pictures=(picture(_drawn(found, keys)),),
        numbers=table_of([_numbers(*changed) for changed in found]),
        keys={name: keys[name] for name in others},
        remarks=tuple(_remarks(found)),
    )


def _numbers(outcome: Outcome, change: Change) -> dict[str, str]:
    low, high = change.interval or (None, None)
    return {
        "workload": outcome.workload,
        "configuration": outcome.configuration,
        "change": outcome.after.marked_change,
        "interval from": quantities.if_known(low, quantities.change),
        "interval to": quantities.if_known(high, quantities.change),
        "p": outcome.after.p,
    }


def _remarks(found: Sequence[Changed]) -> Iterator[str]:
    verdicts = {change.verdict for _, change in found}
    if Verdict.CHANGED in verdicts:
        yield "Filled dots are changes that chance does not explain."
    if Verdict.NOISE in verdicts:
        yield f"Hollow dots, marked {quantities.NOISE}, are changes that chance may explain."
    if Verdict.TOO_FEW in verdicts:
        yield f"Crosses, marked {quantities.UNTESTED}, are single runs, which prove nothing."
    if verdicts - {Verdict.TOO_FEW}:
        yield "Lines are 95 % intervals."
    if any(outcome.unit for outcome, _ in found):
        yield "Dots of performances show the time of the same work; the change of the performance is beside."
    if any(outcome.is_control for outcome, _ in found):
        yield "Controls use neither network nor storage: if they move, the machine has changed."


_WIDTH_PX, _LINE_PX, _NAME_WIDTH = 520, 18, 28


def _drawn(found: Sequence[Changed], series: Mapping[str, chart.Series]) -> chart.Spec:
    """Return the picture: workloads above controls, on the same scale."""
    names = chart.labels((outcome.workload for outcome, _ in found), _NAME_WIDTH)
    names_px = round(max(map(len, names.values())) * chart.TEXT_PX * 0.56)
    ends = _ends([change for _, change in found])
    parts = {
        title: [
            _row(outcome, change, series) | {"workload": names[outcome.workload]}
            for outcome, change in found
            if outcome.is_control is is_control
        ]
        for title, is_control in (("workloads", False), ("controls", True))
    }
    shown = {title: rows for title, rows in parts.items() if rows}
    charts = []
    for title, rows in shown.items():
        x = _x(ends, with_axis=title == [*shown][-1])
        lines_px = _LINE_PX * (len(series) - 1) + 10
        charts.append(_part(title, rows, x, names_px, lines_px))
    return {"vconcat": charts, "spacing": 10}


def _ends(changes: Sequence[Change]) -> tuple[float, float]:
    """Return the ends of the scale, which include 0."""
    values = [change.relative_change for change in changes]
    intervals = [change.interval for change in changes if change.interval]
    high = max(0.0, *values, *(min(interval.high, MAX_INTERVAL_END) for interval in intervals))
    return min(0.0, *values, *(interval.low for interval in intervals)), high


def _row(outcome: Outcome, change: Change, series: Mapping[str, chart.Series]) -> dict[str, Any]:
    look = series[outcome.configuration].mark
    low, high = change.interval or (None, None)
    match change.verdict:
        case Verdict.NOISE:
            look["fill"] = chart.PAPER
        case Verdict.TOO_FEW:
            look["shape"] = "cross"
    return {
        "line": list(series).index(outcome.configuration),
        "fill": look["colour"],
        **look,
        "change": change.relative_change,
        "low": low,
        "high": high,
        "text": outcome.text,
    }


def _x(ends: tuple[float, float], *, with_axis: bool) -> chart.Spec:
    axis = {
        "format": "+.0%",
        "grid": True,
        "labelExpr": "datum.value === 0 ? '0%' : datum.label",
        "labelFlush": False,
        "labels": with_axis,
        "tickCount": 8,
    }
    title = "less time  ←  change  →  more time" if with_axis else None
    scale = {"domain": ends, "nice": True, "clamp": True}
    return chart.quantity("change", scale=scale, axis=axis, title=title)


def _part(
    title: str, rows: list[dict[str, Any]], x: chart.Spec, names_px: int, lines_px: int
) -> chart.Spec:
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    extent = {"labelLimit": names_px, "minExtent": names_px, "maxExtent": names_px}
    base = {
        "y": chart.category("workload", sort=workloads, axis=extent),
        "yOffset": {"field": "line", "type": "ordinal"},
        **chart.COLOUR,
    }
    interval = {**base, "x": {**x, "field": "low"}, "x2": {"field": "high"}}
    marked = {**base, "x": x, **chart.SHAPE, "fill": chart.as_is("fill")}
    text = {
        "x": {"value": _WIDTH_PX + 10},
        "color": {"value": chart.INK},
        "text": {"field": "text"},
    }
    dot: dict[str, Any] = {"opacity": 1}
    return chart.layered(
        rows,
        chart.mark("rule", {"x": {"datum": 0}}, rows=[{}], color=chart.SOFT),
        chart.mark("rule", interval, strokeWidth=2),
        chart.mark("point", marked, size=75, strokeWidth=2, **dot),
        chart.mark("text", {**base, **text}, align="left"),
        px=(_WIDTH_PX, lines_px * len(workloads)),
        title=title,
    )
