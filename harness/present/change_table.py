"""Tables of changes: a line for each workload or host, a column for each configuration.

They are in words, but in no output format yet.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from harness.base.words import count_of
from harness.model.limits import MIN_RUNS
from harness.model.run import Word
from harness.present import quantities
from harness.statistics.change import Change, Verdict


@dataclass(frozen=True)
class ChangeCell:
    """The words of a cell, and its notes. An empty word is not shown.

    `mark` says that the change proves nothing.
    """

    value: str
    interval: str = ""
    change: str = ""
    mark: str = ""
    change_interval: str = ""
    p: str = ""
    n: str = ""
    notes: tuple[str, ...] = ()

    @property
    def marked_change(self) -> str:
        """The change with its mark: `-9.5%`, `-9.5% ~`."""
        return f"{self.change} {self.mark}".strip()


HEADINGS = ChangeCell("value", "±", "change", "", "±", "p", "n")


@dataclass(frozen=True)
class ChangeColumn:
    """The name of a configuration, and its notes."""

    name: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChangeLine:
    """A name with its notes, and a cell for each column."""

    name: str
    cells: tuple[ChangeCell, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChangeTable:
    """A table whose first column is the baseline.

    `heading` stands above the names, and `headings` stand above the words of the cells. `warnings` precede
    the table. `totals`, which are sentences on all lines together, and `caption` follow it. If every cell has
    the same number of runs and measurements, the caption states it, and no cell does.
    """

    heading: str
    headings: ChangeCell
    columns: tuple[ChangeColumn, ...]
    lines: tuple[ChangeLine, ...]
    warnings: tuple[str, ...]
    caption: str
    totals: tuple[str, ...] = ()


MARKS = {Verdict.NOISE: quantities.NOISE, Verdict.TOO_FEW: quantities.UNTESTED}
"""The marks of changes that prove nothing."""


class Effect(Word):
    """What became of a time, in a word."""

    FASTER = "faster"
    SLOWER = "slower"
    NOISE = "not significant"
    TOO_FEW = "not tested"
    NOT_COMPARED = "not compared"


def effect_of(change: Change | None) -> Effect:
    """Return what the change of a time proves."""
    if change is None:
        return Effect.NOT_COMPARED
    if change.verdict is Verdict.NOISE:
        return Effect.NOISE
    if change.verdict is Verdict.TOO_FEW:
        return Effect.TOO_FEW
    if change.relative_change < 0:
        return Effect.FASTER
    return Effect.SLOWER


class Counts(NamedTuple):
    """How many runs a cell has, and how many measurements in all of them."""

    runs: int
    measurements: int

    def __str__(self) -> str:
        return f"{self.measurements} in {self.runs}"


def change_cell(
    value: str,
    uncertainty: float | None,
    change: Change | None,
    notes: tuple[str, ...],
    counts: Counts | None = None,
    *,
    needs_interval: bool = False,
) -> ChangeCell:
    """Return the words of what was measured.

    `needs_interval` says that other cells of the table have an interval, so that one without says why.
    `counts` are shown unless they are None.
    """
    interval = quantities.uncertainty(uncertainty)
    if needs_interval and not interval:
        interval = quantities.TOO_FEW_RUNS
    words = {"n": str(counts)} if counts else {}
    if change:
        relative = change.relative_change
        words["change"] = quantities.change(relative)
        words["mark"] = MARKS.get(change.verdict, "")
        words["change_interval"] = quantities.uncertainty(change.uncertainty, relative)
        if change.adjusted_p is not None:
            words["p"] = quantities.p_text(change.adjusted_p)
    return ChangeCell(value, interval, notes=notes, **words)


FEW = "few"
"""Stands for `too few runs` in a table for which these words are too wide."""


def abbreviated(table: ChangeTable) -> ChangeTable:
    """Return the table with FEW in the place of `too few runs`, and a caption that says so."""
    lines = []
    for line in table.lines:
        cells = map(_abbreviated, line.cells)
        lines.append(replace(line, cells=tuple(cells)))
    meaning = f"{FEW}: {quantities.TOO_FEW_RUNS},"
    caption = table.caption.replace(f"{quantities.TOO_FEW_RUNS}:", meaning)
    return replace(table, lines=tuple(lines), caption=caption)


def _abbreviated(cell: ChangeCell) -> ChangeCell:
    interval = cell.interval.replace(quantities.TOO_FEW_RUNS, FEW)
    change_interval = cell.change_interval.replace(quantities.TOO_FEW_RUNS, FEW)
    return replace(cell, interval=interval, change_interval=change_interval)


def common_counts(counts: Iterable[Counts]) -> Counts | None:
    """Return the numbers that all cells have; None if they differ, or if runs cannot have equally many."""
    different = set(counts)
    if len(different) != 1:
        return None
    same = different.pop()
    if same.measurements % same.runs:
        return None
    return same


def value_sentences(counts: Counts | None, every: Collection[Counts], noun: str) -> Iterator[str]:
    """Yield in a sentence what the values of the table are, and what `n` means.

    `noun` is what one measurement is called. `counts` are the numbers of all cells, None if the table has
    a column for them. `every` has each cell's.
    """
    interval = "±: 95 % confidence interval"
    if counts is None:
        most = max(every, default=Counts(0, 0))
        meaning = f"n {most}: {count_of(most.measurements, noun)} in {count_of(most.runs, 'run')}."
        if most.runs > 1:
            yield f"Geometric mean of the runs' medians, {interval}; {meaning}"
        elif most.runs:
            yield f"Median of one run; {meaning}"
    elif counts.runs == 1:
        median = "Median of " if counts.measurements > 1 else ""
        yield f"{median}{count_of(counts.measurements, noun)} of one run."
    else:
        of_run = count_of(counts.measurements // counts.runs, noun)
        yield f"Geometric mean of the medians of {counts.runs} runs of {of_run} each, {interval}."


def too_few_sentence(lines: Iterable[ChangeLine], fewest_runs: int = MIN_RUNS) -> Iterator[str]:
    """Yield what `too few runs` means in a cell of these lines, and what to do, if any cell says so."""
    few = "a single run" if fewest_runs == MIN_RUNS else f"fewer than {fewest_runs} runs"
    shown: set[str] = set()
    for line in lines:
        for cell in line.cells:
            shown.update((cell.interval, cell.change_interval))
    if quantities.TOO_FEW_RUNS in shown:
        yield (
            f"{quantities.TOO_FEW_RUNS}: {few}, or an interval of ±100 % or more; measure more runs."
        )


def verdict_sentences(changes: Sequence[Change], beyond: str = "") -> Iterator[str]:
    """Yield how changes were tested, and what their marks mean.

    `beyond` is put behind `column`, such as ` beyond that of the controls`.
    """
    verdicts = [change.verdict for change in changes]
    tested = len(verdicts) - verdicts.count(Verdict.TOO_FEW)
    if tested:
        yield (
            f"Change from the first column{beyond}. p: t test on runs, Holm-adjusted for "
            f"{count_of(tested, 'comparison')}; ± is not adjusted."
        )
    if Verdict.NOISE in verdicts:
        yield f"{quantities.NOISE}: not significant."
    if Verdict.TOO_FEW in verdicts:
        yield f"{quantities.UNTESTED}: not tested, which takes {MIN_RUNS} runs on either side."
