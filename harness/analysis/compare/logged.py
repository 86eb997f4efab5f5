"""What differs between applications that only event logs describe: their dates and executions."""

from collections.abc import Iterator, Sequence

from harness.analysis.compare.confounder import Confounder
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.base.items import known, union, unique
from harness.base.words import join_names
from harness.eventlog.application import application_of, is_from_event_log
from harness.model.run import Run


def different_dates(sides: Sides) -> Iterator[Confounder]:
    """Yield that all runs of one side are older than all runs of the other, if event logs describe both."""
    if not all(map(is_from_event_log, sides.descriptions)):
        return
    before = _dates(sides.baseline.descriptions)
    after = _dates(sides.other.descriptions)
    if before[-1] < after[0] or after[-1] < before[0]:
        yield Confounder("recorded", _days(before), _days(after))


def different_executions(sides: Sides) -> Iterator[Confounder]:
    """Yield each application of both sides that executed something on one side alone, or failed to."""
    common = _applications(sides.baseline) & _applications(sides.other)
    for application in sorted(common):
        before = list(_only_there(application, sides.baseline, sides.other))
        after = list(_only_there(application, sides.other, sides.baseline))
        if before or after:
            yield Confounder(
                f"executions of {application}",
                "; ".join(before) or "the same",
                "; ".join(after) or "the same",
                frozenset({application}),
                f"{application} did other work: {'; '.join([*before, *after])}",
            )


def _applications(column: ConfigurationRuns) -> set[str]:
    """Return the applications that event logs describe."""
    return set(known(map(application_of, column.descriptions)))


def _only_there(
    application: str, column: ConfigurationRuns, other: ConfigurationRuns
) -> Iterator[str]:
    """Yield in words what one column alone executed of an application, and what failed in it alone."""
    alone = [name for name, own in column.alone.items() if own == application]
    if alone:
        yield f"{column.name} alone executed {join_names(alone)}"
    runs = [run for run in column.descriptions if application_of(run) == application]
    executions = [name for name in union(run.workloads for run in runs) if name != application]
    failed = [name for name in executions if _fails(column, name) and not _fails(other, name)]
    if failed:
        yield f"in {column.name} alone failed {join_names(failed)}"


def _fails(column: ConfigurationRuns, name: str) -> bool:
    return name in column.samples and bool(column.samples[name].errors)


def _dates(runs: Sequence[Run]) -> list[str]:
    return sorted(run.started_at[:10] for run in runs)


def _days(dates: Sequence[str]) -> str:
    return " to ".join(unique([dates[0], dates[-1]]))
