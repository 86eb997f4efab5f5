"""Every trial in the order of measurement, which shows outliers and drift."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import altair as alt

from harness.analysis.compare.comparison import Comparison
from harness.model.run import Phase, Trial
from harness.present import quantities
from harness.present.data_table import DataTable
from harness.present.report import chart
from harness.present.report.chart import Figure, Picture, Series, series_of

WIDTH_PX, HEIGHT_PX = 262, 100
_MAX_LARGE_MARKS = 60
LEGEND = (
    "Time of each trial in seconds, from left to right in the order of measurement; a vertical line "
    "separates runs. Hollow marks are warm-up trials, which do not count; one at the upper edge may have "
    f"taken longer. {chart.FAILED} marks a failed trial."
)


@dataclass(frozen=True)
class Mark:
    """A trial; `order` counts from 1 over all trials of the workload."""

    configuration: str
    run: str
    order: int
    trial: Trial

    @property
    def text(self) -> str:
        """Return `12.3 s` or `failed`; warm-up trials are in brackets."""
        wall_s = self.trial.wall_s
        text = str(self.trial.status) if wall_s is None else quantities.time_text(wall_s)
        return f"({text})" if self.trial.phase is Phase.WARM_UP else text


def marks(comparison: Comparison) -> dict[str, tuple[Mark, ...]]:
    """Return all trials of each workload, including warm-up and failed ones, in the order of their start."""
    trials = [
        (trial, column.name, recorded.run.id)
        for column in comparison.columns
        for recorded in column.runs
        for trial in recorded.trials
    ]
    trials.sort(key=lambda entry: entry[0].started_at)
    found: dict[str, list[Mark]] = {row.workload: [] for row in comparison.rows}
    for trial, configuration, run in trials:
        of_workload = found[trial.workload]
        of_workload.append(Mark(configuration, run, len(of_workload) + 1, trial))
    return {workload: tuple(marks) for workload, marks in found.items() if marks}


def figure(comparison: Comparison) -> Figure | None:
    """Return the figure; None if there is no trial."""
    found = marks(comparison)
    if not found:
        return None
    keys = series_of(column.name for column in comparison.columns)
    return Figure(
        anchor="trials",
        title="Every trial",
        alternative=(
            "Dots: the time of every trial in the order of measurement, one picture for each workload. "
            + "; ".join(f"{workload}: {_range(marks)}" for workload, marks in found.items())
        ),
        pictures=tuple(
            Picture(_draw(marks, keys), heading=workload) for workload, marks in found.items()
        ),
        numbers=DataTable(
            ("workload", "configuration", "run", "trials in order"),
            tuple(
                (workload, configuration, run, ", ".join(mark.text for mark in trials))
                for workload, marks in found.items()
                for (configuration, run), trials in groupby(
                    marks, lambda m: (m.configuration, m.run)
                )
            ),
        ),
        keys=keys,
        remarks=(LEGEND,),
    )


def _range(marks: Sequence[Mark]) -> str:
    times_s = [mark.trial.wall_s for mark in marks if mark.trial.wall_s is not None]
    if not times_s:
        return f"{len(marks)} trials, none with a time"
    low, high = quantities.time_text(min(times_s)), quantities.time_text(max(times_s))
    return f"{len(marks)} trials, {low} to {high}"


def _draw(marks: Sequence[Mark], series: Mapping[str, Series]) -> str:
    base = alt.Chart(chart.data([_row(mark, series) for mark in marks])).encode(
        x=alt.X("order:Q", axis=None, scale=alt.Scale(domain=[0.5, len(marks) + 0.5], nice=False)),
        color=alt.Color("colour:N", scale=None),
        shape=alt.Shape("shape:N", scale=None),
    )
    y = alt.Y(
        "wall_s:Q",
        axis=alt.Axis(tickCount=4, title=None, minExtent=28),
        scale=alt.Scale(domain=_domain(marks), nice=True, clamp=True),
    )
    size: dict[str, Any] = {
        "size": 26 if len(marks) <= _MAX_LARGE_MARKS else 12,
        "opacity": 1,
        "strokeWidth": 1.2,
    }
    return chart.svg(
        alt.layer(
            alt.Chart(chart.data(_boundaries(marks)))
            .mark_rule(color=chart.FAINT, strokeWidth=1.5)
            .encode(x=alt.X("order:Q", axis=None)),
            base.transform_filter("datum.phase === 'warm-up'")
            .mark_point(fill=chart.PAPER, **size)
            .encode(y=y),
            base.transform_filter("datum.phase === 'measured'")
            .mark_point(filled=True, **size)
            .encode(y=y),
            base.transform_filter("datum.wall_s === null")
            .mark_text(text=chart.FAILED, fontSize=16, fontWeight="bold")
            .encode(y=alt.value(4), color=alt.value(chart.ALARM), shape=alt.Shape()),
        ).properties(width=WIDTH_PX, height=HEIGHT_PX)
    )


def _domain(marks: Sequence[Mark]) -> list[float]:
    """Return the range of the measured times: warm-up trials, if included, would flatten the rest."""
    times_s = [
        (mark.trial.wall_s, mark.trial.phase) for mark in marks if mark.trial.wall_s is not None
    ]
    measured = [time_s for time_s, phase in times_s if phase is Phase.MEASURED]
    shown = measured or [time_s for time_s, _ in times_s] or [1.0]
    margin = (max(shown) - min(shown)) * 0.06 or max(shown) * 0.01
    return [min(shown) - margin, max(shown) + margin]


def _row(mark: Mark, series: Mapping[str, Series]) -> dict[str, Any]:
    return {
        "order": mark.order,
        "wall_s": mark.trial.wall_s,
        "phase": str(mark.trial.phase),
        **series[mark.configuration].mark,
    }


def _boundaries(marks: Sequence[Mark]) -> list[dict[str, float]]:
    """Return the positions between trials of different runs."""
    return [
        {"order": after.order - 0.5}
        for before, after in pairwise(marks)
        if (before.configuration, before.run) != (after.configuration, after.run)
    ]
