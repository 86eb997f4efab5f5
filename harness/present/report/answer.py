"""The answer in words: which workloads gain, how certain that is, and what else the reader must know."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from harness.analysis.compare.comparison import Comparison
from harness.analysis.compare.confounder import Confounder
from harness.analysis.compare.sides import Sides
from harness.analysis.cost.benefit import CostBenefit
from harness.base.items import grouped
from harness.base.words import count_of
from harness.model.limits import MIN_RUNS
from harness.model.run import Word
from harness.present import quantities
from harness.present.change_table import Effect
from harness.present.costs import cost_summary
from harness.present.report.outcome import ReportedChange, outcomes
from harness.statistics.change import ControlShift

MAX_DIFFERENCES = 4
"""The answer lists at most this number of differences. The table of environments has all."""


class Tone(Word):
    """The colour class of a text: less time, more time, neither, or something that casts doubt."""

    GAIN = "gain"
    LOSS = "loss"
    LEVEL = "level"
    ALARM = "alarm"


_TOPICS = {
    Effect.FASTER: (Tone.GAIN, "Less time"),
    Effect.SLOWER: (Tone.LOSS, "More time"),
    Effect.NOISE: (Tone.LEVEL, "Within noise"),
    Effect.TOO_FEW: (Tone.LEVEL, "Too few runs"),
    Effect.NOT_COMPARED: (Tone.LEVEL, "Not compared"),
}
"""The remarks on changes, in their order."""
Effects = Mapping[Effect, Sequence[ReportedChange]]


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
    """Return an answer for each configuration except the baseline. Controls have a remark of their own."""
    every = [outcome for outcome in outcomes(comparison) if not outcome.is_control]
    by_configuration = grouped(every, attrgetter("configuration"))
    costs = {benefit.configuration: cost_summary(benefit) for benefit in benefits}
    found = []
    shifts = comparison.shown_control_shifts
    for index, sides in enumerate(comparison.sides, 1):
        column = sides.other
        by_effect = grouped(by_configuration.get(column.name, ()), attrgetter("effect"))
        remarks = [*_changes(by_effect), _controls(shifts[index])]
        remarks.append(_other_differences(sides, comparison.confounders[index]))
        if column.name in costs:
            remarks.append(Remark(Tone.LEVEL, "Cost", (costs[column.name],)))
        found.append(Answer(column.name, _headline(by_effect), tuple(remarks)))
    return tuple(found)


def _headline(by_effect: Effects) -> str:
    clauses: list[str] = []
    for effect, direction in ((Effect.FASTER, "less"), (Effect.SLOWER, "more")):
        changes = [outcome.relative_change for outcome in by_effect.get(effect, ())]
        if changes:
            subject = str(len(changes))
            if not clauses:
                subject += f" of {count_of(sum(map(len, by_effect.values())), 'workload')}"
            verb = "takes" if len(changes) == 1 else "take"
            clauses.append(f"{subject} {verb} {direction} time ({_range(changes)})")
    if clauses:
        return f"{'; '.join(clauses)}."
    if Effect.NOISE in by_effect:
        which = "workload" if len(by_effect) == 1 else "workload that was tested"
        return f"No {which} changed by more than chance can explain."
    if Effect.TOO_FEW in by_effect:
        return f"Unknown: a claim needs {MIN_RUNS} runs or more on either side."
    return "Unknown: no workload has times both before and after."


def _range(changes: Sequence[float]) -> str:
    """Return `-9.5% to -36.9%`, the smaller change first; one number if both ends are the same."""
    ends = (min(changes, key=abs), max(changes, key=abs))
    return " to ".join(dict.fromkeys(map(quantities.change, ends)))


def _changes(by_effect: Effects) -> Iterator[Remark]:
    for effect, (tone, topic) in _TOPICS.items():
        if effect in by_effect:
            items = tuple(f"{each.workload} {each.text}" for each in by_effect[effect])
            yield Remark(tone, topic, items)


def _controls(shift: ControlShift | None) -> Remark:
    if shift is None:
        text = "none was measured, so a change of the machine itself would go unnoticed"
        return Remark(Tone.LEVEL, "Controls", (text,))
    names = ", ".join(shift.workloads)
    change = shift.change
    width = change.uncertainty
    is_known = width is not None and not quantities.is_too_wide(width, change.relative_change)
    if change.interval is None or change.p is None or not is_known:
        text = f"too few runs to tell whether they moved: {names}"
        return Remark(Tone.LEVEL, "Controls", (text,))
    ends = quantities.ends_text(change.interval, quantities.change)
    p = quantities.p_statement(quantities.p_text(change.p))
    shown = f"{quantities.change(change.relative_change)} ({ends}), {p}: {names}"
    if shift.moved:
        text = f"{shown}; the machine itself has changed, which may explain the other changes, too"
        return Remark(Tone.ALARM, "Controls moved", (text,))
    return Remark(Tone.LEVEL, "Controls steady", (f"no significant change: {shown}",))


def _other_differences(sides: Sides, found: Iterable[Confounder]) -> Remark:
    differences = [each.describe(sides.baseline.name) for each in found]
    more = len(differences) - MAX_DIFFERENCES
    if more > 0:
        differences[MAX_DIFFERENCES:] = [f"and {more} more, see the environments below"]
    if differences:
        return Remark(Tone.ALARM, "Also different", tuple(differences))
    if any(run.environment for run in sides.descriptions):
        text = "nothing else that was recorded"
    else:
        text = "unknown: nothing was recorded about the machines"
    return Remark(Tone.LEVEL, "Also different", (text,))
