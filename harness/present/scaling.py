"""How performance grows with the number of nodes, as a table for each workload."""

from collections import Counter
from collections.abc import Iterator

from harness.analysis.compare.scaling import Growth, Point, ScaledWorkload, Scaling
from harness.model.limits import MIN_RUNS
from harness.present import quantities
from harness.present.comparison_table import mark_sentences, workload_entry
from harness.present.table import Footnotes, fields
from harness.present.text import fill, footnotes, simple_table
from harness.statistics.change import Verdict
from harness.words import count_of, visible


def render(scaling: Scaling) -> str:
    """Return the tables, their explanation and the footnotes; ends with a newline."""
    notes = Footnotes()
    tables = [_table(scaled, scaling, notes) for scaled in scaling.workloads]
    return "\n".join([*tables, *map(fill, _sentences(scaling)), *footnotes(notes), ""])


def _table(scaled: ScaledWorkload, scaling: Scaling, notes: Footnotes) -> str:
    first, *others = scaled.points
    headings = [visible(scaled.workload), "nodes", "result", "±", "speed-up", "±", "efficiency"]
    if others:
        headings += [f"change from {visible(first)}", "±"]
    rows = []
    for base, points in scaled.points.items():
        for number, point in enumerate(points):
            name = visible(base) if number == 0 else ""
            column = f"{base}-n{point.nodes}"
            marks = notes.mark((*point.cell.notes, *scaling.notes.get(column, ())))
            rows.append([name, *_row(point, marks)][: len(headings)])
    return simple_table(headings, rows) + "\n"


def _row(point: Point, marks: str) -> list[str]:
    words = workload_entry(point.cell).fields
    change = point.change
    of_efficiency = fields("", None, change)
    return [
        str(point.nodes),
        f"{words.value}{marks}",
        words.interval,
        *_growth(point.speed_up),
        quantities.UNKNOWN if point.efficiency is None else quantities.share(point.efficiency, 1),
        of_efficiency.marked_change,
        of_efficiency.change_interval,
    ]


def _growth(growth: Growth | None) -> tuple[str, str]:
    if growth is None:
        return quantities.UNKNOWN, ""
    distance = growth.interval and growth.interval.relative_distance(growth.value)
    return f"{growth.value:.2f}", quantities.uncertainty(distance)


def _sentences(scaling: Scaling) -> Iterator[str]:
    """Yield what the columns are."""
    yield (
        "Speed-up: performance relative to that on the fewest nodes of the same configuration that have a "
        "result. Efficiency: the speed-up relative to how many times as many nodes there are. ±: 95 % "
        f"confidence intervals, which need {MIN_RUNS} runs; the relative uncertainty of the efficiency is "
        "that of the speed-up."
    )
    changes = [
        (name in scaling.controls, point.change.verdict)
        for name, _, point in scaling.points()
        if point.change
    ]
    if changes:
        yield (
            "Change from another configuration: the ratio of the efficiencies on as many nodes, "
            "relative to the fewest nodes that both have, minus 1; more than 0 means that the efficiency "
            "falls less with the number of nodes."
        )
    tested = Counter(is_control for is_control, verdict in changes if verdict != Verdict.TOO_FEW)
    if numbers := [
        f"{count_of(number, 'comparison')}{' of controls' if is_control else ''}"
        for is_control, number in sorted(tested.items())
    ]:
        yield f"A t test on runs, Holm-adjusted for {' and, apart, for '.join(numbers)}."
    yield from mark_sentences(verdict for _, verdict in changes)
