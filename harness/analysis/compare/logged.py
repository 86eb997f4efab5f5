"""What differs between applications that only their event logs describe: their dates."""

from collections.abc import Iterator, Sequence

from harness.analysis.compare.confounder import Confounder
from harness.analysis.compare.sides import Sides
from harness.base.items import unique
from harness.eventlog.application import is_from_event_log
from harness.model.run import Run


def different_dates(sides: Sides) -> Iterator[Confounder]:
    """Yield that all runs of one side are older than all runs of the other, if event logs describe both."""
    if not all(map(is_from_event_log, sides.descriptions)):
        return
    before = _dates(sides.baseline.descriptions)
    after = _dates(sides.other.descriptions)
    if before[-1] < after[0] or after[-1] < before[0]:
        yield Confounder("recorded", _days(before), _days(after))


def _dates(runs: Sequence[Run]) -> list[str]:
    return sorted(run.started_at[:10] for run in runs)


def _days(dates: Sequence[str]) -> str:
    return " to ".join(unique([dates[0], dates[-1]]))
