"""Comparisons of workloads as tables of changes, with captions and warnings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from harness.analysis.compare.all_workloads import all_workloads
from harness.analysis.compare.comparison import Cell, Comparison, Row
from harness.analysis.compare.failures import failing_line
from harness.analysis.compare.important_rows import important_rows
from harness.analysis.observed.sample import Performance
from harness.base.words import count_of, percent, quantity_text
from harness.model.limits import MIN_RUNS
from harness.model.work import DECLARED_PEAK, DGEMM_PEAK
from harness.present import quantities
from harness.present.all_workloads import together_sentences
from harness.present.cache import cache_sentences
from harness.present.change_table import (
    HEADINGS,
    ChangeCell,
    ChangeColumn,
    ChangeLine,
    ChangeTable,
    Counts,
    Effect,
    change_cell,
    common_counts,
    effect_of,
    too_few_sentence,
    value_sentences,
    verdict_sentences,
)
from harness.statistics.change import ControlShift

_PEAKS = {
    DECLARED_PEAK: "of the declared peak",
    DGEMM_PEAK: "of the peak that dgemm reached in the same trials",
}
"""The sources of a peak, the preferred one first, and what the caption calls a fraction of it."""
MAX_LIMIT = 10.0
"""The largest limit of a single run's changes that a caption states."""
_CONTROL = (
    "a control: network and storage cannot affect it; if it changes, something else has changed"
)


def comparison_table(
    comparison: Comparison, most: int | None = None, fewest_runs: int = MIN_RUNS
) -> ChangeTable:
    """Return the table with a line for each workload and a column for each configuration.

    If it would have more than `most` lines, it has this number of them: those that changed by most time. An
    interval is shown if it is from `fewest_runs` or more on each side.
    """
    shown = important_rows(comparison, most)
    cells: list[Cell] = []
    for row in shown:
        cells += row.cells
    every = [_counts(cell) for cell in cells if cell.summary]
    trials_of_runs: set[int] = set()
    for cell in cells:
        trials_of_runs.update(map(len, cell.sample.runs_s))
    counts = common_counts(every) if len(trials_of_runs) == 1 else None
    needs_interval = any(count.runs >= MIN_RUNS for count in every)
    controls = comparison.controls
    lines = []
    for row in shown:
        words = _words(row, fewest_runs, with_n=counts is None, needs_interval=needs_interval)
        notes = (_CONTROL,) if row.workload in controls else ()
        lines.append(ChangeLine(row.workload, tuple(words), notes))
    names = [column.name for column in comparison.columns]
    performances = [cell.performance for cell in cells if cell.performance]
    caption = list(value_sentences(counts, every, "trial"))
    caption += too_few_sentence(lines, fewest_runs)
    caption += _performance_sentences(performances)
    caption += cache_sentences(comparison.columns)
    caption += _change_sentences(comparison)
    return ChangeTable(
        heading="workload",
        headings=replace(HEADINGS, value=_heading(len(performances), len(every))),
        columns=tuple(map(ChangeColumn, names, comparison.notes)),
        lines=tuple(lines),
        warnings=warnings(comparison),
        caption=" ".join(caption),
        totals=(
            *not_shown_sentences(comparison, shown),
            *together_sentences(all_workloads(comparison)),
        ),
    )


def not_shown_sentences(comparison: Comparison, shown: Sequence[Row]) -> Iterator[str]:
    """Yield how many workloads are not shown, and what is known of them; nothing if all are."""
    names = {row.workload for row in shown}
    others = [row for row in comparison.rows if row.workload not in names]
    if not others:
        return
    effects = Counter(dict.fromkeys(Effect, 0))  # equal numbers are in this order
    noted = 0
    for row in others:
        found = {effect_of(cell.change) for cell in row.cells if cell.change}
        effects.update(found or {Effect.NOT_COMPARED})
        noted += any(cell.confounders for cell in row.cells)
    counts = ", ".join(f"{n:,} {effect}" for effect, n in effects.most_common() if n)
    text = (
        f"{len(shown):,} of {count_of(len(comparison.rows), 'workload')} are shown, those that changed by "
        f"most time; of the others: {counts}"
    )
    if noted:
        text += f"; something else differs in {noted:,}"
    yield f"{text}. --all shows all."


def _counts(cell: Cell) -> Counts:
    if cell.summary is None:
        return Counts(0, 0)
    return Counts(cell.summary.runs, cell.summary.trials)


def _words(
    row: Row, fewest_runs: int, *, with_n: bool, needs_interval: bool
) -> Iterator[ChangeCell]:
    """Yield the cells of a line, without the intervals for which there are too few runs."""
    runs_before = _counts(row.cells[0]).runs
    for cell in row.cells:
        words = workload_cell(cell, with_n=with_n, needs_interval=needs_interval)
        runs = _counts(cell).runs
        if min(runs_before, runs) < fewest_runs:
            words = _without_intervals(words, own=runs < fewest_runs)
        yield words


def _without_intervals(words: ChangeCell, *, own: bool) -> ChangeCell:
    """Return a cell with `too few runs` in place of the interval of its change, and of its `own`."""
    if own and words.interval:
        words = replace(words, interval=quantities.TOO_FEW_RUNS)
    if words.change_interval:
        words = replace(words, change_interval=quantities.TOO_FEW_RUNS)
    return words


def _heading(performances: int, values: int) -> str:
    """Return what the values of a table are, where some are performances."""
    if not performances:
        return "time"
    if performances < values:
        return "time or performance"
    return "performance"


def _performance_sentences(performances: Sequence[Performance]) -> Iterator[str]:
    if performances:
        yield "More work a second is better."
    sources = {_peak_of(performance) for performance in performances}
    meanings = [text for source, text in _PEAKS.items() if source in sources]
    if meanings:
        shown = " or ".join(meanings)
        yield f"In brackets: computational efficiency, as a share {shown}."


def workload_cell(cell: Cell, *, with_n: bool = False, needs_interval: bool = False) -> ChangeCell:
    """Return the words of a workload's time or performance, and of its change.

    `needs_interval` is that of `change_cell`.
    """
    summary = cell.summary
    performance = cell.performance
    if summary is None:
        return ChangeCell(str(cell.sample.outcome), notes=cell.notes)
    if performance is None:
        value = quantities.time_text(summary.time_s)
        uncertainty = summary.uncertainty
    else:
        value = _performance_text(performance)
        uncertainty = performance.uncertainty
    counts = _counts(cell) if with_n else None
    shown = change_cell(
        value, uncertainty, cell.shown_change, cell.notes, counts, needs_interval=needs_interval
    )
    if cell.left_out:
        return replace(shown, change=Effect.NOT_COMPARED.value)
    return shown


def _performance_text(found: Performance) -> str:
    """Return `21.24 Gflop/s (60.3%)`: with the efficiency, relative to the declared peak if there is one."""
    text = quantity_text(found.value, f"{found.unit}/s")
    peak = _peak_of(found)
    if peak:
        text += f" ({quantities.share(found.efficiencies[peak], 1)})"
    return text


def _peak_of(found: Performance) -> str | None:
    """Return the source of the peak that the shown efficiency is relative to; None if no peak is known."""
    for source in _PEAKS:
        if source in found.efficiencies:
            return source
    return None


def _change_sentences(comparison: Comparison) -> Iterator[str]:
    beyond = " beyond that of the controls" if comparison.relative_to_controls else ""
    yield from verdict_sentences(comparison.changes, beyond)
    if comparison.in_turns:
        yield "Measured in turns: differences between applications cancel."
    limit = comparison.limit_of_single_runs
    if limit is not None:
        size = "of any size"
        if limit <= MAX_LIMIT:
            size = f"below {percent(limit, 1)}"
        yield f"With one run on a side, a change {size} may be chance."


def warnings(comparison: Comparison) -> tuple[str, ...]:
    """Return the lines above the table: what fails now, and in which columns the controls moved."""
    found = list(filter(None, map(failing_line, comparison.sides)))
    for column, shift in zip(comparison.columns, comparison.shown_control_shifts, strict=True):
        if shift and shift.moved:
            relative = comparison.relative_to_controls
            found.append(_control_warning(column.name, shift, relative=relative))
    return tuple(found)


_moved_text = partial(percent, decimals=1, signed=True)


def _control_warning(configuration: str, shift: ControlShift, *, relative: bool) -> str:
    change = shift.change
    moved = _moved_text(change.relative_change)
    if change.interval:
        moved += f" ({quantities.ends_text(change.interval, _moved_text)})"
    if relative:
        advice = "The changes below are relative to that of the controls."
    else:
        advice = (
            "It may have affected the other workloads too: --adjust controls shows each change "
            "relative to that of the controls."
        )
    return (
        f"The controls ({', '.join(shift.workloads)}) moved in {configuration}: {moved}, p "
        f"{quantities.p_text(change.p or 0)}. Network and storage cannot affect them, so something else "
        f"changed. {advice}"
    )
