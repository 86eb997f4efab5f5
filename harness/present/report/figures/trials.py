"""Every trial as it was measured, in its order: outliers and drift are there to be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import altair as alt

from harness.analysis.comparison import Comparison
from harness.model.run import Phase, Trial
from harness.present import quantities
from harness.present.report import chart
from harness.present.report.chart import Figure, Numbers, Picture, Series, series_of

WIDTH_PX, HEIGHT_PX = 262, 100
_MOST_LARGE_MARKS = 60
LEGEND = (
    "Time in seconds, from left to right as they were measured; a vertical line is where "
    "another run begins. Hollow marks are warm-up, which does not count, and may have taken "
    f"longer if they are at the upper edge; {chart.TIMES} failed."
)


@dataclass(frozen=True)
class Mark:
    """A trial; `order` counts from 1 over all trials of its workload."""

    configuration: str
    run: str
    order: int
    trial: Trial

    @property
    def text(self) -> str:
        """`12.3 s`, or `failed`; a warm-up in brackets."""
        wall_s = self.trial.wall_s
        text = str(self.trial.status) if wall_s is None else quantities.time(wall_s)
        return f"({text})" if self.trial.phase is Phase.WARM_UP else text


def marks(comparison: Comparison) -> dict[str, tuple[Mark, ...]]:
    """All trials of each of the table's workloads, also warm-up and failed ones, as they followed."""
    trials = [
        (trial, column.name, recorded.run.id)
        for column in comparison.columns
        for recorded in column.runs
        for trial in recorded.trials
    ]
    trials.sort(key=lambda found: found[0].started_at)
    found: dict[str, list[Mark]] = {row.workload: [] for row in comparison.rows}
    for trial, configuration, run in trials:
        of_workload = found[trial.workload]
        of_workload.append(Mark(configuration, run, len(of_workload) + 1, trial))
    return {workload: tuple(marks) for workload, marks in found.items() if marks}


def figure(comparison: Comparison) -> Figure | None:
    """The figure; None where nothing was tried."""
    found = marks(comparison)
    if not found:
        return None
    keys = series_of(column.name for column in comparison.columns)
    return Figure(
        anchor="trials",
        title="Every single trial",
        alternative=(
            "Dots: the time of every trial, in the order of measurement, a picture a workload. "
            + "; ".join(f"{workload}: {_range(of)}" for workload, of in found.items())
        ),
        pictures=tuple(
            Picture(_draw(of, keys), heading=workload) for workload, of in found.items()
        ),
        numbers=Numbers(
            ("workload", "configuration", "run", "trials as they followed"),
            tuple(
                (workload, configuration, run, ", ".join(mark.text for mark in trials))
                for workload, of in found.items()
                for (configuration, run), trials in groupby(of, lambda m: (m.configuration, m.run))
            ),
        ),
        keys=keys,
        remarks=(LEGEND,),
    )


def _range(of: Sequence[Mark]) -> str:
    times_s = [mark.trial.wall_s for mark in of if mark.trial.wall_s is not None]
    if not times_s:
        return f"{len(of)} trials, none with a time"
    low, high = quantities.time(min(times_s)), quantities.time(max(times_s))
    return f"{len(of)} trials, {low} to {high}"


def _draw(of: Sequence[Mark], series: Mapping[str, Series]) -> str:
    base = alt.Chart(chart.rows([_row(mark, series) for mark in of])).encode(
        x=alt.X("order:Q", axis=None, scale=alt.Scale(domain=[0.5, len(of) + 0.5], nice=False)),
        color=alt.Color("colour:N", scale=None),
        shape=alt.Shape("shape:N", scale=None),
    )
    y = alt.Y(
        "wall_s:Q",
        axis=alt.Axis(tickCount=4, title=None, minExtent=28),
        scale=alt.Scale(domain=_domain(of), nice=True, clamp=True),
    )
    size: dict[str, Any] = {
        "size": 26 if len(of) <= _MOST_LARGE_MARKS else 12,
        "opacity": 1,
        "strokeWidth": 1.2,
    }
    return chart.svg(
        alt.layer(
            alt.Chart(chart.rows(_boundaries(of)))
            .mark_rule(color=chart.FAINT, strokeWidth=1.5)
            .encode(x=alt.X("order:Q", axis=None)),
            base.transform_filter("datum.phase === 'warm-up'")
            .mark_point(fill=chart.PAPER, **size)
            .encode(y=y),
            base.transform_filter("datum.phase === 'measured'")
            .mark_point(filled=True, **size)
            .encode(y=y),
            base.transform_filter("datum.wall_s === null")
            .mark_text(text=chart.TIMES, fontSize=16, fontWeight="bold")
            .encode(y=alt.value(4), color=alt.value(chart.ALARM), shape=alt.Shape()),
        ).properties(width=WIDTH_PX, height=HEIGHT_PX)
    )


def _domain(of: Sequence[Mark]) -> list[float]:
    """Of the measured times, because a warm-up would flatten them; of all if there is no other."""
    times_s = [
        (mark.trial.wall_s, mark.trial.phase) for mark in of if mark.trial.wall_s is not None
    ]
    measured = [time_s for time_s, phase in times_s if phase is Phase.MEASURED]
    shown = measured or [time_s for time_s, _ in times_s] or [1.0]
    room = (max(shown) - min(shown)) * 0.06 or max(shown) * 0.01
    return [min(shown) - room, max(shown) + room]


def _row(mark: Mark, series: Mapping[str, Series]) -> dict[str, Any]:
    return {
        "order": mark.order,
        "wall_s": mark.trial.wall_s,
        "phase": str(mark.trial.phase),
        "colour": series[mark.configuration].colour,
        "shape": series[mark.configuration].shape,
    }


def _boundaries(of: Sequence[Mark]) -> list[dict[str, float]]:
    """Between the trials of different runs."""
    return [
        {"order": after.order - 0.5}
        for before, after in pairwise(of)
        if (before.configuration, before.run) != (after.configuration, after.run)
    ]
