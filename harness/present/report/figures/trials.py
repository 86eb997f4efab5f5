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
from harness.present.report.figure import Evidence, Figure, Section, picture

_PX = (262, 100)
_MAX_LARGE_MARKS = 60
_LEGEND = (
    "Time of each trial in seconds, from left to right in the order of measurement; a vertical line "
    "separates runs. Hollow marks do not count: they are warm-up trials or disturbed trials. A mark at the "
    f"upper edge may have taken longer. {chart.FAILED} marks a failed trial."
)


class Mark(NamedTuple):
    """A trial, and the configuration and the run to which it belongs."""

    configuration: str
    run: str
    trial: Trial

    def of_run(self) -> tuple[str, str]:
        """Return the configuration and the run."""
        return self.configuration, self.run

    @property
    def text(self) -> str:
        """Return `12.3 s` or `failed`; in brackets if the trial does not count."""
        wall_s = self.trial.wall_s
        text = str(self.trial.status)
        if wall_s is not None:
            text = quantities.time_text(wall_s)
        if not self.trial.counts:
            text = f"({text})"
        return text


def marks(comparison: Comparison) -> dict[str, list[Mark]]:
    """Return the trials of each workload, whether or not they count, in the order of their start.

    Trials of profile and proof rounds are left out: their times are not meant to be compared.
    """
    by_workload: dict[str, list[Mark]] = {row.workload: [] for row in comparison.rows}
    for column in comparison.columns:
        for recorded in column.runs:
            for trial in recorded.trials:
                if trial.phase in (Phase.PROFILE, Phase.PROOF):
                    continue
                if trial.workload in by_workload:
                    mark = Mark(column.name, recorded.run.id, trial)
                    by_workload[trial.workload].append(mark)
    for of_workload in by_workload.values():
        of_workload.sort(key=lambda mark: mark.trial.started_at)
    return {name: of_workload for name, of_workload in by_workload.items() if of_workload}


@partial(Section, 30, "trials", "Every trial")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if there is no trial."""
    found = marks(evidence.comparison)
    if not found:
        return None
    keys = evidence.styles
    pictures = []
    rows = []
    for workload, of_workload in found.items():
        pictures.append(picture(_drawn(of_workload, keys), heading=workload))
        for of_run, trials in groupby(of_workload, Mark.of_run):
            rows.append([workload, *of_run, ", ".join(mark.text for mark in trials)])
    return Figure(
        alternative="Dots: the time of every trial of a workload, in the order of measurement.",
        pictures=tuple(pictures),
        numbers=Table(("workload", "configuration", "run", "trials in order"), rows),
        keys=keys,
        remarks=(_LEGEND,),
    )


def _drawn(marks: Sequence[Mark], series: Mapping[str, chart.Style]) -> chart.Spec:
    failed = []
    counted = []
    others = []
    for order, mark in enumerate(marks, 1):
        look = series[mark.configuration]
        trial = mark.trial
        row = {"order": order, "wall_s": trial.wall_s, **look.mark, "fill": look.colour}
        if trial.wall_s is None:
            failed.append(row)
        elif trial.counts:
            counted.append(row)
        else:
            others.append({**row, "fill": chart.PAPER})
    boundaries = []
    for order, (before, after) in enumerate(pairwise(marks), 1):
        if before.of_run() != after.of_run():
            boundaries.append({"order": order + 0.5})
    x = {"x": chart.quantity("order", axis=None, scale=chart.scale(0.5, len(marks) + 0.5))}
    y = chart.quantity(
        "wall_s",
        axis={"tickCount": 4, "minExtent": 28},
        scale={"domain": domain(marks), "nice": True, "clamp": True},
    )
    place = {**x, "y": y, **chart.COLOUR, **chart.SHAPE, "fill": chart.as_is("fill")}
    size = 18 if len(marks) <= _MAX_LARGE_MARKS else 8
    cross: dict[str, Any] = {"text": chart.FAILED, "fontSize": 16, "fontWeight": "bold"}
    return chart.layered(
        others + counted,
        chart.mark("rule", x, rows=boundaries, color=chart.FAINT, strokeWidth=1.5),
        chart.mark("point", place, size=size, opacity=1, strokeWidth=1.2),
        chart.mark("text", {**x, "y": {"value": 4}}, rows=failed, color=chart.ALARM, **cross),
        px=_PX,
    )


def domain(marks: Sequence[Mark]) -> list[float]:
    """Return the range of the times that count, or of all times if none counts.

    The times that do not count would flatten the rest.
    """
    every = []
    counted = []
    for mark in marks:
        wall_s = mark.trial.wall_s
        if wall_s is not None:
            every.append(wall_s)
            if mark.trial.counts:
                counted.append(wall_s)
    times_s = counted or every or [1.0]
    margin = (max(times_s) - min(times_s)) * 0.06 or max(times_s) * 0.01
    return [min(times_s) - margin, max(times_s) + margin]
