"""What differs between applications that only their event logs describe: dates, data, and plans."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from harness.analysis.observed.sample import measured_trials
from harness.eventlog.application import PLANS
from harness.model.run import RecordedRun
from harness.words import significant

MIN_DIFFERENCE = 0.02
"""Of the bytes of input: the same files read again differ by less."""

Difference = tuple[str, str, str, frozenset[str] | None]
"""What differs, its values before and after, and the workloads whose times it may affect; None: all."""


def different_logs(
    baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]
) -> Iterator[Difference]:
    """Yield what differs between two sides; nothing unless all runs are from event logs."""
    sides = (baseline, other)
    if not all(PLANS in recorded.run.parameters for side in sides for recorded in side):
        return
    before, after = (sorted(recorded.run.started_at[:10] for recorded in side) for side in sides)
    if before[-1] < after[0] or after[-1] < before[0]:
        yield "recorded", _days(before), _days(after), None
    bytes_before, bytes_after = map(_input_bytes, sides)
    plans_before, plans_after = map(_plans, sides)
    for workload in filter(bytes_after.__contains__, bytes_before):
        read, reads = bytes_before[workload], bytes_after[workload]
        if abs(reads - read) > MIN_DIFFERENCE * max(read, reads):
            ratio = f"{reads / read:.3g} times as many bytes" if read and reads else _size(reads)
            yield "input of the tasks", _size(read), ratio, frozenset({workload})
    for workload in filter(plans_after.__contains__, plans_before):
        planned, plans = plans_before[workload], plans_after[workload]
        if planned != plans:
            texts = _operators(planned - plans), _operators(plans - planned)
            yield "operators of the plan", *texts, frozenset({workload})


def _days(dates: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys([dates[0], dates[-1]]))


def _input_bytes(runs: Sequence[RecordedRun]) -> Mapping[str, float]:
    """Return the median of the bytes that the tasks of a trial read, by workload."""
    found: dict[str, list[int]] = {}
    for trial in measured_trials(runs):
        if trial.tasks is not None and trial.wall_s is not None:
            found.setdefault(trial.workload, []).append(trial.tasks.input_bytes)
    return {workload: median(counts) for workload, counts in found.items()}


def _plans(runs: Sequence[RecordedRun]) -> Mapping[str, Counter[str]]:
    """Return how many operators of each kind the plan of a workload has, in the last run that has it."""
    return {
        workload: Counter(operators)
        for recorded in runs
        for workload, operators in recorded.run.parameters[PLANS].items()
    }


def _operators(found: Counter[str]) -> str:
    return ", ".join(f"{number} {operator}" for operator, number in sorted(found.items())) or "none"


def _size(count: float) -> str:
    return f"{significant(count / 1e6, 3)} MB"
