"""Whether the changes of a table exceed a limit, and how many more runs would tell.

Each workload counts by itself. A change exceeds the limit if the table's own test says so, with the limit in
place of 0, adjusted for all comparisons; it keeps the limit if its whole 95 % interval does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.analysis.compare.comparison import Comparison, controls_in_common
from harness.analysis.observed.sample import Outcome
from harness.model.errors import BadInput
from harness.model.limits import MIN_RUNS
from harness.statistics.change import Change, Verdict, changes_of_table
from harness.statistics.power import runs_needed


class Standing(StrEnum):
    """Whether a change exceeds a limit."""

    EXCEEDS = "exceeds"
    KEEPS = "keeps"
    UNKNOWN = "unknown"


EXIT_CODES = {Standing.EXCEEDS: 1, Standing.UNKNOWN: 3}
"""Those of `compare`, the gravest first. A failed trial counts as the first."""


@dataclass(frozen=True)
class Limit:
    """The largest change of a time that an option allows: 0.03 for 3 % more, -0.1 for 10 % less."""

    option: str
    change: float


@dataclass(frozen=True)
class Judgement:
    """How a configuration's changes stand to a limit, by workload; None is a workload without a change.

    Controls are left out, and so is what the baseline did not run. `failed` are the workloads with failed
    trials, controls or not. `more_runs` on either side would tell of what is unknown, if the changes stay as
    they are; None if that takes more than MAX_RUNS.
    """

    limit: Limit
    configuration: str
    changes: Mapping[Standing, Mapping[str, Change | None]]
    failed: tuple[str, ...]
    more_runs: int | None


def judge(comparison: Comparison, limit: Limit) -> list[Judgement]:
    """Hold each configuration but the baseline against a limit. Raise BadInput if none is judged."""
    controls = controls_in_common(comparison.columns, comparison.model)
    relative_to = controls if comparison.relative_to_controls else None
    tested = changes_of_table(comparison.model, relative_to, limit.change)
    names = [
        row.workload
        for row in comparison.rows
        if row.workload not in comparison.common_controls
        and row.cells[0].sample.outcome not in {Outcome.MISSING, Outcome.OMITTED}
    ]
    if not names:
        raise BadInput(f"{limit.option} judges no controls, and the baseline measured nothing else")
    judged = []
    for index, column in enumerate(comparison.columns[1:], 1):
        changes: dict[Standing, dict[str, Change | None]] = {each: {} for each in Standing}
        for name in names:
            change = tested.get((name, index))
            changes[_standing(change, limit)][name] = change
        failed = tuple(row.workload for row in comparison.rows if row.cells[index].sample.errors)
        more = _more_runs(comparison, index, changes[Standing.UNKNOWN], limit)
        judged.append(Judgement(limit, column.name, changes, failed, more))
    return judged


def exit_code(judgements: Iterable[Judgement]) -> int:
    """Return the code of the gravest standing of any change, 0 if all keep their limits."""
    found = {
        standing
        for judged in judgements
        for standing in Standing
        if judged.changes[standing] or (judged.failed and standing is Standing.EXCEEDS)
    }
    return next((code for standing, code in EXIT_CODES.items() if standing in found), 0)


def _standing(change: Change | None, limit: Limit) -> Standing:
    if change and change.interval:
        if change.interval.high <= limit.change:
            return Standing.KEEPS
        if change.verdict is Verdict.CHANGED and change.relative_change > limit.change:
            return Standing.EXCEEDS
    return Standing.UNKNOWN


def _more_runs(
    comparison: Comparison, index: int, unknown: Mapping[str, Change | None], limit: Limit
) -> int | None:
    model = comparison.model.differences
    more = [1]
    for name, change in unknown.items():
        needed: int | None = MIN_RUNS
        if change:
            distance = (1 + change.relative_change) / (1 + limit.change) - 1
            comparisons = len(comparison.changes) if distance > 0 else 1
            needed = runs_needed(distance, model.run_sd(name), comparisons)
        if needed is None:
            return None
        more.append(needed - model.runs_of_either(0, index, name))
    return max(more)
