"""Comparisons of workloads as tables, with captions and warnings."""

from collections.abc import Collection, Iterator, Sequence

from harness.analysis.compare.comparison import Cell, Comparison
from harness.analysis.observed.sample import Performance
from harness.base.words import count_of, percent, quantity_text
from harness.model.limits import MIN_RUNS
from harness.model.work import DECLARED_PEAK, DGEMM_PEAK
from harness.present import quantities
from harness.present.cache import cache_sentences
from harness.present.table import (
    HEADINGS,
    Counts,
    Entry,
    Fields,
    Heading,
    Line,
    Table,
    common,
    fields,
    too_few_sentence,
)
from harness.statistics.change import Change, ControlShift, Verdict

_PEAKS = {
    DECLARED_PEAK: "of the declared peak",
    DGEMM_PEAK: "of the peak that dgemm reached in the same trials",
}
"""The sources of a peak, the preferred one first, and what the caption calls a fraction of it."""
_INTERVAL = "±: 95 % confidence interval"
MAX_LIMIT = 10.0
"""The largest limit of a single run's changes that a caption states."""
_CONTROL = (
    "a control: network and storage cannot affect it; if it changes, something else has changed"
)


def comparison_table(comparison: Comparison) -> Table:
    """Return the table with a line for each workload and a column for each configuration."""
    cells = [cell for row in comparison.rows for cell in row.cells]
    are_equal = len({len(times_s) for cell in cells for times_s in cell.sample.runs_s}) == 1
    every = [Counts(summary.runs, summary.trials) for cell in cells if (summary := cell.summary)]
    counts = common(every) if are_equal else None
    needs_interval = any(count.runs >= MIN_RUNS for count in every)

    def entry(cell: Cell) -> Entry:
        return workload_entry(cell, with_n=counts is None, needs_interval=needs_interval)

    lines = tuple(
        Line(
            row.workload,
            tuple(map(entry, row.cells)),
            (_CONTROL,) if row.workload in comparison.common_controls else (),
        )
        for row in comparison.rows
    )
    return Table(
        heading="workload",
        headings=HEADINGS._replace(value=_heading(cells)),
        columns=tuple(Heading(column.name, column.notes) for column in comparison.columns),
        lines=lines,
        warnings=warnings(comparison),
        caption=" ".join(
            [
                *time_sentences(counts, every, "trial"),
                *too_few_sentence(lines),
                *_performance_sentences(cells),
                *cache_sentences(comparison.columns),
                *_change_sentences(comparison),
            ]
        ),
    )


def _heading(cells: Sequence[Cell]) -> str:
    found = [cell.performance is None for cell in cells if cell.summary]
    if not found or all(found):
        return "time"
    return "time or performance" if any(found) else "performance"


def _performance_sentences(cells: Sequence[Cell]) -> Iterator[str]:
    found = [performance for cell in cells if (performance := cell.performance)]
    if found:
        yield "More work a second is better."
    shown = set(map(_peak_of, found))
    if meanings := " or ".join(text for source, text in _PEAKS.items() if source in shown):
        yield f"In brackets: computational efficiency, as a share {meanings}."


def workload_entry(cell: Cell, *, with_n: bool = False, needs_interval: bool = False) -> Entry:
    """Return the words of a workload's time or performance, and of its change.

    `needs_interval` is that of `fields`.
    """
    summary = cell.summary
    if summary is None:
        return Entry(Fields(str(cell.sample.outcome)), cell.notes)
    n = Counts(summary.runs, summary.trials) if with_n else ""
    if (found := cell.performance) is None:
        value, uncertainty = quantities.time_text(summary.time_s), summary.uncertainty
    else:
        value, uncertainty = _performance_text(found), found.uncertainty
    words = fields(value, uncertainty, cell.shown_change, n, needs_interval=needs_interval)
    return Entry(words, cell.notes)


def _performance_text(found: Performance) -> str:
    """Return `21.24 Gflop/s (60.3%)`: with the efficiency, relative to the declared peak if there is one."""
    text, peak = quantity_text(found.value, f"{found.unit}/s"), _peak_of(found)
    return f"{text} ({quantities.share(found.efficiencies[peak], 1)})" if peak else text


def _peak_of(found: Performance) -> str | None:
    """Return the source of the peak to which the shown efficiency relates; None if no peak is known."""
    return next((source for source in _PEAKS if source in found.efficiencies), None)


def time_sentences(counts: Counts | None, every: Collection[Counts], noun: str) -> Iterator[str]:
    """Yield what a value is; `noun` is what a measurement is called.

    `counts` are the numbers of all cells, None if the table has a column for them; `every` has each cell's.
    """
    if counts is None:
        most = max(every, default=Counts(0, 0))
        if most.runs > 1:
            yield f"Geometric mean of the runs' medians, {_INTERVAL}; n 16 in 4: 16 {noun}s in 4 runs."
        elif most.runs:
            yield f"Median of one run; n {most}: {count_of(most.measurements, noun)} in 1 run."
    elif counts.runs == 1:
        median = "Median of " if counts.measurements > 1 else ""
        yield f"{median}{count_of(counts.measurements, noun)} of one run."
    else:
        of_run = count_of(counts.measurements // counts.runs, noun)
        yield f"Geometric mean of the medians of {counts.runs} runs of {of_run} each, {_INTERVAL}."


def _change_sentences(comparison: Comparison) -> Iterator[str]:
    beyond = " beyond that of the controls" if comparison.relative_to_controls else ""
    yield from verdict_sentences(comparison.changes, beyond)
    if comparison.in_turns:
        yield "Measured in turns: differences between applications cancel."
    limit = comparison.limit_of_single_runs
    if limit is not None:
        size = f"below {percent(limit, 1)}" if limit <= MAX_LIMIT else "of any size"
        yield f"With one run on a side, a change {size} may be chance."


def verdict_sentences(changes: Sequence[Change], beyond: str) -> Iterator[str]:
    """Yield how changes were tested, and what their marks mean; `beyond` is what a change is beyond."""
    tested = sum(change.verdict is not Verdict.TOO_FEW for change in changes)
    if tested:
        yield (
            f"Change from the first column{beyond}; p of a t test on runs, Holm-adjusted for "
            f"{count_of(tested, 'comparison')} (± is not)."
        )
    verdicts = {change.verdict for change in changes}
    if Verdict.NOISE in verdicts:
        yield f"{quantities.NOISE}: not significant."
    if Verdict.TOO_FEW in verdicts:
        yield f"{quantities.UNTESTED}: not tested, which takes {MIN_RUNS} runs on either side."


def warnings(comparison: Comparison) -> tuple[str, ...]:
    """Return the lines above the table: a warning for each column whose controls moved."""
    return tuple(
        _control_warning(column.name, shift, relative=comparison.relative_to_controls)
        for column, shift in zip(comparison.columns, comparison.shown_control_shifts, strict=True)
        if shift and shift.moved
    )


def _control_warning(configuration: str, shift: ControlShift, *, relative: bool) -> str:
    change, interval = shift.change, ""
    if change.interval:
        low, high = (percent(end, 1, signed=True) for end in change.interval)
        interval = f" ({low} to {high})"
    advice = (
        "The changes below are relative to that of the controls."
        if relative
        else "It may have affected the other workloads too: --adjust controls shows each change "
        "relative to that of the controls."
    )
    return (
        f"The controls ({', '.join(shift.workloads)}) moved in {configuration}: "
        f"{percent(change.relative_change, 1, signed=True)}{interval}, p {quantities.p_text(change.p or 0)}. "
        f"Network and storage cannot affect them, so something else changed. {advice}"
    )
