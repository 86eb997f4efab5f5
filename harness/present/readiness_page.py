"""The checklist of a baseline, and the smallest changes that it can show."""

import textwrap
from collections.abc import Iterator, Mapping

from harness.analysis.ready.readiness import DetectableChange, Readiness
from harness.base.words import given_percent, label, percent, visible
from harness.model.finding import Finding
from harness.present import quantities
from harness.present.blocks import Block, Lines, Paragraph, Table
from harness.statistics.power import MAX_RUNS, POWER

_SDS = "SD: the standard deviation of the trials of a run, and of the medians of these runs."
_HEADINGS = (
    "workload",
    "runs",
    "SD of trials",
    "SD of runs",
    "faster by",
    "slower by",
    "runs needed",
)
_NAME_WIDTH = 36
_TEXT_WIDTH = 72


def readiness_page(readiness: Readiness) -> Iterator[Block]:
    """Yield the checks, the smallest detectable changes and the verdict."""
    yield Lines([label(readiness.baseline.name, _NAME_WIDTH)])
    yield _checks(readiness.checks)
    if readiness.detectable:
        yield Paragraph(
            f"The smallest changes that a comparison detects in {percent(POWER)} of cases, if the same "
            "number of runs with the same noise follows after the upgrade. The last column is the number of "
            f"runs on either side that detects a change of {given_percent(readiness.change)}."
        )
        yield Table(_HEADINGS, [_row(found) for found in readiness.detectable])
        yield Paragraph(_SDS)
    verdict = "READY: the upgrade may begin"
    if readiness.failed_checks:
        verdict = f"NOT READY: {', '.join(readiness.failed_checks)}"
    yield Lines([verdict])


def _checks(checks: Mapping[str, Finding]) -> Table:
    rows = []
    for name, found in checks.items():
        wrapped = textwrap.fill(visible(found.text), _TEXT_WIDTH, break_on_hyphens=False)
        rows.append([name, found.gravity.value, wrapped])
    return Table((), rows, align="<")


def _row(found: DetectableChange) -> list[str]:
    return [
        label(found.workload, _NAME_WIDTH),
        str(found.runs),
        _sd(found.noise),
        _sd(found.run_sd),
        *_faster_and_slower(found),
        _runs_needed(found),
    ]


def _sd(fraction: float | None) -> str:
    if fraction is None:
        return "unknown"
    return quantities.share(fraction, 1)


def _runs_needed(found: DetectableChange) -> str:
    if found.run_sd is None:
        return "unknown"
    if found.runs_needed is None:
        return f"> {MAX_RUNS}"
    return str(found.runs_needed)


def _faster_and_slower(found: DetectableChange) -> tuple[str, str]:
    """Return the change to a shorter and to a longer time; half the time is as far as double."""
    change = found.min_change
    if change is None:
        return "none", "none"
    if change >= 1:
        return quantities.TOO_FEW_RUNS, quantities.TOO_FEW_RUNS
    return quantities.change(-change / (1 + change)), quantities.change(change)
