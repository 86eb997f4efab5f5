"""How performance grows with the number of nodes, as a table for each workload."""

from collections.abc import Mapping, Sequence

from harness.analysis.compare.scaling import Point, Scaling
from harness.base.words import visible
from harness.model.limits import MIN_RUNS
from harness.present import quantities
from harness.present.comparison_table import workload_entry
from harness.present.table import Footnotes
from harness.present.text import fill, footnotes, simple_table

_HEADINGS = ("nodes", "result", "±", "speed-up", "±", "efficiency")
_EXPLANATION = (
    "Speed-up: performance relative to that on the fewest nodes of the same configuration that have a "
    "result. Efficiency: the speed-up relative to how many times as many nodes there are. ±: 95 % "
    f"confidence intervals, which need {MIN_RUNS} runs; {quantities.TOO_FEW_RUNS}: one of ±100 % or more. "
    "The relative uncertainty of the efficiency is that of the speed-up."
)


def render(scaling: Scaling) -> str:
    """Return the tables, their explanation and the footnotes; ends with a newline."""
    notes = Footnotes()
    tables = [
        _table(workload, configurations, scaling, notes)
        for workload, configurations in scaling.workloads.items()
    ]
    return "\n".join([*tables, fill(_EXPLANATION), *footnotes(notes), ""])


def _table(
    workload: str, configurations: Mapping[str, Sequence[Point]], scaling: Scaling, notes: Footnotes
) -> str:
    rows = []
    for base, points in configurations.items():
        for number, point in enumerate(points):
            name = visible(base) if number == 0 else ""
            column = f"{base}-n{point.nodes}"
            marks = notes.mark((*point.cell.notes, *scaling.notes.get(column, ())))
            rows.append([name, *_row(point, marks)])
    return simple_table([visible(workload), *_HEADINGS], rows) + "\n"


def _row(point: Point, marks: str) -> list[str]:
    words = workload_entry(point.cell).fields
    result = [str(point.nodes), f"{words.value}{marks}", words.interval]
    if (growth := point.growth) is None:
        return [*result, quantities.UNKNOWN, "", quantities.UNKNOWN]
    distance = growth.interval and growth.interval.relative_distance(growth.speed_up)
    uncertainty = quantities.uncertainty(distance)
    return [*result, f"{growth.speed_up:.2f}", uncertainty, quantities.share(growth.efficiency, 1)]
