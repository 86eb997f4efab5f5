"""Whether the changes of a table exceed a limit, and how many more runs would tell.

Each workload counts by itself. A change exceeds the limit if the table's own test says so, with the limit in
place of 0, adjusted for all comparisons; it keeps the limit if its whole 95 % interval does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison, controls_in_common
from harness.analysis.observed.sample import Outcome
from harness.model.errors import BadInput
from harness.model.limits import MIN_RUNS
from harness.statistics.change import Change, Verdict, changes_of_table
from harness.statistics.power import MAX_RUNS, runs_needed
from harness.words import count_of, given_percent

EXIT_CODES = {"exceeds": 1, "failed": 1, "unknown": 3, "keeps": 0}
"""Those of `compare` for each outcome, the gravest first."""


@dataclass(frozen=True)
class Judgement:
    """The workloads of a configuration with the same outcome; `limit` is the largest allowed change."""

    option: str
    limit: float
    configuration: str
    outcome: str
    workloads: tuple[str, ...]
    text: str


def judge(comparison: Comparison, option: str, limit: float) -> Iterator[Judgement]:
    """Hold each configuration but the baseline against a limit: 0.03 for 3 % more time, -0.1 for 10 % less.

    Controls do not count, nor does what the baseline did not run; but a failed trial fails in any workload.
    Raise BadInput if no workload counts.
    """
    controls = controls_in_common(comparison.columns, comparison.model)
    relative_to = controls if comparison.relative_to_controls else None
    tested = changes_of_table(comparison.model, relative_to, limit)
    names = [
        row.workload
        for row in comparison.rows
        if row.workload not in comparison.common_controls
        and row.cells[0].sample.outcome not in {Outcome.MISSING, Outcome.OMITTED}
    ]
    if not names:
        raise BadInput(f"{option} judges no controls, and the baseline measured nothing else")
    for index, column in enumerate(comparison.columns[1:], 1):
        found: dict[str, list[str]] = {outcome: [] for outcome in EXIT_CODES}
        for name in names:
            found[_outcome(tested.get((name, index)), limit)].append(name)
        found["failed"] += [
            row.workload for row in comparison.rows if row.cells[index].sample.errors
        ]
        for outcome, workloads in found.items():
            if workloads:
                text = f"{column.name}: {_words(limit)[outcome]}: {', '.join(workloads)}"
                if outcome == "unknown":
                    text += f"; {_advice(comparison, index, workloads, limit)}"
                yield Judgement(option, limit, column.name, outcome, tuple(workloads), text)


def _outcome(change: Change | None, limit: float) -> str:
    if change and change.interval and change.interval.high <= limit:
        return "keeps"
    is_beyond = change and change.verdict is Verdict.CHANGED and change.relative_change > limit
    return "exceeds" if is_beyond else "unknown"


def _words(limit: float) -> dict[str, str]:
    amount = given_percent(abs(limit))
    exceeds, keeps, unknown = (
        ("slower by more than {}", "not slower by more than {}", "not known whether slower by more than {}")
        if limit > 0
        else ("not faster by {}", "faster by {} or more", "not known whether faster by {}")
    )  # fmt: skip
    words = {"exceeds": exceeds, "keeps": keeps, "unknown": unknown, "failed": "trials failed"}
    return {outcome: text.format(amount) for outcome, text in words.items()}


def _advice(comparison: Comparison, index: int, workloads: list[str], limit: float) -> str:
    """Return how many more runs would tell, if the changes stay as they are."""
    model, changes = (
        comparison.model.differences,
        {row.workload: row.cells[index].change for row in comparison.rows},
    )
    more = 1
    for name in workloads:
        needed: int | None = MIN_RUNS
        if change := changes[name]:
            distance = (1 + change.relative_change) / (1 + limit) - 1
            comparisons = len(comparison.changes) if distance > 0 else 1
            needed = runs_needed(distance, model.run_sd(name), comparisons)
        if needed is None:
            return f"even {MAX_RUNS} runs on either side would hardly tell"
        more = max(more, needed - model.runs_of_either(0, index, name))
    return f"about {count_of(more, 'more run')} on either side would tell"
