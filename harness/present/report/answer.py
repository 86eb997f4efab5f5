"""The answer in words: which workloads gain, how certain that is, and what else the reader must know."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison
from harness.analysis.compare.confounders import confounders
from harness.analysis.cost.benefit import CostBenefit
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.base.words import count_of
from harness.model.limits import MIN_RUNS
from harness.model.run import Word
from harness.present import quantities
from harness.present.costs import cost_summary
from harness.present.report.outcome import ReportedChange, outcomes
from harness.statistics.change import ControlShift, Verdict

MAX_DIFFERENCES = 4
"""The answer lists at most this number of differences; the table of environments has all."""


class Tone(Word):
    """The colour class of a text: less time, more time, neither, or something that casts doubt."""

    GAIN = "gain"
    LOSS = "loss"
    LEVEL = "level"
    ALARM = "alarm"


@dataclass(frozen=True)
class Remark:
    """A line of an answer: its topic, and one or more items."""

    tone: Tone
    topic: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """How one configuration compares with the baseline: one sentence, and the lines below it."""

    configuration: str
    headline: str
    remarks: tuple[Remark, ...]


def answers(comparison: Comparison, benefits: Sequence[CostBenefit] = ()) -> tuple[Answer, ...]:
    """Return an answer for each configuration except the baseline; controls have a remark of their own."""
    baseline, *others = comparison.columns
    every = [outcome for outcome in outcomes(comparison) if not outcome.is_control]
    costs = {benefit.configuration: cost_summary(benefit) for benefit in benefits}
    found = []
    for column, shift in zip(others, comparison.shown_control_shifts[1:], strict=True):
        own = [outcome for outcome in every if outcome.configuration == column.name]
        remarks = [*_changes(own), _controls(shift), _other_differences(baseline, column)]
        if column.name in costs:
            remarks.append(Remark(Tone.LEVEL, "Cost", (costs[column.name],)))
        found.append(Answer(column.name, _headline(own), tuple(remarks)))
    return tuple(found)


def _significant(found: Sequence[ReportedChange], sign: int) -> list[ReportedChange]:
    """Return the outcomes whose change is significant and has this sign."""
    changed = [outcome for outcome in found if outcome.verdict is Verdict.CHANGED]
    return [outcome for outcome in changed if outcome.relative_change * sign > 0]


def _headline(found: Sequence[ReportedChange]) -> str:
    clauses: list[str] = []
    for sign, direction in ((-1, "less"), (+1, "more")):
        changes = [outcome.relative_change for outcome in _significant(found, sign)]
        if changes:
            subject = str(len(changes))
            if not clauses:
                subject += f" of {count_of(len(found), 'workload')}"
            verb = "takes" if len(changes) == 1 else "take"
            clauses.append(f"{subject} {verb} {direction} time ({_range(changes)})")
    if clauses:
        return f"{'; '.join(clauses)}."
    verdicts = {outcome.verdict for outcome in found}
    if Verdict.NOISE in verdicts:
        which = "workload" if verdicts == {Verdict.NOISE} else "workload that was tested"
        return f"No {which} changed by more than chance can explain."
    if Verdict.TOO_FEW in verdicts:
        return f"Unknown: a claim needs {MIN_RUNS} runs or more on either side."
    return "Unknown: no workload has times both before and after."


def _range(changes: Sequence[float]) -> str:
    """Return `-9.5% to -36.9%`, the smaller change first; one number if both ends are the same."""
    ends = (min(changes, key=abs), max(changes, key=abs))
    return " to ".join(dict.fromkeys(map(quantities.change, ends)))


def _changes(found: Sequence[ReportedChange]) -> Iterator[Remark]:
    by_verdict: dict[Verdict | None, list[ReportedChange]] = {}
    for outcome in found:
        by_verdict.setdefault(outcome.verdict, []).append(outcome)
    groups = (
        (Tone.GAIN, "Less time", _significant(found, -1)),
        (Tone.LOSS, "More time", _significant(found, +1)),
        (Tone.LEVEL, "Within noise", by_verdict.get(Verdict.NOISE)),
        (Tone.LEVEL, "Too few runs", by_verdict.get(Verdict.TOO_FEW)),
        (Tone.LEVEL, "Not compared", by_verdict.get(None)),
    )
    for tone, topic, group in groups:
        if group:
            items = tuple(f"{outcome.workload} {outcome.text}" for outcome in group)
            yield Remark(tone, topic, items)


def _controls(shift: ControlShift | None) -> Remark:
    if shift is None:
        text = "none was measured, so a change of the machine itself would go unnoticed"
        return Remark(Tone.LEVEL, "Controls", (text,))
    names = ", ".join(shift.workloads)
    change = shift.change
    width = quantities.uncertainty_of_change(change.uncertainty, change.relative_change)
    if change.interval is None or change.p is None or width == quantities.TOO_FEW_RUNS:
        text = f"too few runs to tell whether they moved: {names}"
        return Remark(Tone.LEVEL, "Controls", (text,))
    ends = " to ".join(quantities.change(end) for end in change.interval)
    p = quantities.p_statement(quantities.p_text(change.p))
    shown = f"{quantities.change(change.relative_change)} ({ends}), {p}: {names}"
    if shift.moved:
        text = f"{shown}; the machine itself has changed, which may explain the other changes, too"
        return Remark(Tone.ALARM, "Controls moved", (text,))
    return Remark(Tone.LEVEL, "Controls steady", (f"no significant change: {shown}",))


def _other_differences(baseline: ConfigurationRuns, column: ConfigurationRuns) -> Remark:
    differences = [
        confounder.describe(baseline.name) for confounder in confounders(baseline, column)
    ]
    more = len(differences) - MAX_DIFFERENCES
    if more > 0:
        differences[MAX_DIFFERENCES:] = [f"and {more} more, see the environments below"]
    if differences:
        return Remark(Tone.ALARM, "Also different", tuple(differences))
    if any(recorded.run.environment for recorded in baseline.runs + column.runs):
        text = "nothing else that was recorded"
    else:
        text = "unknown: nothing was recorded about the machines"
    return Remark(Tone.LEVEL, "Also different", (text,))
