"""What a comparison says, in words: which workloads gain, how surely, and what else there is to know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.comparison import Comparison
from harness.analysis.configuration import ConfigurationRuns
from harness.analysis.confounders import confounders
from harness.analysis.price import CostBenefit
from harness.present import quantities
from harness.present.comparison_table import comparison_table
from harness.present.report.chart import Tone
from harness.present.report.costs import told
from harness.present.table import Fields
from harness.statistics.change import Change, ControlShift, Verdict

MOST_DIFFERENCES = 4
"""That are told in the answer; all of them are in the table of environments."""


@dataclass(frozen=True)
class Remark:
    """A line of an answer: what it is about, and what is to be said of that, in one item or several."""

    tone: Tone
    topic: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What is said of one configuration against the baseline: in a sentence, and in lines below it."""

    configuration: str
    headline: str
    remarks: tuple[Remark, ...]


@dataclass(frozen=True)
class _Outcome:
    """A workload's, with the words that the table has for it."""

    workload: str
    change: Change | None
    before: Fields
    after: Fields

    @property
    def text(self) -> str:
        change = f"{self.after.change} {self.after.change_interval}".strip()
        return f"{self.workload} {change or self.why_not}"

    @property
    def why_not(self) -> str:
        """Of one that could not be compared."""
        return f"({self.before.median} before, {self.after.median} after)"

    def is_(self, verdict: Verdict | None, sign: int = 0) -> bool:
        """Whether it ended so; with a sign, whether it went that way."""
        if self.change is None:
            return verdict is None
        return self.change.verdict is verdict and (
            not sign or self.change.relative_change * sign > 0
        )


def answers(comparison: Comparison, worths: Sequence[CostBenefit] = ()) -> tuple[Answer, ...]:
    """One for each configuration but the baseline. Controls are spoken of by themselves."""
    baseline, *others = comparison.columns
    return tuple(
        Answer(
            column.name,
            _headline(outcomes),
            (
                *_changes(outcomes),
                _controls(comparison.control_shifts[index]),
                *_residue(baseline, column),
                *_price([worth for worth in worths if worth.configuration == column.name]),
            ),
        )
        for index, column in enumerate(others, 1)
        for outcomes in [_outcomes(comparison, index)]
    )


def _outcomes(comparison: Comparison, index: int) -> list[_Outcome]:
    lines = comparison_table(comparison).lines
    return [
        _Outcome(
            row.workload,
            row.cells[index].change,
            before=line.entries[0].fields,
            after=line.entries[index].fields,
        )
        for row, line in zip(comparison.rows, lines, strict=True)
        if row.workload not in comparison.common_controls
    ]


def _headline(outcomes: Sequence[_Outcome]) -> str:
    less = _shares(outcomes, -1)
    more = _shares(outcomes, +1)
    of_all = f"of {len(outcomes)} workload{'s' if len(outcomes) != 1 else ''}"
    if less and more:
        return f"{len(less)} {of_all} take less time ({_span(less)}), {len(more)} more ({_span(more)})."
    if less or more:
        way = "less" if less else "more"
        return f"{len(less or more)} {of_all} {_takes(less or more)} {way} time: {_span(less or more)}."
    if any(one.is_(Verdict.NOISE) for one in outcomes):
        return "No workload changed by more than chance explains."
    if any(one.is_(Verdict.TOO_FEW) for one in outcomes):
        return "It cannot be told: there are too few trials."
    return "It cannot be told: no workload was measured before and after."


def _shares(outcomes: Sequence[_Outcome], sign: int) -> list[float]:
    """Of those that changed that way, the least first."""
    shares = [
        one.change.relative_change
        for one in outcomes
        if one.change and one.is_(Verdict.CHANGED, sign)
    ]
    return sorted(shares, key=abs)


def _takes(shares: Sequence[float]) -> str:
    return "takes" if len(shares) == 1 else "take"


def _span(shares: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(quantities.change(share) for share in (shares[0], shares[-1])))


def _changes(outcomes: Sequence[_Outcome]) -> Iterator[Remark]:
    groups = (
        (Tone.GAIN, "Less time", [one for one in outcomes if one.is_(Verdict.CHANGED, -1)]),
        (Tone.LOSS, "More time", [one for one in outcomes if one.is_(Verdict.CHANGED, +1)]),
        (Tone.LEVEL, "Within noise", [one for one in outcomes if one.is_(Verdict.NOISE)]),
        (Tone.LEVEL, "Not compared", [one for one in outcomes if one.is_(None)]),
    )
    for tone, topic, group in groups:
        if group:
            yield Remark(tone, topic, tuple(one.text for one in group))
    by_need: dict[str, list[str]] = {}
    for one in outcomes:
        if one.is_(Verdict.TOO_FEW):
            by_need.setdefault(one.after.change, []).append(one.workload)
    if by_need:
        told = (f"{', '.join(names)}: {need}" for need, names in by_need.items())
        yield Remark(Tone.LEVEL, "Too few trials", tuple(told))


def _controls(shift: ControlShift | None) -> Remark:
    if shift is None:
        none = "none was measured: nothing tells whether the machine has changed"
        return Remark(Tone.LEVEL, "Controls", (none,))
    names = ", ".join(shift.workloads)
    if shift.interval is None:
        few = f"too few trials to tell whether they held: {names}"
        return Remark(Tone.LEVEL, "Controls", (few,))
    ends = " to ".join(quantities.change(e - 1) for e in (shift.interval.low, shift.interval.high))
    moved = f"{quantities.change(shift.ratio - 1)} ({ends}), {_p(shift.p)}: {names}"
    if shift.moved:
        why = "the machine itself has changed, and the other changes may be its own"
        return Remark(Tone.ALARM, "Controls moved", (f"{moved}; {why}",))
    return Remark(Tone.LEVEL, "Controls held", (f"as far as can be told: {moved}",))


def _p(value: float) -> str:
    return f"p={quantities.p(value)}".replace("=<", "<")


def _residue(baseline: ConfigurationRuns, column: ConfigurationRuns) -> Iterator[Remark]:
    differences = [one.describe(baseline.name) for one in confounders(baseline.runs, column.runs)]
    if differences:
        more = len(differences) - MOST_DIFFERENCES
        rest = [f"and {more} more, see below"] if more > 0 else []
        yield Remark(Tone.ALARM, "Also different", (*differences[:MOST_DIFFERENCES], *rest))
    elif any(one.run.environment for side in (baseline, column) for one in side.runs):
        yield Remark(Tone.LEVEL, "Also different", ("nothing else that was recorded",))
    else:
        unknown = "not known: nothing was recorded of the machines"
        yield Remark(Tone.LEVEL, "Also different", (unknown,))


def _price(ranked: Sequence[CostBenefit]) -> Iterator[Remark]:
    """The offer that is most worth its money."""
    if ranked:
        more = f"; {len(ranked) - 1} more below" if len(ranked) > 1 else ""
        yield Remark(Tone.LEVEL, "Price", (f"{told(ranked[0])}{more}",))
