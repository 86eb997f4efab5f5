"""Whether the changes of a table exceed a limit.

Each workload counts by itself. A change exceeds the limit if the table's own test says so, with the limit in
place of 0, adjusted for all comparisons; it keeps the limit if its whole 95 % interval does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison, controls_in_common
from harness.base.errors import BadInput
from harness.base.words import given_percent, join_names
from harness.statistics.change import Change, Verdict, changes_of_table

EXIT_CODES = {"exceeds": 1, "failed": 1, "unknown": 3, "keeps": 0}
"""Those of `compare` for each outcome, the gravest first."""
_WORDS = {
    "exceeds": ("slower by more than {}", "not faster by {}"),
    "failed": ("trials failed", "trials failed"),
    "unknown": ("not known whether slower by more than {}", "not known whether faster by {}"),
    "keeps": ("not slower by more than {}", "faster by {} or more"),
}
"""Of a largest increase, and of a least decrease."""


@dataclass(frozen=True)
class Judgement:
    """The workloads of a configuration with the same outcome, and that in words; `limit` as in `judge`."""

    configuration: str
    limit: float
    outcome: str
    workloads: tuple[str, ...]
    text: str


def judge(comparison: Comparison, limit: float) -> Iterator[Judgement]:
    """Hold each configuration but the baseline against a limit: 0.03 for 3 % more time, -0.1 for 10 % less.

    Controls do not count, nor does what has no time in the baseline; but a failed trial of either fails.
    Raise BadInput if no workload counts.
    """
    rows, controls = comparison.rows, controls_in_common(comparison.columns, comparison.model)
    relative_to = controls if comparison.relative_to_controls else None
    tested = changes_of_table(comparison.model, relative_to, limit)
    judged = {row.workload for row in rows if row.cells[0].summary} - comparison.common_controls
    if not judged:
        raise BadInput(
            "a limit does not count for controls, and the baseline measured nothing else"
        )
    for index, column in enumerate(comparison.columns[1:], 1):
        outcomes = {
            row.workload: "failed"
            if row.cells[index].sample.errors
            else _outcome(tested.get((row.workload, index)), limit)
            for row in rows
            if row.workload in judged or row.cells[index].sample.errors
        }
        for outcome in EXIT_CODES:
            if workloads := tuple(name for name, each in outcomes.items() if each == outcome):
                words = _WORDS[outcome][limit < 0].format(given_percent(abs(limit)))
                text = f"{column.name}: {words}: {', '.join(workloads)}"
                text += "; measure more runs" if outcome == "unknown" else ""
                yield Judgement(column.name, limit, outcome, workloads, text)
        if not_matched := comparison.columns[0].alone:
            words = _WORDS["unknown"][limit < 0].format(given_percent(abs(limit)))
            text = f"{column.name}: {words}, as not matched: {join_names(not_matched)}"
            yield Judgement(column.name, limit, "unknown", not_matched, text)


def _outcome(change: Change | None, limit: float) -> str:
    if change and change.interval and change.interval.high <= limit:
        return "keeps"
    is_beyond = change and change.verdict is Verdict.CHANGED and change.relative_change > limit
    return "exceeds" if is_beyond else "unknown"
