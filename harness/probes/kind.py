"""A kind of probe: one value that says how it is called, what it measures, shows and finds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.analysis.network.failures import failed_measurements
from harness.model.finding import Finding
from harness.model.probe import RecordedProbes
from harness.present.findings import finding_lines
from harness.present.grid import fill
from harness.present.probes import page
from harness.present.probes.columns import ProbeTable
from harness.probes.plan import ProbePlan

Option = Callable[[Any], Any]
"""A decorator that gives a command an option of click."""
Sections = Callable[[RecordedProbes], Iterable[str]]
"""Returns the parts of a page that stand above the findings."""


@dataclass(frozen=True)
class ProbeKind:
    """A kind of probe. Its command, page, exit code, place in the report and part of the gate follow from it.

    - `help`: of its command; the first line is the summary.
    - `plan`: is called with the Site and the values of the `options`; may raise BadInput.
    - `measures`: the `probe` of its metrics. Empty if it only runs other kinds.
    - `sections`, `tables`: what its page shows above the findings.
    - `judge`: what its measurements show, besides failures.
    - `judge_change`: what they show beside earlier probes of the same configuration, the latest first.
    - `is_of_every_probe`: every record has it, such as links, and the newest of each host counts.
    """

    name: str
    help: str
    plan: Callable[..., ProbePlan]
    options: Sequence[Option] = ()
    measures: Sequence[str] = ()
    tables: Sequence[ProbeTable] = ()
    sections: Sections = lambda _: ()
    judge: Callable[[RecordedProbes], Iterable[Finding]] = lambda _: ()
    judge_change: Callable[[Sequence[RecordedProbes], RecordedProbes], Iterable[Finding]] = (
        lambda *_: ()
    )
    is_of_every_probe: bool = False

    def is_in(self, probed: RecordedProbes) -> bool:
        """Whether a record has measurements of this kind, or was to have some."""
        if self.is_of_every_probe:
            return bool(probed.links())
        return probed.probe in self.measures or any(
            measurement.probe in self.measures for measurement in probed.measurements
        )

    def findings(self, probed: RecordedProbes) -> list[Finding]:
        """Return what the measurements of this kind show, failures included."""
        if not self.is_in(probed):
            return []
        own = (each for each in probed.measurements if each.probe in self.measures)
        return [*failed_measurements(own), *self.judge(probed)]

    def shown(self, probed: RecordedProbes) -> list[str]:
        """Return the parts of the page above the findings; a part may be empty."""
        return [*self.sections(probed), *(table.text(probed) for table in self.tables)]

    def page(self, probed: RecordedProbes, findings: Sequence[Finding]) -> str:
        """Return what the probe measured, then the findings, then how to read the tables."""
        shown = self.shown(probed)
        rules = [fill(table.rule) for table in self.tables if table.rule and table.text(probed)]
        nothing = "" if any(shown) or findings else "nothing was measured"
        return page((*shown, nothing, "\n".join(finding_lines(findings)), *rules))
