"""Whether the changes of a table exceed a limit.

Each workload counts by itself. A change exceeds the limit if the table's own test says so, with the limit in
place of 0, adjusted for all comparisons. It keeps the limit if its whole 95 % interval does.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison, controls_in_common
from harness.base.errors import BadInput
from harness.base.words import given_percent, join_names
from harness.model.finding import Finding, Gravity, about
from harness.statistics.change import Change, Verdict, changes_from_baseline

EXCEEDS = "exceeds"
FAILED = "failed"
UNKNOWN = "unknown"
KEEPS = "keeps"
_WORDS = {
    EXCEEDS: (Gravity.FAULT, "slower by more than {}", "not faster by {}"),
    FAILED: (Gravity.FAULT, "trials failed", "trials failed"),
    UNKNOWN: (
        Gravity.UNKNOWN,
        "not known whether slower by more than {}",
        "not known whether faster by {}",
    ),
    KEEPS: (Gravity.OK, "not slower by more than {}", "faster by {} or more"),
}
"""By outcome its gravity, and its words for a largest increase and for a least decrease."""


@dataclass(frozen=True)
class LimitFinding(Finding):
    """The workloads of a configuration with the same outcome; `limit` as in `limit_findings`."""

    limit: float = 0.0
    outcome: str = ""
    workloads: tuple[str, ...] = ()


def limit_findings(comparison: Comparison, limit: float) -> Iterator[LimitFinding]:
    """Hold each configuration but the baseline against a limit: 0.03 for 3 % more time, -0.1 for 10 % less.

    Controls do not count, nor does a workload without a time in the baseline; but a failed trial of either
    fails. Raise BadInput if no workload counts.
    """
    measured = {row.workload for row in comparison.rows if row.cells[0].summary}
    judged = measured - comparison.controls
    if not judged:
        raise BadInput(
            "a limit does not count for controls, and the baseline measured nothing else"
        )
    relative_to = None
    if comparison.relative_to_controls:
        relative_to = controls_in_common(comparison.columns, comparison.model)
    left_out = comparison.left_out.keys()
    tested = changes_from_baseline(comparison.model, relative_to, limit, left_out)
    for index, column in enumerate(comparison.columns[1:], 1):
        found: defaultdict[str, list[str]] = defaultdict(list)
        for row in comparison.rows:
            if row.cells[index].sample.errors:
                found[FAILED].append(row.workload)
            elif row.workload in judged and (row.workload, index) not in left_out:
                change = tested.get((row.workload, index))
                found[_outcome(change, limit)].append(row.workload)
        for outcome in _WORDS:
            workloads = found[outcome]
            if workloads:
                remedy = "measure more runs" if outcome == UNKNOWN else ""
                names = ", ".join(workloads)
                yield _finding(column.name, limit, outcome, workloads, names, remedy)
        yield from _not_compared(comparison, index, limit)


def _not_compared(comparison: Comparison, index: int, limit: float) -> Iterator[LimitFinding]:
    """Yield the workloads of a column that are not compared, and why."""
    other_answer = [name for name, column in comparison.left_out if column == index]
    reasons = {"another answer": other_answer, "not matched": list(comparison.columns[0].alone)}
    for reason, workloads in reasons.items():
        if workloads:
            names = f"{join_names(workloads)} ({reason})"
            yield _finding(comparison.columns[index].name, limit, UNKNOWN, workloads, names)


def exit_code(found: Iterable[Finding]) -> int:
    """Return 1 if a limit is exceeded or a trial failed, else 3 if that is unknown, else 0."""
    codes = {Gravity.FAULT: 1, Gravity.UNKNOWN: 3}
    gravities = {each.gravity for each in found}
    for gravity, code in codes.items():
        if gravity in gravities:
            return code
    return 0


def _finding(
    configuration: str,
    limit: float,
    outcome: str,
    workloads: Sequence[str],
    names: str,
    remedy: str = "",
) -> LimitFinding:
    """Return the finding for workloads of a configuration with the same outcome, in words."""
    gravity, increase, decrease = _WORDS[outcome]
    words = increase
    if limit < 0:
        words = decrease
    return LimitFinding(
        about(configuration),
        f"{words.format(given_percent(abs(limit)))}: {names}",
        gravity,
        remedy=remedy,
        limit=limit,
        outcome=outcome,
        workloads=tuple(workloads),
    )


def _outcome(change: Change | None, limit: float) -> str:
    if change is None:
        return UNKNOWN
    if change.interval and change.interval.high <= limit:
        return KEEPS
    if change.verdict is Verdict.CHANGED and change.relative_change > limit:
        return EXCEEDS
    return UNKNOWN
