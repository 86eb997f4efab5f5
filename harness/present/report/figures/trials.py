"""Every trial in the order of measurement, which shows outliers and drift."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from harness.analysis.compare.comparison import Comparison
from harness.model.run import Trial
from harness.present import quantities
from harness.present.data_table import DataTable
from harness.present.report import chart
from harness.present.report.figure import Figure, Section, picture

_PX = (262, 100)
_MAX_LARGE_MARKS = 60
_LEGEND = (
    "Time of each trial in seconds, from left to right in the order of measurement; a vertical line "
    "separates runs. Hollow marks do not count: warm-up trials, and trials that something disturbed; one at "
    f"the upper edge may have taken longer. {chart.FAILED} marks a failed trial."
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
        """Return `12.3 s` or `failed`; in brackets if the trial does not count."""
        wall_s = self.trial.wall_s
        text = str(self.trial.status) if wall_s is None else quantities.time_text(wall_s)
        return text if self.trial.counts else f"({text})"


def marks(comparison: Comparison) -> dict[str, tuple[Mark, ...]]:
    """Return all trials of each workload, whether or not they count, in the order of their start."""
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
    keys = chart.series_of(column.name for column in comparison.columns)
    return Figure(
        alternative=(
            "Dots: the time of every trial in the order of measurement, one picture for each workload. "
            + "; ".join(f"{workload}: {_range(marks)}" for workload, marks in found.items())
        ),
        pictures=tuple(
            picture(_drawn(marks, keys), heading=workload) for workload, marks in found.items()
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
        remarks=(_LEGEND,),
    )


def _range(marks: Sequence[Mark]) -> str:
    times_s = [mark.trial.wall_s for mark in marks if mark.trial.wall_s is not None]
    if not times_s:
        return f"{len(marks)} trials, none with a time"
    low, high = quantities.time_text(min(times_s)), quantities.time_text(max(times_s))
    return f"{len(marks)} trials, {low} to {high}"


def _drawn(marks: Sequence[Mark], series: Mapping[str, chart.Series]) -> chart.Spec:
    rows = [
        {
            "order": mark.order,
            "wall_s": mark.trial.wall_s,
            "counts": mark.trial.counts,
            **series[mark.configuration].mark,
        }
        for mark in marks
    ]
    boundaries = [
        {"order": after.order - 0.5}
        for before, after in pairwise(marks)
        if (before.configuration, before.run) != (after.configuration, after.run)
    ]
    x = {"x": chart.quantity("order", axis=None, ends=(0.5, len(marks) + 0.5))}
    y = chart.quantity(
        "wall_s",
        axis={"tickCount": 4, "minExtent": 28},
        scale={"domain": domain(marks), "nice": True, "clamp": True},
    )
    dots = {**x, "y": y, **chart.COLOUR, **chart.SHAPE}
    failed = {**x, "y": {"value": 4}, "color": {"value": chart.ALARM}}
    size = 26 if len(marks) <= _MAX_LARGE_MARKS else 12
    style: dict[str, Any] = {"size": size, "opacity": 1, "strokeWidth": 1.2}
    timed = "datum.wall_s !== null && "
    return chart.layered(
        rows,
        chart.mark("rule", x, rows=boundaries, color=chart.FAINT, strokeWidth=1.5),
        chart.mark("point", dots, only=f"{timed}!datum.counts", fill=chart.PAPER, **style),
        chart.mark("point", dots, only=f"{timed}datum.counts", filled=True, **style),
        chart.mark(
            "text",
            failed,
            only="datum.wall_s === null",
            text=chart.FAILED,
            fontSize=16,
            fontWeight="bold",
        ),
        px=_PX,
    )


def domain(marks: Sequence[Mark]) -> list[float]:
    """Return the range of the times that count; of all times if none does.

    Others, if included, would flatten the rest.
    """
    times_s = {mark.order: mark.trial.wall_s for mark in marks if mark.trial.wall_s is not None}
    counted = [times_s[mark.order] for mark in marks if mark.trial.counts and mark.order in times_s]
    shown = counted or [*times_s.values()] or [1.0]
    margin = (max(shown) - min(shown)) * 0.06 or max(shown) * 0.01
    return [min(shown) - margin, max(shown) + margin]


SECTION = Section(30, "trials", "Every trial", lambda evidence: figure(evidence.comparison))
