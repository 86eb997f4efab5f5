"""Which configurations can be compared with a baseline: each function raises BadInput for one reason."""

from collections.abc import Sequence, Sized

from harness.analysis.compare.confounders import confounders
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.declared import contradictions
from harness.analysis.observed.environment import content
from harness.analysis.observed.sample import Sample
from harness.base.errors import BadInput
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


def require_common_workload(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    """Raise BadInput if no workload was measured on both sides."""
    if not set(baseline.attempted) & set(other.attempted):
        both = "; ".join(
            f"{column.name!r} has {join_names(column.attempted) or 'no measured trial'}"
            for column in (baseline, other)
        )
        advice = "run the same workloads in both"
        if any(is_from_event_log(recorded.run) for recorded in baseline.runs):
            advice += ", or say by --match what differs in their names"
        raise BadInput(f"no workload in common: {both}; {advice}")


def require_same_units(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    """Raise BadInput if a workload counts its work in another unit than in the baseline."""
    for workload in baseline.attempted:
        before = _unit(baseline.samples[workload])
        after = _unit(other.samples.get(workload))
        if before and after and before != after:
            raise BadInput(
                f"{workload} counts {before} in {baseline.name!r} and {after} in {other.name!r}: they cannot "
                "be compared"
            )


def _unit(sample: Sample | None) -> str | None:
    """Return what a sample counts its work in, in words; None without times."""
    if sample is None or not sample.runs_s:
        return None
    return sample.unit or "no work"


def require_same_data(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    """Raise BadInput if both sides are known to have read different rows."""
    before = _contents(baseline)
    after = _contents(other)
    if before and after and set(before) != set(after):
        raise BadInput(
            f"{baseline.name!r} and {other.name!r} ran on different data: {', '.join(before)} and "
            f"{', '.join(after)}; {_ANYWAY}"
        )


def _contents(column: ConfigurationRuns) -> list[str]:
    contents = dict.fromkeys(content(recorded.run) for recorded in column.runs)
    return [known for known in contents if known]


def require_no_confounders(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    """Raise BadInput if anything differs besides what was declared, or contradicts a declaration."""
    lines = [found.describe(baseline.name) for found in confounders(baseline, other)]
    lines += contradictions(baseline.runs)
    lines += contradictions(other.runs)
    if lines:
        shown = lines[0]
        if len(lines) > 1:
            shown += f"; and {len(lines) - 1} more, which compare lists without --strict"
        raise BadInput(f"--strict: {baseline.name!r} and {other.name!r} have confounders: {shown}")


def require_testable_controls(
    columns: Sequence[ConfigurationRuns], shifts: Sequence[ControlShift | None]
) -> None:
    """Raise BadInput if the change of a column's controls cannot be tested. The first is the baseline."""
    for column, shift in list(zip(columns, shifts, strict=True))[1:]:
        if shift is None or shift.change.interval is None:
            raise BadInput(
                f"--adjust controls: {column.name!r} and {columns[0].name!r} need {MIN_RUNS} runs each with "
                "controls in common; run the Pi workloads and sha-512-cached in both"
            )
