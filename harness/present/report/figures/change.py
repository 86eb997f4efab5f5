"""The change of each workload as a dot with its interval, all on one scale."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.analysis.compare.comparison import Comparison
from harness.present import quantities
from harness.present.comparison_table import comparison_table
from harness.present.data_table import DataTable, Quantity
from harness.present.report import chart
from harness.present.report.figure import Figure, Section, picture
from harness.present.table import Fields, change_text
from harness.statistics.change import Change, Verdict

MAX_INTERVAL_END = 1.0
"""Intervals are cut off at this change, unless a dot is beyond it: a long one would flatten the rest."""


@dataclass(frozen=True)
class Dot:
    """One workload in one configuration: the change of its time, and what the table says of it."""

    workload: str
    configuration: str
    is_control: bool
    change: Change
    fields: Fields
    unit: str | None = None

    @property
    def text(self) -> str:
        """Return the words of the table."""
        return change_text(self.fields, self.unit)


def dots(comparison: Comparison) -> tuple[Dot, ...]:
    """Return every change, in the order of the table."""
    lines = comparison_table(comparison).lines
    return tuple(
        Dot(
            row.workload,
            column.name,
            row.workload in comparison.common_controls,
            cell.change,
            entry.fields,
            cell.sample.unit,
        )
        for row, line in zip(comparison.rows, lines, strict=True)
        for column, cell, entry in zip(comparison.columns, row.cells, line.entries, strict=True)
        if cell.change
    )


def figure(comparison: Comparison) -> Figure | None:
    """Return the figure; None if nothing can be compared."""
    found = dots(comparison)
    if not found:
        return None
    keys = chart.series_of(column.name for column in comparison.columns)
    baseline, *others = keys
    return Figure(
        alternative=(
            f"Dot plot: the change of each time against {baseline}, with its 95 % interval. "
            + "; ".join(f"{dot.workload} in {dot.configuration}: {dot.text}" for dot in found)
        ),
        pictures=(picture(_drawn(found, keys, _WIDE), _drawn(found, keys, _NARROW)),),
        numbers=DataTable.of(map(_numbers, found)),
        keys={name: keys[name] for name in others},
        remarks=tuple(_remarks(found)),
    )


def _numbers(dot: Dot) -> dict[str, str | Quantity]:
    low, high = dot.change.interval or (None, None)
    return {
        "workload": dot.workload,
        "configuration": dot.configuration,
        "change": Quantity(dot.fields.marked_change, dot.change.relative_change),
        "interval from": Quantity.of(low, quantities.change),
        "interval to": Quantity.of(high, quantities.change),
        "p": Quantity(dot.fields.p, dot.change.adjusted_p),
    }


def _remarks(found: Sequence[Dot]) -> Iterator[str]:
    verdicts = {dot.change.verdict for dot in found}
    if Verdict.CHANGED in verdicts:
        yield "Filled dots are changes that chance does not explain."
    if Verdict.NOISE in verdicts:
        yield f"Hollow dots, marked {quantities.NOISE}, are changes that chance may explain."
    if Verdict.TOO_FEW in verdicts:
        yield f"Crosses, marked {quantities.UNTESTED}, are single runs, which prove nothing."
    if verdicts - {Verdict.TOO_FEW}:
        yield "Lines are 95 % intervals."
    if any(dot.unit for dot in found):
        yield "Dots of performances show the time of the same work; the change of the performance is beside."
    if any(dot.is_control for dot in found):
        yield "Controls use neither network nor storage: if they move, the machine has changed."


@dataclass(frozen=True)
class _Size:
    """The width of the plot, the height of a line, the area of a dot, and the characters of a name."""

    dots_px: int
    line_px: int
    dot_px2: int
    name_width: int
    text_px: int


_WIDE = _Size(dots_px=620, line_px=18, dot_px2=75, name_width=32, text_px=12)
_NARROW = _Size(dots_px=148, line_px=17, dot_px2=45, name_width=20, text_px=11)


@dataclass(frozen=True)
class _Frame:
    """What the parts of the picture share, so that their scales are aligned."""

    size: _Size
    series: Mapping[str, chart.Series]
    workloads: Mapping[str, str]
    domain: tuple[float, float]

    def x(self, *, with_axis: bool) -> chart.Spec:
        axis = {
            "format": "+.0%",
            "grid": True,
            "labelExpr": "datum.value === 0 ? '0%' : datum.label",
            "labelFlush": False,
            "labels": with_axis,
            "tickCount": max(3, self.size.dots_px // 65),
        }
        title = "less time  ←  change  →  more time" if with_axis else None
        scale = {"domain": self.domain, "nice": True}
        return chart.quantity("change", scale=scale, axis=axis, title=title)

    def y(self, workloads: Sequence[str]) -> chart.Spec:
        names_px = round(max(map(len, self.workloads.values())) * self.size.text_px * 0.56)
        extent = {"labelLimit": names_px, "minExtent": names_px, "maxExtent": names_px}
        axis = {"labelFontSize": self.size.text_px, **extent}
        return chart.category("workload", sort=list(workloads), axis=axis)

    def row(self, dot: Dot) -> dict[str, Any]:
        interval = dot.change.interval
        return {
            "workload": self.workloads[dot.workload],
            "line": list(self.series).index(dot.configuration),
            **self.series[dot.configuration].mark,
            "verdict": str(dot.change.verdict),
            "change": dot.change.relative_change,
            "low": interval and interval.low,
            "high": interval and min(interval.high, self.domain[1]),
            "is_cut": bool(interval and interval.high > self.domain[1]),
            "text": dot.text,
        }


def _drawn(found: Sequence[Dot], series: Mapping[str, chart.Series], size: _Size) -> chart.Spec:
    """Return the picture: workloads above controls, on the same scale."""
    frame = _Frame(
        size,
        series,
        workloads=chart.labels((dot.workload for dot in found), size.name_width),
        domain=_domain([dot.change for dot in found]),
    )
    parts = {
        "workloads": [frame.row(dot) for dot in found if not dot.is_control],
        "controls": [frame.row(dot) for dot in found if dot.is_control],
    }
    used = [name for name in parts if parts[name]]
    charts = [_part(name, parts[name], frame, with_axis=name == used[-1]) for name in used]
    return {"vconcat": charts, "spacing": 10}


def _domain(changes: Sequence[Change]) -> tuple[float, float]:
    """Return the ends of the scale, which include 0."""
    values = [change.relative_change for change in changes]
    intervals = [change.interval for change in changes if change.interval]
    high = max(0.0, *values, *(min(interval.high, MAX_INTERVAL_END) for interval in intervals))
    return min(0.0, *values, *(interval.low for interval in intervals)), high


def _part(
    name: str, rows: Sequence[dict[str, Any]], frame: _Frame, *, with_axis: bool
) -> chart.Spec:
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    size, lines = frame.size, len(frame.series) - 1
    offset = {"yOffset": {"field": "line", "type": "ordinal"}}
    base = {"y": frame.y(workloads), **offset, **chart.COLOUR}
    x = frame.x(with_axis=with_axis)
    marked = {**base, "x": x, **chart.SHAPE}
    interval = {**base, "x": {**x, "field": "low"}, "x2": {"field": "high"}}
    text_place = {"x": {"value": size.dots_px + 10}, "color": {"value": chart.INK}}
    dot: dict[str, Any] = {"size": size.dot_px2, "opacity": 1, "strokeWidth": 2}

    def of(verdict: Verdict) -> str:
        return f"datum.verdict === '{verdict}'"

    return chart.layered(
        rows,
        chart.mark("rule", {"x": {"datum": 0}}, rows=[{}], color=chart.SOFT),
        chart.mark("rule", interval, strokeWidth=2),
        chart.mark(
            "point",
            {**base, "x": {**x, "field": "high"}},
            only="datum.is_cut",
            shape="triangle-right",
            filled=True,
            opacity=1,
        ),
        chart.mark("point", marked, only=of(Verdict.CHANGED), filled=True, **dot),
        chart.mark("point", marked, only=of(Verdict.NOISE), fill=chart.PAPER, **dot),
        chart.mark(
            "point",
            {**base, "x": x},
            only=of(Verdict.TOO_FEW),
            shape="cross",
            filled=True,
            **dot,
        ),
        chart.mark(
            "text",
            {**base, **text_place, "text": {"field": "text"}},
            align="left",
            fontSize=size.text_px,
        ),
        px=(size.dots_px, (size.line_px * lines + 10) * len(workloads)),
        title=name,
    )


SECTION = Section(
    10, "change", "How much each workload changed", lambda evidence: figure(evidence.comparison)
)
