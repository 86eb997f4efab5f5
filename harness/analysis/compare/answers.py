"""Answers of users' queries on two sides: which queries did the same work, and which are not compared."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.streams import streams
from harness.base.errors import BadInput
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


def different_answers(
    baseline: ConfigurationRuns, other: ConfigurationRuns
) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each query with different answers, what differs in the baseline, and in the other."""
    for name, before, after in _answered(baseline, other):
        if likeness(before, after) is Likeness.DIFFERENT:
            yield name, before[0].difference(after[0]), after[0].difference(before[0])


def left_out(
    baseline: ConfigurationRuns, other: ConfigurationRuns, allowed: Collection[str]
) -> dict[str, str]:
    """Return, by the name of the query, why its times are not compared.

    Those that are `allowed` are compared.

    The time of all streams together is not compared if the time of a query in them is not.
    """
    found: dict[str, str] = {}
    answers = {name: (before[0], after[0]) for name, before, after in _answered(baseline, other)}
    for name, before, after in different_answers(baseline, other):
        if name not in allowed:
            found[name] = (
                f"not compared: another answer, {after}, than in {baseline.name}, {before}: "
                f"{why_different(*answers[name])} ({ALLOW} {name} compares the times)"
            )
    runs = [recorded.run for recorded in (*baseline.runs, *other.runs)]
    for total, parts in streams(runs).items():
        different = [name for name in parts if name in found]
        if different:
            found[total] = f"not compared: another answer of {join_names(different)}"
    return found


def answers_at_ties(baseline: ConfigurationRuns, other: ConfigurationRuns) -> dict[str, str]:
    """Return what is said of queries, by name, whose answers differ only in rows that tie at a limit."""
    found: dict[str, str] = {}
    for name, before, after in _answered(baseline, other):
        if len(before) == len(after) == 1 and likeness(before, after) is Likeness.TIES:
            found[name] = f"its answer has {at_ties(after[0], before[0])}, than in {baseline.name}"
    return found


def how_it_varies(of_runs: Sequence[Sequence[RowsDigest]]) -> str | None:
    """Return what is said of a query with these answers in each run; None if all are the same."""
    every: list[RowsDigest] = []
    for answers in of_runs:
        every += answers
    if likeness(every, every) is Likeness.SAME:
        return None
    if likeness(every, every) is Likeness.TIES:
        return f"its answer varies in the rows that tie at LIMIT {every[0].limit}"
    # A run looks at all rows once. So where the text leaves an answer to chance, one a run tells nothing.
    is_left_to_chance = any(each.chance for each in every)
    if all(len(answers) == 1 for answers in of_runs) and not is_left_to_chance:
        return _DATA_CHANGED
    return f"{VARIES}; so its answer is compared with no other"


def require_known_queries(columns: Sequence[ConfigurationRuns], allowed: Collection[str]) -> None:
    """Raise BadInput if --allow-different-answers names a workload that does not exist."""
    known: dict[str, None] = {}
    for column in columns:
        known.update(dict.fromkeys(column.workloads))
    for name in allowed:
        if name not in known:
            raise BadInput(
                f"{ALLOW}: there is no workload {name!r}; {what_exists(name, list(known))}"
            )


def require_some_left(
    baseline: ConfigurationRuns, other: ConfigurationRuns, reasons: Mapping[str, str]
) -> None:
    """Raise BadInput if nothing but controls is left to be compared, for these reasons."""
    common = set(baseline.attempted) & set(other.attempted)
    if not reasons or common - reasons.keys() - (baseline.controls | other.controls):
        return
    name = next(iter(reasons))
    others = list(reasons)[1:]
    more = f" (and so have {join_names(others)})" if others else ""
    reason = reasons[name].removeprefix("not compared: ")
    raise BadInput(
        f"{other.name!r} and {baseline.name!r} have no query in common with the same answer: {name} has "
        f"{reason}{more}"
    )


def _answered(
    baseline: ConfigurationRuns, other: ConfigurationRuns
) -> Iterator[tuple[str, Sequence[RowsDigest], Sequence[RowsDigest]]]:
    """Yield each query with answers on both sides, and the answers."""
    for name, sample in baseline.samples.items():
        if sample.answers and name in other.samples and other.samples[name].answers:
            yield name, sample.answers, other.samples[name].answers
