"""The change of every workload: a dot with its interval, all on one scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from harness.analysis.comparison import Comparison
from harness.present import quantities
from harness.present.comparison_table import comparison_table
from harness.present.report import chart
from harness.present.report.chart import (
    Figure,
    Numbers,
    Picture,
    Quantity,
    Series,
    labels,
    series_of,
)
from harness.present.table import Fields
from harness.statistics.change import Change, Verdict

MOST_SHARE = 1.0
"""An interval that reaches farther, where no dot does, is cut off there: it would flatten the rest."""


@dataclass(frozen=True)
class Dot:
    """One workload in one configuration."""

    workload: str
    configuration: str
    is_control: bool
    change: Change
    fields: Fields

    @property
    def is_told(self) -> bool:
        """Whether there are enough trials to show it."""
        return self.change.verdict is not Verdict.TOO_FEW

    @property
    def text(self) -> str:
        """As the table has it: `-9.5% ±1%`, `~ ±3%`, `need >= 6 trials`."""
        return f"{self.fields.change} {self.fields.change_interval}".strip()


def dots(comparison: Comparison) -> tuple[Dot, ...]:
    """Every change, in the table's order."""
    lines = comparison_table(comparison).lines
    return tuple(
        Dot(
            row.workload,
            column.name,
            row.workload in comparison.common_controls,
            cell.change,
            entry.fields,
        )
        for row, line in zip(comparison.rows, lines, strict=True)
        for column, cell, entry in zip(comparison.columns, row.cells, line.entries, strict=True)
        if cell.change
    )


def figure(comparison: Comparison) -> Figure | None:
    """The figure; None where there are too few trials to tell of any change."""
    found = dots(comparison)
    if not any(dot.is_told for dot in found):
        return None
    keys = series_of(column.name for column in comparison.columns)
    baseline, *others = keys
    return Figure(
        anchor="change",
        title="How much every workload changed",
        alternative=(
            f"Dot plot: the change of every median time against {baseline}, with its 95 % interval. "
            + "; ".join(f"{dot.workload} in {dot.configuration}: {dot.text}" for dot in found)
        ),
        pictures=(Picture(*(_draw(found, keys, room) for room in (WIDE, NARROW))),),
        numbers=Numbers(
            ("workload", "configuration", "change", "from", "to", "p"),
            tuple(map(_numbers, found)),
        ),
        keys={name: keys[name] for name in others},
        remarks=tuple(_remarks(found)),
    )


def _numbers(dot: Dot) -> tuple[str | Quantity, ...]:
    """The interval's ends among them."""
    change, interval = dot.change, dot.change.interval
    if not dot.is_told:
        nothing = Quantity("", None)
        return (dot.workload, dot.configuration, Quantity(dot.fields.change, None), *[nothing] * 3)
    low, high = (interval.low, interval.high) if interval else (None, None)
    return (
        dot.workload,
        dot.configuration,
        Quantity(dot.fields.change, change.relative_change),
        *(Quantity("" if end is None else quantities.change(end), end) for end in (low, high)),
        Quantity(dot.fields.p, change.adjusted_p),
    )


def _remarks(found: Sequence[Dot]) -> Iterator[str]:
    verdicts = {dot.change.verdict for dot in found}
    if Verdict.CHANGED in verdicts:
        yield "Full dots are changes that chance does not explain; lines are 95 % intervals."
    if Verdict.NOISE in verdicts:
        yield f"Hollow dots, {quantities.NOISE}, are within what chance explains."
    if any(dot.is_control for dot in found):
        yield "Controls need neither network nor storage: if they move, the machine has changed."


@dataclass(frozen=True)
class _Room:
    """For the dots, for a line of them and, in characters, for the names before them."""

    dots_px: int
    line_px: int
    dot_px2: int
    name_width: int
    text_px: int


WIDE = _Room(dots_px=620, line_px=18, dot_px2=75, name_width=32, text_px=12)
NARROW = _Room(dots_px=148, line_px=17, dot_px2=45, name_width=20, text_px=11)


@dataclass(frozen=True)
class _Frame:
    """What the parts of the picture have in common, so that they stand below each other."""

    room: _Room
    series: Mapping[str, Series]
    workloads: Mapping[str, str]
    domain: tuple[float, float]

    def x(self, *, with_axis: bool) -> alt.X:
        axis = alt.Axis(
            format="+.0%",
            grid=True,
            labelExpr="datum.value === 0 ? '0%' : datum.label",
            labelFlush=False,
            labels=with_axis,
            tickCount=max(3, self.room.dots_px // 65),
            title="less time  ←  change  →  more time" if with_axis else None,
        )
        return alt.X("share:Q", scale=alt.Scale(domain=self.domain, nice=True), axis=axis)

    def y(self, workloads: Sequence[str]) -> alt.Y:
        names_px = round(max(map(len, self.workloads.values())) * self.room.text_px * 0.56)
        axis = alt.Axis(
            labelFontSize=self.room.text_px,
            labelLimit=names_px,
            minExtent=names_px,
            maxExtent=names_px,
        )
        return alt.Y("workload:N", sort=list(workloads), title=None, axis=axis)

    def row(self, dot: Dot) -> dict[str, Any]:
        interval = dot.change.interval if dot.is_told else None
        return {
            "workload": self.workloads[dot.workload],
            "line": list(self.series).index(dot.configuration),
            "colour": self.series[dot.configuration].colour,
            "shape": self.series[dot.configuration].shape,
            "verdict": str(dot.change.verdict),
            "share": dot.change.relative_change if dot.is_told else None,
            "low": interval and interval.low,
            "high": interval and min(interval.high, self.domain[1]),
            "is_cut": bool(interval and interval.high > self.domain[1]),
            "text": dot.text,
        }


def _draw(found: Sequence[Dot], series: Mapping[str, Series], room: _Room) -> str:
    """Workloads above, controls below, on the same scale."""
    frame = _Frame(
        room,
        series,
        workloads=labels((dot.workload for dot in found), room.name_width),
        domain=_domain([dot.change for dot in found if dot.is_told]),
    )
    parts = {
        "workloads": [frame.row(dot) for dot in found if not dot.is_control],
        "controls": [frame.row(dot) for dot in found if dot.is_control],
    }
    filled = [name for name in parts if parts[name]]
    drawn = [_part(name, parts[name], frame, with_axis=name == filled[-1]) for name in filled]
    return chart.svg(alt.vconcat(*drawn, spacing=10))


def _domain(told: Sequence[Change]) -> tuple[float, float]:
    """From the least to the greatest that is shown; no change at all is in it."""
    shares = [change.relative_change for change in told]
    intervals = [change.interval for change in told if change.interval]
    most = max(0.0, *shares, *(min(interval.high, MOST_SHARE) for interval in intervals))
    return min(0.0, *shares, *(interval.low for interval in intervals)), most


def _part(
    name: str, rows: Sequence[dict[str, Any]], frame: _Frame, *, with_axis: bool
) -> alt.LayerChart | alt.FacetChart:
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    room, lines = frame.room, len(frame.series) - 1
    base = alt.Chart(chart.rows(rows)).encode(
        y=frame.y(workloads),
        yOffset=alt.YOffset("line:O"),
        color=alt.Color("colour:N", scale=None),
    )
    told = base.encode(x=frame.x(with_axis=with_axis), shape=alt.Shape("shape:N", scale=None))
    dot: dict[str, Any] = {"size": room.dot_px2, "opacity": 1, "strokeWidth": 2}
    return alt.layer(
        alt.Chart(chart.rows([{}])).mark_rule(color=chart.SOFT).encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q"),
        base.transform_filter("datum.is_cut")
        .mark_point(shape="triangle-right", filled=True, opacity=1)
        .encode(x="high:Q"),
        told.transform_filter("datum.verdict === 'changed'").mark_point(filled=True, **dot),
        told.transform_filter("datum.verdict === 'noise'").mark_point(fill=chart.PAPER, **dot),
        base.mark_text(align="left", fontSize=room.text_px).encode(
            x=alt.value(room.dots_px + 10), text="text:N", color=alt.value(chart.INK)
        ),
    ).properties(
        width=room.dots_px,
        height=(room.line_px * lines + 10) * len(workloads),
        title=alt.TitleParams(name, anchor="start", frame="bounds"),
    )
