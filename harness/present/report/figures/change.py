"""The change of each workload as a dot with its interval, all on one scale."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from harness.present import quantities
from harness.present.blocks import table_of
from harness.present.change_table import Effect
from harness.present.report import chart
from harness.present.report.figure import Evidence, Figure, Section, picture
from harness.present.report.outcome import ReportedChange, outcomes

MAX_INTERVAL_END = 1.0
"""Intervals are cut off at this change, unless a dot is beyond it: a long one would flatten the rest."""


@partial(Section, 10, "change", "How much each workload changed")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if nothing can be compared."""
    changed = [outcome for outcome in outcomes(evidence.comparison) if outcome.change]
    if not changed:
        return None
    keys = evidence.styles
    baseline = evidence.comparison.columns[0].name
    return Figure(
        alternative=f"Dot plot: the change of each time against {baseline}, with its 95 % interval.",
        pictures=(picture(_drawn(changed, keys)),),
        numbers=table_of([_numbers(outcome) for outcome in changed]),
        keys={name: series for name, series in keys.items() if name != baseline},
        remarks=tuple(_remarks(changed)),
    )


def _numbers(outcome: ReportedChange) -> dict[str, str]:
    low, high = outcome.interval or (None, None)
    return {
        "workload": outcome.workload,
        "configuration": outcome.configuration,
        "change": outcome.after.marked_change,
        "interval from": quantities.if_known(low, quantities.change),
        "interval to": quantities.if_known(high, quantities.change),
        "p": outcome.after.p,
    }


def _remarks(changed: Sequence[ReportedChange]) -> Iterator[str]:
    effects = {outcome.effect for outcome in changed}
    if Effect.FASTER in effects or Effect.SLOWER in effects:
        yield "Filled dots are changes that chance does not explain."
    if Effect.NOISE in effects:
        yield f"Hollow dots, marked {quantities.NOISE}, are changes that chance may explain."
    if Effect.TOO_FEW in effects:
        yield f"Crosses, marked {quantities.UNTESTED}, are single runs, which prove nothing."
    if effects != {Effect.TOO_FEW}:
        yield "Lines are 95 % intervals."
    if any(outcome.unit for outcome in changed):
        yield "Dots of performances show the time of the same work; the change of the performance is beside."
    if any(outcome.is_control for outcome in changed):
        yield "Controls use neither network nor storage: if they move, the machine has changed."


_WIDTH_PX = 520
_LINE_PX = 18
_NAME_WIDTH = 28


def _drawn(changed: Sequence[ReportedChange], series: Mapping[str, chart.Style]) -> chart.Spec:
    """Return the picture: workloads above controls, on the same scale."""
    names = chart.labels((outcome.workload for outcome in changed), _NAME_WIDTH)
    names_px = round(max(map(len, names.values())) * chart.TEXT_PX * 0.56)
    parts: dict[str, list[dict[str, Any]]] = {}
    for outcome in sorted(changed, key=attrgetter("is_control")):
        title = "workloads"
        if outcome.is_control:
            title = "controls"
        row = {"workload": names[outcome.workload], **_row(outcome, series)}
        parts.setdefault(title, []).append(row)
    lowest = list(parts)[-1]
    ends = _ends(changed)
    lines_px = _LINE_PX * (len(series) - 1) + 10
    charts = []
    for title, rows in parts.items():
        x = _x(ends, with_axis=title == lowest)
        charts.append(_part(title, rows, x, names_px, lines_px))
    return {"vconcat": charts, "spacing": 10}


def _ends(changed: Sequence[ReportedChange]) -> tuple[float, float]:
    """Return the ends of the scale, which include 0."""
    low = high = 0.0
    for outcome in changed:
        low = min(low, outcome.relative_change)
        high = max(high, outcome.relative_change)
        if outcome.interval:
            low = min(low, outcome.interval.low)
            high = max(high, min(outcome.interval.high, MAX_INTERVAL_END))
    return low, high


def _row(outcome: ReportedChange, series: Mapping[str, chart.Style]) -> dict[str, Any]:
    look = series[outcome.configuration]
    low, high = outcome.interval or (None, None)
    row = {
        "line": list(series).index(outcome.configuration),
        "fill": look.colour,
        **look.mark,
        "change": outcome.relative_change,
        "low": low,
        "high": high,
        "text": outcome.text,
    }
    if outcome.effect is Effect.NOISE:
        row["fill"] = chart.PAPER
    elif outcome.effect is Effect.TOO_FEW:
        row["shape"] = "cross"
    return row


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


def _part(title: str, rows: chart.Rows, x: chart.Spec, names_px: int, lines_px: int) -> chart.Spec:
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
    return chart.layered(
        rows,
        chart.mark("rule", {"x": {"datum": 0}}, rows=[{}], color=chart.SOFT),
        chart.mark("rule", interval, strokeWidth=2),
        chart.mark("point", marked, size=75, strokeWidth=2, opacity=1),
        chart.mark("text", {**base, **text}, align="left"),
        px=(_WIDTH_PX, lines_px * len(workloads)),
        title=title,
    )
