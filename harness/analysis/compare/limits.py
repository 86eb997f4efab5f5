"""Whether the changes of a table exceed a limit, and how many more runs would tell.

Each workload counts by itself. A change exceeds the limit if the table's own test says so, with the limit in
place of 0, adjusted for all comparisons; it keeps the limit if its whole 95 % interval does.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison, controls_in_common
from harness.model.errors import BadInput
from harness.model.limits import MIN_RUNS
from harness.statistics.change import Change, Verdict, changes_of_table
from harness.statistics.power import MAX_RUNS, runs_needed
from harness.words import count_of, given_percent

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
                if outcome == "unknown":
                    text += f"; {_advice(comparison, index, workloads, limit)}"
                yield Judgement(column.name, limit, outcome, workloads, text)


def _outcome(change: Change | None, limit: float) -> str:
    if change and change.interval and change.interval.high <= limit:
        return "keeps"
    is_beyond = change and change.verdict is Verdict.CHANGED and change.relative_change > limit
    return "exceeds" if is_beyond else "unknown"


def _advice(comparison: Comparison, index: int, workloads: Sequence[str], limit: float) -> str:
    """Return how many more runs would tell of all of these, if their changes stay as they are."""
    model, more = comparison.model, 1
    for row in comparison.rows:
        if row.workload in workloads:
            needed, change = MIN_RUNS, row.cells[index].change
            if change:
                distance = (1 + change.relative_change) / (1 + limit) - 1
                comparisons = len(comparison.changes) if distance > 0 else 1
                ratio = model.ratio(0, index, row.workload)
                sd = math.sqrt(ratio.variance / ratio.per_run)
                found = runs_needed(distance, sd, comparisons)
                if found is None:
                    return f"even {MAX_RUNS} runs on either side would hardly tell"
                needed = found
            more = max(more, needed - model.runs_of_either(0, index, row.workload))
    return f"about {count_of(more, 'more run')} on either side would tell"
