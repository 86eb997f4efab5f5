"""Where the time of each workload went, in each configuration."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from harness.analysis.compare.comparison import Comparison
from harness.analysis.explain.attribution import PARTS, Parts, attribute, explain
from harness.base.errors import BadInput
from harness.present import quantities
from harness.present.attribution_tables import NAMES, kept_parts
from harness.present.blocks import Table
from harness.present.explanation_page import sentence
from harness.present.report import chart
from harness.present.report.figure import Evidence, Figure, Section, picture

_WIDTH_PX = 180
_BAR_PX = 22
_NAME_WIDTH = 14
_COLOURS: Mapping[str, str] = {
    "fetch_wait_s": "var(--series-2)",
    "cpu_s": "var(--series-1)",
    "shuffle_write_s": "var(--series-5)",
    "python_worker_s": "var(--series-4)",
    "unattributed_s": "var(--series-7)",
    "deserialization_s": "var(--series-6)",
    "result_s": "var(--series-3)",
    "scheduler_delay_s": chart.SOFT,
    "idle_s": chart.FAINT,
}
LEGEND = (
    "Seconds: the median of each part. Tasks run in parallel, so a second of one task counts as a fraction "
    "of a second of the workload; idle is the time of slots without a task. File system and unattributed "
    "is time that no metric covers; it is not network time alone."
)


def parts_by_workload(comparison: Comparison) -> dict[str, dict[str, Parts]]:
    """Return the median of each part, in seconds, by workload and configuration.

    Both are in the order of the table. Those without task metrics are left out.
    """
    found: dict[str, dict[str, Parts]] = {}
    for row in comparison.rows:
        for column in comparison.columns:
            attribution = attribute(column.runs, row.workload)
            if attribution:
                found.setdefault(row.workload, {})[column.name] = attribution.parts_s
    return found


@partial(Section, 40, "time", "Where the time went")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if no trial has task metrics."""
    found = parts_by_workload(evidence.comparison)
    if not found:
        return None
    bars = {}
    pictures = []
    for workload, of_workload in found.items():
        pictures.append(picture(_drawn(of_workload), heading=workload))
        for name, parts_s in of_workload.items():
            bars[workload, name] = parts_s
    kept = {part: NAMES[part] for part in kept_parts(bars.values())}
    rows = []
    for names, parts_s in bars.items():
        row = list(names)
        row += [quantities.if_known(parts_s.get(part), quantities.time_text) for part in kept]
        rows.append(row)
    return Figure(
        alternative="Stacked bars: the parts of the time of each workload.",
        pictures=tuple(pictures),
        numbers=Table(["workload", "configuration", *kept.values()], rows),
        keys={name: chart.Style(_COLOURS[part], "square", "■") for part, name in kept.items()},
        remarks=(LEGEND,),
        lines=tuple(_sentences(evidence)),
    )


def _sentences(evidence: Evidence) -> Iterator[str]:
    """Yield what each change against the baseline consists of, where that is known; without controls."""
    for index, column in enumerate(evidence.comparison.columns[1:], 1):
        try:
            explained = explain(_without_controls(evidence.comparison, index)).rows
        except BadInput:  # no workload has task metrics in both configurations
            continue
        for divided in explained:
            if divided.parts_s:
                yield f"{column.name}: {sentence(divided)}"


def _without_controls(comparison: Comparison, index: int) -> Comparison:
    """Return what is compared between the baseline and the column of this number, controls left out."""
    controls = comparison.controls
    kept = [row for row in comparison.rows if row.workload not in controls]
    rows = tuple(replace(row, cells=(row.cells[0], row.cells[index])) for row in kept)
    columns = (comparison.columns[0], comparison.columns[index])
    return replace(comparison, columns=columns, rows=rows)


def _drawn(bars: Mapping[str, Parts]) -> chart.Spec:
    names = chart.labels(bars, _NAME_WIDTH)
    rows = []
    for name, parts_s in bars.items():
        for order, part in enumerate(PARTS):
            seconds = parts_s.get(part)
            if seconds:
                place = {"name": names[name], "order": order, "colour": _COLOURS[part]}
                rows.append({"seconds": max(0, seconds), **place})
    encoding = {
        "y": chart.category("name", sort=list(names.values()), axis={"minExtent": 64}),
        "x": chart.quantity("seconds", axis={"tickCount": 4, "labelFlush": False}),
        **chart.COLOUR,
        "order": {"field": "order", "type": "ordinal"},
    }
    stacks = chart.mark("bar", encoding, height=_BAR_PX - 6, stroke=chart.PAPER, strokeWidth=0.5)
    return chart.layered(rows, stacks, px=(_WIDTH_PX, _BAR_PX * len(names)))
