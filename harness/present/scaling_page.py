"""How performance grows with the number of nodes, as a table for each workload."""

from collections.abc import Iterator

from harness.analysis.compare.scaling import Point, Scaling
from harness.base.words import visible
from harness.model.limits import MIN_RUNS
from harness.model.scaling import scaled_name
from harness.present import quantities
from harness.present.blocks import Block, Paragraph, Table
from harness.present.comparison_table import workload_cell
from harness.present.footnotes import Footnotes

_HEADINGS = ("nodes", "result", "±", "speed-up", "±", "efficiency")
_EXPLANATION = (
    "Speed-up: performance relative to that on the fewest nodes of the same configuration that have a "
    "result. Efficiency: the speed-up divided by the factor by which the number of nodes grew. ±: 95 % "
    f"confidence intervals, which need {MIN_RUNS} runs; {quantities.TOO_FEW_RUNS}: an interval of ±100 % or "
    "more. The relative uncertainty of the efficiency is that of the speed-up."
)


def scaling_page(scaling: Scaling) -> Iterator[Block]:
    """Yield the tables, their explanation and the footnotes."""
    notes = Footnotes()
    for workload, configurations in scaling.workloads.items():
        rows = []
        for base, points in configurations.items():
            name = visible(base)
            for point in points:
                of_column = scaling.notes.get(scaled_name(base, point.nodes), ())
                marks = notes.mark([*point.cell.notes, *of_column])
                rows.append(_row(name, point, marks))
                name = ""  # the first line alone has it
        yield Table([visible(workload), *_HEADINGS], rows)
    yield Paragraph(_EXPLANATION, notes.texts)


def _row(name: str, point: Point, marks: str) -> list[str]:
    cell = workload_cell(point.cell)
    growth = point.growth
    row = [name, str(point.nodes), f"{cell.value}{marks}", cell.interval]
    if growth is None:
        row += [quantities.UNKNOWN, "", quantities.UNKNOWN]
    else:
        distance = growth.interval and growth.interval.relative_distance(growth.speed_up)
        efficiency = quantities.share(growth.efficiency, 1)
        row += [f"{growth.speed_up:.2f}", quantities.uncertainty(distance), efficiency]
    return row
