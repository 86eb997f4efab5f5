"""Findings as lines: pages of probes, the gate, `doctor`, `compare` and the report print them alike."""

from collections.abc import Iterable, Iterator

from harness.base.clock import HOUR, MINUTE
from harness.base.words import visible
from harness.model.finding import Finding, Gravity
from harness.model.probe import PROBED_IN, RecordedProbes
from harness.model.run import EMULATED

MAX_FINDINGS = 50
"""More findings of one list are only counted."""


def moment_text(seconds: float) -> str:
    """Return a moment since the start: `0:03:12`."""
    whole = int(seconds)
    return f"{whole // HOUR}:{whole % HOUR // MINUTE:02}:{whole % MINUTE:02}"


def finding_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a line for each finding, the gravest first: `fault: 0:03:12 node1: the link was interrupted`.

    Equal lines are one: two probes may fail for one reason.
    """
    order = list(Gravity)
    lines: dict[str, None] = {}
    for finding in sorted(findings, key=lambda finding: order.index(finding.gravity)):
        moment = "" if finding.at_s is None else f"{moment_text(finding.at_s)} "
        lines[visible(f"{finding.gravity.value}: {moment}{finding}")] = None
    shown = list(lines)
    yield from shown[:MAX_FINDINGS]
    if len(shown) > MAX_FINDINGS:
        yield f"and {len(shown) - MAX_FINDINGS:,} more"


def remarks(probed: RecordedProbes) -> Iterator[str]:
    """Yield lines for every page about a probe: emulation, and oddities of its record."""
    facts = probed.run.facts
    if facts.get(EMULATED):
        yield f"emulated: {facts[EMULATED]}"
    if PROBED_IN in facts:
        yield f"measured in {facts[PROBED_IN]}, whose links are the same"
    yield from probed.warnings
