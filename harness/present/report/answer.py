"""The answer in words: which workloads gain, how certain that is, and what else the reader must know."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.analysis.compare.comparison import Comparison
from harness.analysis.compare.confounders import confounders
from harness.analysis.cost.benefit import CostBenefit
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.base.words import count_of
from harness.model.limits import MIN_RUNS
from harness.present import quantities
from harness.present.costs import cost_summary
from harness.present.report.outcome import Outcome, outcomes
from harness.statistics.change import ControlShift, Verdict

MAX_DIFFERENCES = 4
"""The answer lists at most this number of differences; the table of environments has all."""


class Tone(StrEnum):
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
    every = outcomes(comparison)
    return tuple(
        Answer(
            column.name,
            _headline(found),
            (
                *_changes(found),
                _controls(comparison.shown_control_shifts[index]),
                _other_differences(baseline, column),
                *(
                    Remark(Tone.LEVEL, "Cost", (cost_summary(benefit),))
                    for benefit in benefits
                    if benefit.configuration == column.name
                ),
            ),
        )
        for index, column in enumerate(others, 1)
        for found in [[o for o in every if o.configuration == column.name and not o.is_control]]
    )


def _changes_of(found: Sequence[Outcome], sign: int) -> list[Outcome]:
    """Return the outcomes whose change is significant and has this sign."""
    return [
        outcome
        for outcome in found
        if outcome.change
        and outcome.verdict is Verdict.CHANGED
        and outcome.change.relative_change * sign > 0
    ]


def _headline(found: Sequence[Outcome]) -> str:
    total = f" of {count_of(len(found), 'workload')}"
    clauses: list[str] = []
    for sign, direction in ((-1, "less"), (+1, "more")):
        changes = [o.change.relative_change for o in _changes_of(found, sign) if o.change]
        if changes:
            verb = "takes" if len(changes) == 1 else "take"
            of_all = "" if clauses else total
            clauses.append(f"{len(changes)}{of_all} {verb} {direction} time ({_range(changes)})")
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


def _changes(found: Sequence[Outcome]) -> Iterator[Remark]:
    groups = (
        (Tone.GAIN, "Less time", _changes_of(found, -1)),
        (Tone.LOSS, "More time", _changes_of(found, +1)),
        (Tone.LEVEL, "Within noise", [o for o in found if o.verdict is Verdict.NOISE]),
        (Tone.LEVEL, "Too few runs", [o for o in found if o.verdict is Verdict.TOO_FEW]),
        (Tone.LEVEL, "Not compared", [o for o in found if o.verdict is None]),
    )
    for tone, topic, group in groups:
        if group:
            yield Remark(
                tone, topic, tuple(f"{outcome.workload} {outcome.text}" for outcome in group)
            )


def _controls(shift: ControlShift | None) -> Remark:
    if shift is None:
        text = "none was measured, so a change of the machine itself would go unnoticed"
        return Remark(Tone.LEVEL, "Controls", (text,))
    names, change = ", ".join(shift.workloads), shift.change
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
    if differences:
        more = len(differences) - MAX_DIFFERENCES
        rest = [f"and {more} more, see the environments below"] if more > 0 else []
        return Remark(Tone.ALARM, "Also different", (*differences[:MAX_DIFFERENCES], *rest))
    if any(recorded.run.environment for side in (baseline, column) for recorded in side.runs):
        return Remark(Tone.LEVEL, "Also different", ("nothing else that was recorded",))
    unknown = "unknown: nothing was recorded about the machines"
    return Remark(Tone.LEVEL, "Also different", (unknown,))
