"""What differs between applications that only their event logs describe: their dates."""

from collections.abc import Iterator, Sequence

from harness.eventlog.application import is_from_event_log
from harness.model.run import RecordedRun


def different_dates(
    baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]
) -> Iterator[tuple[str, str, str]]:
    """Yield that all runs of one side are older than all runs of the other, if event logs describe both."""
    if not all(is_from_event_log(recorded.run) for recorded in (*baseline, *other)):
        return
    before = sorted(recorded.run.started_at[:10] for recorded in baseline)
    after = sorted(recorded.run.started_at[:10] for recorded in other)
    if before[-1] < after[0] or after[-1] < before[0]:
        yield "recorded", _days(before), _days(after)


def _days(dates: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys([dates[0], dates[-1]]))
