"""Answers of users' queries on two sides: which queries did the same work, and which are not compared."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from harness.analysis.compare.confounder import Confounder
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.streams import streams
from harness.base.errors import BadInput
from harness.base.items import union
from harness.base.option_values import what_exists
from harness.base.words import join_names
from harness.model.answer import (
    VARIES,
    Likeness,
    RowsDigest,
    at_ties,
    likeness,
    why_different,
)

ALLOW = "--allow-different-answers"
_DATA_CHANGED = (
    "its answer is the same throughout a run, but not in all runs: the data changed between them, or the "
    "answer varies"
)


def different_answers(sides: Sides) -> Iterator[Confounder]:
    """Yield a confounder for each query with different answers."""
    for each in sides.answers:
        if each.likeness is Likeness.DIFFERENT:
            fact = answer_fact(each.query)
            yield Confounder(fact, each.seen_before, each.seen_after, frozenset({each.query}))


def answer_fact(query: str) -> str:
    """Return what a confounder calls the answer of a query."""
    return f"answer of {query}"


def left_out(sides: Sides, allowed: Collection[str]) -> dict[str, str]:
    """Return, by the name of the query, why its times are not compared.

    Those that are `allowed` are compared.

    The time of all streams together is not compared if the time of a query in them is not.
    """
    found: dict[str, str] = {}
    for each in sides.answers:
        if each.likeness is Likeness.DIFFERENT and each.query not in allowed:
            found[each.query] = (
                f"not compared: another answer, {each.seen_after}, than in {sides.baseline.name}, "
                f"{each.seen_before}: {why_different(each.before[0], each.after[0])} "
                f"({ALLOW} {each.query} compares the times)"
            )
    for total, parts in streams(sides.descriptions).items():
        different = [name for name in parts if name in found]
        if different:
            found[total] = f"not compared: another answer of {join_names(different)}"
    return found


def answers_at_ties(sides: Sides) -> dict[str, str]:
    """Return what is said of queries, by name, whose answers differ only in rows that tie at a limit."""
    found: dict[str, str] = {}
    for each in sides.answers:
        is_steady = len(each.before) == len(each.after) == 1
        if is_steady and each.likeness is Likeness.TIES:
            ties = at_ties(each.after[0], each.before[0])
            found[each.query] = f"its answer has {ties}, than in {sides.baseline.name}"
    return found


def how_it_varies(of_runs: Sequence[Sequence[RowsDigest]]) -> str | None:
    """Return what is said of a query with these answers in each run; None if all are the same."""
    every = list(chain.from_iterable(of_runs))
    alike = likeness(every, every)
    if alike is Likeness.SAME:
        return None
    if alike is Likeness.TIES:
        return f"its answer varies in the rows that tie at LIMIT {every[0].limit}"
    # A run looks at all rows once. So where the text leaves an answer to chance, one a run tells nothing.
    is_left_to_chance = any(each.chance for each in every)
    if all(len(answers) == 1 for answers in of_runs) and not is_left_to_chance:
        return _DATA_CHANGED
    return f"{VARIES}; so its answer is compared with no other"


def require_known_queries(columns: Sequence[ConfigurationRuns], allowed: Collection[str]) -> None:
    """Raise BadInput if --allow-different-answers names a workload that does not exist."""
    known = union(column.workloads for column in columns)
    for name in allowed:
        if name not in known:
            raise BadInput(f"{ALLOW}: there is no workload {name!r}; {what_exists(name, known)}")


def require_some_left(sides: Sides, reasons: Mapping[str, str]) -> None:
    """Raise BadInput if nothing but controls is left to be compared, for these reasons."""
    left = sides.attempted - reasons.keys() - sides.controls
    if left or not reasons:
        return
    name = next(iter(reasons))
    others = list(reasons)[1:]
    more = f" (and so have {join_names(others)})" if others else ""
    reason = reasons[name].removeprefix("not compared: ")
    raise BadInput(
        f"{sides.other.name!r} and {sides.baseline.name!r} have no query in common with the same answer: "
        f"{name} has {reason}{more}"
    )
