"""Which configurations can be compared with a baseline: each function raises BadInput for one reason."""

from collections.abc import Iterable, Sequence, Sized

from harness.analysis.compare.confounder import Confounder
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.declared import contradictions
from harness.analysis.observed.environment import content
from harness.analysis.observed.sample import Sample
from harness.base.errors import BadInput
from harness.base.items import unique
from harness.base.words import join_names
from harness.eventlog.application import is_from_event_log
from harness.model.limits import MIN_RUNS
from harness.statistics.change import ControlShift

MIN_CONFIGURATIONS = 2
_ANYWAY = "`clusterlift compare` and `report` compare them anyway with --allow-different-data"


def require_several(configurations: Sized) -> None:
    """Raise BadInput for fewer configurations than can be compared."""
    if len(configurations) < MIN_CONFIGURATIONS:
        raise BadInput("name two configurations or more: BEFORE AFTER [MORE...]")


def require_common_workload(sides: Sides) -> None:
    """Raise BadInput if no workload was measured on both sides."""
    if not sides.attempted:
        both = f"{_measured(sides.baseline)}; {_measured(sides.other)}"
        advice = "run the same workloads in both"
        if any(map(is_from_event_log, sides.baseline.descriptions)):
            advice += ", or say by --match what differs in their names"
        raise BadInput(f"no workload in common: {both}; {advice}")


def _measured(column: ConfigurationRuns) -> str:
    return f"{column.name!r} has {join_names(column.attempted) or 'no measured trial'}"


def require_same_units(sides: Sides) -> None:
    """Raise BadInput if a workload counts its work in another unit than in the baseline."""
    for workload, (before, after) in sides.samples.items():
        if before.runs_s and after.runs_s and before.unit != after.unit:
            raise BadInput(
                f"{workload} counts {_unit(before)} in {sides.baseline.name!r} and {_unit(after)} in "
                f"{sides.other.name!r}: they cannot be compared"
            )


def _unit(sample: Sample) -> str:
    return sample.unit or "no work"


def require_same_data(sides: Sides) -> None:
    """Raise BadInput if both sides are known to have read different rows."""
    before = _contents(sides.baseline)
    after = _contents(sides.other)
    if before and after and set(before) != set(after):
        raise BadInput(
            f"{sides.baseline.name!r} and {sides.other.name!r} ran on different data: "
            f"{', '.join(before)} and {', '.join(after)}; {_ANYWAY}"
        )


def _contents(column: ConfigurationRuns) -> list[str]:
    """Return the different data that is known to have been read, in words."""
    return unique(filter(None, map(content, column.descriptions)))


def require_no_confounders(sides: Sides, found: Iterable[Confounder]) -> None:
    """Raise BadInput if anything differs besides what was declared, or contradicts a declaration."""
    lines = [each.describe(sides.baseline.name) for each in found]
    lines += contradictions(sides.baseline.runs)
    lines += contradictions(sides.other.runs)
    if lines:
        shown = lines[0]
        if len(lines) > 1:
            shown += f"; and {len(lines) - 1} more, which compare lists without --strict"
        raise BadInput(
            f"--strict: {sides.baseline.name!r} and {sides.other.name!r} have confounders: {shown}"
        )


def require_testable_controls(
    columns: Sequence[ConfigurationRuns], shifts: Sequence[ControlShift | None]
) -> None:
    """Raise BadInput if the change of a column's controls cannot be tested. The first is the baseline."""
    for column, shift in zip(columns[1:], shifts[1:], strict=True):
        if shift is None or shift.change.interval is None:
            raise BadInput(
                f"--adjust controls: {column.name!r} and {columns[0].name!r} need {MIN_RUNS} runs each with "
                "controls in common; run the Pi workloads and sha-512-cached in both"
            )
