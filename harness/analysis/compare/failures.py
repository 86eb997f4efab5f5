"""What ran before and fails after: the first thing that a reader of a comparison must know."""

from harness.analysis.compare.sides import Sides
from harness.analysis.observed.sample import Sample
from harness.base.words import count_of, join_names


def fails_after(before: Sample, after: Sample) -> bool:
    """Whether a workload ran without a failure, and fails now, at least sometimes."""
    return bool(before.runs_s and not before.errors and after.errors)


def failing_line(sides: Sides) -> str:
    """Return which workloads ran in the baseline and fail in the other configuration; empty without any."""
    found: list[str] = []
    for name, (before, after) in sides.samples.items():
        if fails_after(before, after):
            failed = len(after.errors)
            every = count_of(failed + len(after.times_s), "trial")
            found.append(f"{name} ({failed} of {every}: {after.errors[0]})")
    if not found:
        return ""
    return f"runs in {sides.baseline.name}, fails in {sides.other.name}: {join_names(found)}"
