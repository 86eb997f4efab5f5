"""Where the time of each workload went, in each configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.analysis.compare.comparison import Comparison
from harness.analysis.explain.attribution import PARTS, Parts, attribute, explain
from harness.model.errors import BadInput
from harness.present import quantities
from harness.present.attribution_tables import NAMES
from harness.present.data_table import DataTable, Quantity
from harness.present.explanation import sentence
from harness.present.report import chart
from harness.present.report.figure import Figure, Section, grouped, picture

_WIDTH_PX, _BAR_PX = 180, 22
_NAME_WIDTH = 14
_COLOURS: Mapping[str, str] = {
    "fetch_wait_s": "series-2",
    "cpu_s": "series-1",
    "shuffle_write_s": "series-5",
    "python_worker_s": "series-4",
    "unattributed_s": "series-7",
    "deserialization_s": "series-6",
    "result_s": "series-3",
    "scheduler_delay_s": "soft",
    "idle_s": "faint",
}
LEGEND = (
    "Seconds: the median of each part. Tasks run in parallel, so a second of one task counts as a fraction "
    "of a second of the workload; idle is the time of slots without a task. File system and unattributed "
    "is time that no metric covers; it is not network time alone."
)


@dataclass(frozen=True)
class Bar:
    """One workload in one configuration: the median of each part of its time, in seconds."""

    workload: str
    configuration: str
    parts_s: Parts


def bars(comparison: Comparison) -> tuple[Bar, ...]:
    """Return the bars in the order of the table; workloads without task metrics have none."""
    return tuple(
        Bar(row.workload, column.name, attribution.parts_s)
        for row in comparison.rows
        for column in comparison.columns
        if (attribution := attribute(column.runs, row.workload))
    )


def figure(comparison: Comparison) -> Figure | None:
    """Return the figure; None if no trial has task metrics."""
    found = bars(comparison)
    if not found:
        return None
    kept = [part for part in PARTS if any(bar.parts_s.get(part) for bar in found)]
    return Figure(
        alternative="Stacked bars: the parts of the time of each workload. "
        + "; ".join(f"{bar.workload} in {bar.configuration}: {_description(bar)}" for bar in found),
        pictures=tuple(
            picture(_drawn(of_workload), heading=name)
            for name, of_workload in grouped(found, lambda bar: bar.workload).items()
        ),
        numbers=DataTable.of(
            {
                "workload": bar.workload,
                "configuration": bar.configuration,
                **{NAMES[p]: Quantity.of(bar.parts_s.get(p), quantities.time_text) for p in kept},
            }
            for bar in found
        ),
        keys={NAMES[part]: chart.Series(_colour(part), "square", "■") for part in kept},
        remarks=(LEGEND,),
        lines=tuple(_sentences(comparison)),
    )


def _sentences(comparison: Comparison) -> Iterator[str]:
    """Yield what each change against the baseline consists of, where that is known; without controls."""
    for index, column in enumerate(comparison.columns[1:], 1):
        pair = replace(
            comparison,
            columns=(comparison.columns[0], column),
            rows=tuple(
                replace(row, cells=(row.cells[0], row.cells[index]))
                for row in comparison.rows
                if row.workload not in comparison.common_controls
            ),
        )
        try:
            explained = explain(pair).rows
        except BadInput:  # no workload has task metrics in both configurations
            continue
        yield from (f"{column.name}: {sentence(row)}" for row in explained if row.parts_s)


def _colour(part: str) -> str:
    return f"var(--{_COLOURS[part]})"


def _description(bar: Bar) -> str:
    """Return the three largest parts."""
    largest = sorted(bar.parts_s.items(), key=lambda part: -part[1])[:3]
    return ", ".join(f"{NAMES[part]} {quantities.time_text(seconds)}" for part, seconds in largest)


def _drawn(bars: Sequence[Bar]) -> chart.Spec:
    names = chart.labels((bar.configuration for bar in bars), _NAME_WIDTH)
    rows = [
        {
            "name": names[bar.configuration],
            "seconds": max(0, seconds),
            "order": order,
            "colour": _colour(part),
        }
        for bar in bars
        for order, part in enumerate(PARTS)
        if (seconds := bar.parts_s.get(part))
    ]
    place = {
        "y": chart.category("name", sort=list(names.values()), axis={"minExtent": 64}),
        "x": chart.quantity("seconds", axis={"tickCount": 4, "labelFlush": False}),
        **chart.COLOUR,
        "order": {"field": "order", "type": "ordinal"},
    }
    stacks = chart.mark("bar", place, height=_BAR_PX - 6, stroke=chart.PAPER, strokeWidth=0.5)
    return chart.layered(rows, stacks, px=(_WIDTH_PX, _BAR_PX * len(names)))


SECTION = Section(40, "time", "Where the time went", lambda evidence: figure(evidence.comparison))
