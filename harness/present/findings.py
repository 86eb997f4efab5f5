"""Findings as lines: pages of probes, the gate and the report print them alike."""

from collections.abc import Iterable, Iterator, Sequence

from harness.base.clock import HOUR, MINUTE
from harness.base.words import visible
from harness.model.finding import Finding

MAX_FINDINGS = 50
"""Of one list; more are only counted."""


def moment_text(seconds: float) -> str:
    """Return a moment since the start: `0:03:12`."""
    whole = int(seconds)
    return f"{whole // HOUR}:{whole % HOUR // MINUTE:02}:{whole % MINUTE:02}"


def finding_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each finding, faults first: `fault: 0:03:12 node1: the link was interrupted`."""
    kinds = {True: "fault", False: "note"}
    ordered = sorted(findings, key=lambda finding: not finding.is_fault)
    return _some(f"{kinds[finding.is_fault]}: {_text(finding)}" for finding in ordered)


def fault_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a line for each fault: `- 0:03:12 node1: the link was interrupted`."""
    return _some(f"- {_text(finding)}" for finding in findings if finding.is_fault)


def _text(finding: Finding) -> str:
    return f"{'' if finding.at_s is None else f'{moment_text(finding.at_s)} '}{finding}"


def _some(lines: Iterable[str]) -> Iterator[str]:
    """Yield each line once; of very many, only the first, and how many more there are."""
    found = list(dict.fromkeys(lines))  # two probes may fail for one reason
    yield from map(visible, found[:MAX_FINDINGS])
    if len(found) > MAX_FINDINGS:
        yield f"and {len(found) - MAX_FINDINGS:,} more"
