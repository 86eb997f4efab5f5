"""What differs between applications that only their event logs describe: dates and data."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from harness.analysis.observed.sample import measured_trials
from harness.base.words import quantity_text
from harness.eventlog.application import is_from_event_log
from harness.model.run import RecordedRun

MIN_DIFFERENCE = 0.02
"""Of the bytes of input: the same files read again differ by less."""


def different_logs(
    baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]
) -> Iterator[tuple[str, str, str, frozenset[str] | None]]:
    """Yield what differs between runs from event logs: both values, and for which workloads; None: all."""
    if not all(is_from_event_log(recorded.run) for recorded in (*baseline, *other)):
        return
    before = sorted(recorded.run.started_at[:10] for recorded in baseline)
    after = sorted(recorded.run.started_at[:10] for recorded in other)
    if before[-1] < after[0] or after[-1] < before[0]:
        yield "recorded", _days(before), _days(after), None
    bytes_before = _input_bytes(baseline)
    bytes_after = _input_bytes(other)
    for workload, read in bytes_before.items():
        reads = bytes_after.get(workload, read)
        if abs(reads - read) > MIN_DIFFERENCE * max(read, reads):
            yield (
                "input of the tasks",
                quantity_text(read, "B"),
                quantity_text(reads, "B"),
                frozenset({workload}),
            )


def _days(dates: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys([dates[0], dates[-1]]))


def _input_bytes(runs: Sequence[RecordedRun]) -> Mapping[str, float]:
    """Return the median of the bytes that the tasks of a trial read, by workload."""
    found: dict[str, list[int]] = {}
    for trial in measured_trials(runs):
        if trial.tasks is not None and trial.wall_s is not None:
            found.setdefault(trial.workload, []).append(trial.tasks.input_bytes)
    return {workload: median(counts) for workload, counts in found.items()}
