"""Every trial in the order of measurement, which shows outliers and drift."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from harness.analysis.compare.comparison import Comparison
from harness.model.run import Phase, Trial
from harness.present import quantities
from harness.present.blocks import Table
from harness.present.report import chart
from harness.present.report.figure import Evidence, Figure, Section, grouped, picture

_PX = (262, 100)
_MAX_LARGE_MARKS = 60
_LEGEND = (
    "Time of each trial in seconds, from left to right in the order of measurement; a vertical line "
    "separates runs. Hollow marks do not count: warm-up trials, and trials that something disturbed; one at "
    f"the upper edge may have taken longer. {chart.FAILED} marks a failed trial."
)


class Mark(NamedTuple):
    """A trial, and the configuration and the run to which it belongs."""

    configuration: str
    run: str
    trial: Trial

    @property
    def text(self) -> str:
        """Return `12.3 s` or `failed`; in brackets if the trial does not count."""
        wall_s = self.trial.wall_s
        text = str(self.trial.status) if wall_s is None else quantities.time_text(wall_s)
        return text if self.trial.counts else f"({text})"


def marks(comparison: Comparison) -> dict[str, list[Mark]]:
    """Return the trials of each workload, whether or not they count, in the order of their start.

    Those of profile rounds are left out: their times are not meant to be compared.
    """
    found = [
        Mark(column.name, recorded.run.id, trial)
        for column in comparison.columns
        for recorded in column.runs
        for trial in recorded.trials
        if trial.phase is not Phase.PROFILE
    ]
    by_workload = grouped(
        sorted(found, key=lambda mark: mark.trial.started_at), lambda mark: mark.trial.workload
    )
    names = (row.workload for row in comparison.rows)
    return {name: by_workload[name] for name in names if name in by_workload}


@partial(Section, 30, "trials", "Every trial")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if there is no trial."""
    found = marks(evidence.comparison)
    if not found:
        return None
    keys = chart.series_of(column.name for column in evidence.comparison.columns)
    return Figure(
        alternative="Dots: the time of every trial of a workload, in the order of measurement.",
        pictures=tuple(
            picture(_drawn(marks, keys), heading=workload) for workload, marks in found.items()
        ),
        numbers=Table(
            ("workload", "configuration", "run", "trials in order"),
            tuple(
                (workload, *of_run, ", ".join(mark.text for mark in trials))
                for workload, marks in found.items()
                for of_run, trials in groupby(marks, lambda mark: mark[:2])
            ),
        ),
        keys=keys,
        remarks=(_LEGEND,),
    )


def _drawn(marks: Sequence[Mark], series: Mapping[str, chart.Series]) -> chart.Spec:
    failed: list[dict[str, Any]] = []
    timed: list[dict[str, Any]] = []
    for order, (configuration, _, trial) in enumerate(marks, 1):
        look = series[configuration]
        row = {"order": order, "wall_s": trial.wall_s, "counts": trial.counts, **look.mark}
        row["fill"] = look.colour if trial.counts else chart.PAPER
        (failed if trial.wall_s is None else timed).append(row)
    boundaries = [
        {"order": order + 0.5}
        for order, (before, after) in enumerate(pairwise(marks), 1)
        if before[:2] != after[:2]
    ]
    x = {"x": chart.quantity("order", axis=None, ends=(0.5, len(marks) + 0.5))}
    y = chart.quantity(
        "wall_s",
        axis={"tickCount": 4, "minExtent": 28},
        scale={"domain": domain(marks), "nice": True, "clamp": True},
    )
    place = {**x, "y": y, **chart.COLOUR, **chart.SHAPE, "fill": chart.as_is("fill")}
    size = 18 if len(marks) <= _MAX_LARGE_MARKS else 8
    style: dict[str, Any] = {"size": size, "opacity": 1, "strokeWidth": 1.2}
    cross: dict[str, Any] = {"text": chart.FAILED, "fontSize": 16, "fontWeight": "bold"}
    return chart.layered(
        sorted(timed, key=lambda row: row["counts"]),
        chart.mark("rule", x, rows=boundaries, color=chart.FAINT, strokeWidth=1.5),
        chart.mark("point", place, **style),
        chart.mark("text", {**x, "y": {"value": 4}}, rows=failed, color=chart.ALARM, **cross),
        px=_PX,
    )


def domain(marks: Sequence[Mark]) -> list[float]:
    """Return the range of the times that count; of all times if none does.

    Others, if included, would flatten the rest.
    """
    timed = [(mark.trial.wall_s, mark.trial.counts) for mark in marks]
    every = [wall_s for wall_s, _ in timed if wall_s is not None]
    counted = [wall_s for wall_s, counts in timed if wall_s is not None and counts]
    shown = counted or every or [1.0]
    margin = (max(shown) - min(shown)) * 0.06 or max(shown) * 0.01
    return [min(shown) - margin, max(shown) + margin]
