"""Comparisons of workloads as tables of changes, with captions and warnings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

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
    change_cell,
    common,
    time_sentences,
    too_few_sentence,
    verdict_sentences,
)
from harness.statistics.change import Change, ControlShift, Verdict

_PEAKS = {
    DECLARED_PEAK: "of the declared peak",
    DGEMM_PEAK: "of the peak that dgemm reached in the same trials",
}
"""The sources of a peak, the preferred one first, and what the caption calls a fraction of it."""
MAX_LIMIT = 10.0
"""The largest limit of a single run's changes that a caption states."""
NOT_COMPARED = "not compared"
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
    shown_rows = important_rows(comparison, most)
    cells: list[Cell] = []
    for row in shown_rows:
        cells += row.cells
    every = []
    trials_of_runs: set[int] = set()
    for cell in cells:
        trials_of_runs.update(len(times_s) for times_s in cell.sample.runs_s)
        if cell.summary:
            every.append(Counts(cell.summary.runs, cell.summary.trials))
    counts = common(every) if len(trials_of_runs) == 1 else None
    needs_interval = any(count.runs >= MIN_RUNS for count in every)
    lines = []
    for row in shown_rows:
        shown = []
        of_baseline = _runs(row.cells[0])
        for cell in row.cells:
            words = workload_cell(cell, with_n=counts is None, needs_interval=needs_interval)
            if min(of_baseline, _runs(cell)) < fewest_runs:
                words = _without_intervals(words, own=_runs(cell) < fewest_runs)
            shown.append(words)
        line = ChangeLine(row.workload, tuple(shown))
        if row.workload in comparison.common_controls:
            line = replace(line, notes=(_CONTROL,))
        lines.append(line)
    caption = list(time_sentences(counts, every, "trial"))
    caption += too_few_sentence(lines, fewest_runs)
    caption += _performance_sentences(cells)
    caption += cache_sentences(comparison.columns)
    caption += _change_sentences(comparison)
    return ChangeTable(
        heading="workload",
        headings=replace(HEADINGS, value=_heading(cells)),
        columns=tuple(ChangeColumn(column.name, column.notes) for column in comparison.columns),
        lines=tuple(lines),
        warnings=warnings(comparison),
        caption=" ".join(caption),
        totals=(
            *not_shown_sentences(comparison, shown_rows),
            *together_sentences(all_workloads(comparison)),
        ),
    )


def not_shown_sentences(comparison: Comparison, shown: Sequence[Row]) -> Iterator[str]:
    """Yield how many workloads are not shown, and what is known of them; nothing if all are."""
    names = {row.workload for row in shown}
    others = [row for row in comparison.rows if row.workload not in names]
    if not others:
        return
    verdicts: Counter[str] = Counter()
    noted = 0
    for row in others:
        changes = [cell.change for cell in row.cells if cell.change]
        verdicts.update({_outcome(change) for change in changes} or {"not compared"})
        noted += any(cell.confounders for cell in row.cells)
    counts = ", ".join(f"{number:,} {verdict}" for verdict, number in verdicts.most_common())
    text = (
        f"{len(shown):,} of {count_of(len(comparison.rows), 'workload')} are shown, those that changed by "
        f"most time; of the others: {counts}"
    )
    if noted:
        text += f"; something else differs in {noted:,}"
    yield f"{text}. --all shows all."


def _outcome(change: Change) -> str:
    if change.verdict is Verdict.CHANGED:
        return "faster" if change.relative_change < 0 else "slower"
    if change.verdict is Verdict.NOISE:
        return "not significant"
    return "not tested"


def _runs(cell: Cell) -> int:
    return cell.summary.runs if cell.summary else 0


def _without_intervals(words: ChangeCell, *, own: bool) -> ChangeCell:
    """Return a cell with `too few runs` in place of the interval of its change, and of its `own`."""
    if own and words.interval:
        words = replace(words, interval=quantities.TOO_FEW_RUNS)
    if words.change_interval:
        words = replace(words, change_interval=quantities.TOO_FEW_RUNS)
    return words


def _heading(cells: Sequence[Cell]) -> str:
    shown = {cell.performance is None for cell in cells if cell.summary}
    if shown == {True, False}:
        return "time or performance"
    if shown == {False}:
        return "performance"
    return "time"


def _performance_sentences(cells: Sequence[Cell]) -> Iterator[str]:
    found = [cell.performance for cell in cells if cell.performance]
    if found:
        yield "More work a second is better."
    shown = {_peak_of(performance) for performance in found}
    meanings = " or ".join(text for source, text in _PEAKS.items() if source in shown)
    if meanings:
        yield f"In brackets: computational efficiency, as a share {meanings}."


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
    counts = Counts(summary.runs, summary.trials) if with_n else None
    shown = change_cell(
        value, uncertainty, cell.shown_change, cell.notes, counts, needs_interval=needs_interval
    )
    if cell.left_out:
        return replace(shown, change=NOT_COMPARED)
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
    baseline, *others = comparison.columns
    found = [line for line in (failing_line(baseline, other) for other in others) if line]
    for column, shift in zip(comparison.columns, comparison.shown_control_shifts, strict=True):
        if shift and shift.moved:
            relative = comparison.relative_to_controls
            found.append(_control_warning(column.name, shift, relative=relative))
    return tuple(found)


def _control_warning(configuration: str, shift: ControlShift, *, relative: bool) -> str:
    change = shift.change
    moved = percent(change.relative_change, 1, signed=True)
    if change.interval:
        moved += f" ({' to '.join(percent(end, 1, signed=True) for end in change.interval)})"
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
