"""What a table's numbers mean, in a few lines, and what has to be known before it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from harness.analysis.comparison import Cell, Comparison
from harness.present import quantities
from harness.present.table import NEEDS, Entry, Fields, Line, Noted, Table, common, fields
from harness.statistics.change import Change, ControlShift, Verdict
from harness.statistics.median import median_interval

_LEAST_FOR_AN_INTERVAL = next(n for n in count(1) if median_interval([0.0] * n))


def caption(
    n: int | None,
    measured: str,
    changes: Sequence[Change],
    *,
    has_intervals: bool,
    relative_to_controls: bool = False,
) -> str:
    """The sentences below a table, only those that it needs.

    `n` is how many there are of what was `measured`, such as `trial`; None: a column tells.
    """
    return " ".join(
        [
            *_of_cells(n, measured, has_intervals=has_intervals),
            *_of_changes(changes, measured, relative_to_controls=relative_to_controls),
        ]
    )


def warnings(comparison: Comparison) -> tuple[str, ...]:
    """Lines to stand above the table: the controls that moved."""
    moved = [
        (column.name, shift)
        for column, shift in zip(comparison.columns, comparison.control_shifts, strict=True)
        if shift and shift.moved
    ]
    return tuple(_warning(name, shift, comparison) for name, shift in moved)


def _warning(name: str, shift: ControlShift, comparison: Comparison) -> str:
    interval = shift.interval
    between = (
        f" ({quantities.change(interval.low - 1)} to {quantities.change(interval.high - 1)})"
        if interval
        else ""
    )
    what = (
        "what is shown is the change beyond that"
        if comparison.relative_to_controls
        else "the other changes may be the machine's as well; --adjust controls shows what is beyond"
    )
    return (
        f"The controls moved in {name}: {quantities.change(shift.ratio - 1)}{between}, "
        f"p {quantities.p(shift.p)}. Neither network nor storage can do that "
        f"({', '.join(shift.workloads)}): {what}."
    )


def _of_cells(n: int | None, measured: str, *, has_intervals: bool) -> Iterator[str]:
    yield (
        f"Median of {'n' if n is None else n} measured {measured}{'' if n == 1 else 's'}"
        + (", ± its 95 % interval." if has_intervals else ".")
    )
    if not has_intervals:
        yield f"An interval takes {_LEAST_FOR_AN_INTERVAL} {measured}s."


def _of_changes(
    changes: Sequence[Change], measured: str, *, relative_to_controls: bool
) -> Iterator[str]:
    verdicts = {change.verdict for change in changes}
    comparisons = f"{len(changes)} comparison{'' if len(changes) == 1 else 's'}"
    if verdicts - {Verdict.TOO_FEW}:
        beyond = " beyond the controls'" if relative_to_controls else ""
        yield (
            f"Change{beyond} against the first column, ± its 95 % interval; p by Mann and Whitney, "
            f"adjusted for {comparisons} by Holm."
        )
    if Verdict.TOO_FEW in verdicts:
        yield (
            f"{NEEDS}N {measured}s: with fewer, before or after, nothing can be told from chance among "
            f"{comparisons}."
        )
    if Verdict.NOISE in verdicts:
        yield f"{quantities.NOISE}: chance explains it; ± is the most that it may hide."


# MERGED from harness.present.comparison_table: 'A comparison of workloads as a table.'
def comparison_table(comparison: Comparison) -> Table:
    """Workloads down, configurations across."""
    summaries = [cell.summary for row in comparison.rows for cell in row.cells if cell.summary]
    n = common(summary.n for summary in summaries)
    return Table(
        heading="workload",
        columns=tuple(Noted(column.name, column.notes) for column in comparison.columns),
        lines=tuple(Line(row.workload, tuple(map(_entry, row.cells))) for row in comparison.rows),
        with_n=n is None,
        warnings=warnings(comparison),
        caption=caption(
            n,
            "trial",
            comparison.changes,
            has_intervals=any(summary.interval_s for summary in summaries),
            relative_to_controls=comparison.relative_to_controls,
        ),
    )


def _entry(cell: Cell) -> Entry:
    summary = cell.summary
    if summary is None:
        return Entry(Fields(str(cell.sample.outcome)), cell.notes)
    median = quantities.time(summary.median_s)
    return Entry(fields(median, summary.uncertainty, cell.change, summary.n), cell.notes)
