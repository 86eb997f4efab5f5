"""With which plans the trials of a workload were executed, and what differs between two plans.

The meaning of a plan is its operators, in their order: names, details, and expressions without their numbers.
Versions of Spark print expressions differently, and have operators of their own: between them, only joins,
exchanges and scans are compared.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.base.items import grouped
from harness.base.words import count_of, shorten
from harness.model.plan import Operator, Plan

MAX_DIFFERENCES = 3
"""A line names at most this number of differences of two plans."""
_MAX_DETAILS = 60
"""Columns of an operator in a line."""
_LITERAL = re.compile(r"'[^']*'|-?\b\d[\w.:-]*|<\w+>")
_NUMBERS = re.compile(r"-?\d+")
_KINDS = (("Join", "NestedLoop", "Cartesian"), ("Scan",), ("Exchange",))
"""Parts of the names of joins, scans and exchanges, in the order in which differences are listed."""


Meaning = tuple[Operator, ...]
"""The part of the operators of a plan that is compared."""


class PlanUse(NamedTuple):
    """A plan with its operators, and in how many trials it was executed."""

    plan: Plan
    trials: int


@dataclass(frozen=True)
class Reading:
    """How plans are read to be compared: with the values in filters or not, and across versions or not."""

    with_literals: bool = True
    across_versions: bool = False

    def meaning(self, plan: Plan) -> Meaning:
        """Return the meaning of a plan."""
        return tuple(self.compared(each) for each in plan.operators if self._compares(each))

    def _compares(self, operator: Operator) -> bool:
        return not self.across_versions or _kind(operator.name) < len(_KINDS)

    def compared(self, operator: Operator) -> Operator:
        """Return what is compared of an operator."""
        details = operator.details
        if not self.with_literals and "Scan" in operator.name:
            details = _LITERAL.sub("?", details)
        expressions = "" if self.across_versions else self._expressions(operator.expressions)
        return Operator(0, operator.name, details, expressions)

    def _expressions(self, text: str) -> str:
        if self.with_literals:
            return _NUMBERS.sub("?", text)
        return _LITERAL.sub("?", text)


def reading(
    before: Sequence[PlanUse], after: Sequence[PlanUse] = (), *, across_versions: bool = False
) -> Reading:
    """Return how the plans of one or two sides are compared.

    If the plans of one side differ from each other only by values in their filters, such as the number of a
    night's batch, these values do not count.
    """
    return Reading(max(len(before), len(after)) <= 1, across_versions)


def by_meaning(uses: Sequence[PlanUse], read: Reading) -> dict[Meaning, PlanUse]:
    """Return plans with different meanings, each with the number of its trials. The usual one is first."""
    found: dict[Meaning, PlanUse] = {}
    for use in uses:
        meaning = read.meaning(use.plan)
        known = found.get(meaning, PlanUse(use.plan, 0))
        found[meaning] = PlanUse(known.plan, known.trials + use.trials)
    in_order = sorted(found.items(), key=lambda item: -item[1].trials)
    return dict(in_order)


def plan_change(
    before: Sequence[PlanUse], after: Sequence[PlanUse], *, across_versions: bool = False
) -> str:
    """Return what changed from the plans of one side to the plans of the other; empty if nothing did.

    A side may have had several plans. It changed if the usual one did, or if one is on one side alone.
    """
    read = reading(before, after, across_versions=across_versions)
    then = by_meaning(before, read)
    now = by_meaning(after, read)
    if not then or not now:
        return ""
    usual_then = next(iter(then))
    usual_now = next(iter(now))
    for meaning in now:
        if meaning not in then:
            return difference(usual_then, meaning) + _in_some(meaning, now)
    for meaning in then:
        if meaning not in now:
            return difference(meaning, usual_now) + _in_some(meaning, then)
    if usual_now != usual_then:
        return difference(usual_then, usual_now) + _in_some(usual_now, now)
    return ""


def variation(uses: Sequence[PlanUse]) -> str:
    """Return how the plans of one side differ among themselves; empty if they do not."""
    found = by_meaning(uses, reading(uses))
    if len(found) < 2:  # noqa: PLR2004
        return ""
    (usual, _), (other, use), *_ = found.items()
    every = count_of(_trials(found), "trial")
    return f"{len(found)} plans in {every}: {difference(usual, other)} in {use.trials}"


def _trials(found: Mapping[Meaning, PlanUse]) -> int:
    """Return in how many trials all these plans were executed."""
    return sum(use.trials for use in found.values())


def _in_some(meaning: Meaning, found: Mapping[Meaning, PlanUse]) -> str:
    """Return in how many trials a plan had this meaning; empty if in all."""
    own = found[meaning].trials
    every = _trials(found)
    if own == every:
        return ""
    return f" (in {own} of {count_of(every, 'trial')})"


def difference(before: Sequence[Operator], after: Sequence[Operator]) -> str:
    """Return how the meanings of two plans differ: `SortMergeJoin became BroadcastHashJoin; ...`."""
    gone = _sorted(Counter(before) - Counter(after))
    new = _sorted(Counter(after) - Counter(before))
    texts: Counter[str] = Counter()
    for kind in range(len(_KINDS) + 1):
        texts.update(_of_kind(gone.get(kind, []), new.get(kind, [])))
    if not texts:
        return "the same operators in another order"
    shown = []
    for text, number in list(texts.items())[:MAX_DIFFERENCES]:
        shown.append(text if number == 1 else f"{text} ({number} times)")
    more = len(texts) - len(shown)
    if more:
        shown.append(count_of(more, "more difference"))
    return "; ".join(shown)


def _sorted(operators: Counter[Operator]) -> dict[int, list[Operator]]:
    """Return operators by their kind, in the order of their plan."""
    return grouped(operators.elements(), lambda operator: _kind(operator.name))


def _kind(name: str) -> int:
    """Return the place of an operator's kind in _KINDS, or the number after these."""
    for number, parts in enumerate(_KINDS):
        if any(part in name for part in parts):
            return number
    return len(_KINDS)


def _of_kind(gone: list[Operator], new: list[Operator]) -> Iterator[str]:
    """Yield what became of operators of one kind. Those with the same name belong together first."""
    gone = list(gone)
    new = list(new)
    for before in list(gone):
        same = [each for each in new if each.name == before.name]
        if same:
            gone.remove(before)
            new.remove(same[0])
            yield _became(before, same[0])
    is_substitute = bool(gone) and _kind(gone[0].name) < len(_KINDS)
    while is_substitute and gone and new:
        yield _became(gone.pop(0), new.pop(0))
    for each in gone:
        yield f"no more {_text(each)}"
    for each in new:
        yield f"{_text(each)} added"


def _became(before: Operator, after: Operator) -> str:
    if before.name != after.name:
        return f"{before.name} became {after.name}"
    if before.details != after.details:
        return f"{_text(before)} became {shorten(after.details or 'none', _MAX_DETAILS)}"
    return f"{before.name} has other expressions"


def _text(operator: Operator) -> str:
    return shorten(f"{operator.name} {operator.details}".strip(), _MAX_DETAILS)
