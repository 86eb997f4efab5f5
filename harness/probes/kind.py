"""A kind of probe, all kinds, and what recorded probes show: pages, gate, report and `ready` ask here."""

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

import harness.probes
from harness.analysis.network.obstacles import failed_measurements, record_findings
from harness.analysis.ready.gate import Network
from harness.model.finding import Finding
from harness.model.interface import HostLink
from harness.model.probe import LinkSnapshot, Measurement, RecordedProbes
from harness.present.blocks import Block, Lines, Paragraph
from harness.present.findings import finding_lines
from harness.present.probes.columns import MeasurementTable
from harness.probes.plan import ProbePlan

Option = Callable[[Any], Any]
"""A decorator that gives a command an option of click."""


@dataclass(frozen=True)
class ProbeKind:
    """A kind of probe. Its command, page, exit code, place in the report and part of the gate follow from it.

    - `help`: of its command; the first line is the summary.
    - `plan`: is called with the Site and the values of the `options`; may raise BadInput.
    - `measures`: the `probe` of its metrics. Empty if it only runs other kinds.
    - `sections`, `tables`: its page above the findings.
    - `judge`: the findings of its measurements, besides failures.
    - `judge_change`: the findings beside earlier probes of the same configuration, the latest first.
    - `is_of_every_probe`: every record has it, such as links, and the newest of each host counts.
    """

    name: str
    help: str
    plan: Callable[..., ProbePlan]
    options: Sequence[Option] = ()
    measures: Sequence[str] = ()
    tables: Sequence[MeasurementTable] = ()
    sections: Callable[[RecordedProbes], Iterable[Block]] = lambda _: ()
    judge: Callable[[RecordedProbes], Iterable[Finding]] = lambda _: ()
    judge_change: Callable[[Sequence[RecordedProbes], RecordedProbes], Iterable[Finding]] = (
        lambda *_: ()
    )
    is_of_every_probe: bool = False

    def measured(self, probed: RecordedProbes) -> list[Measurement]:
        """Return the measurements of this kind in a record."""
        return [each for each in probed.measurements if each.probe in self.measures]

    def is_in(self, probed: RecordedProbes) -> bool:
        """Whether a record has measurements of this kind, or was to have some."""
        if self.is_of_every_probe:
            return bool(probed.links())
        return probed.probe in self.measures or bool(self.measured(probed))

    def findings(
        self, probed: RecordedProbes, earlier: Sequence[RecordedProbes] = ()
    ) -> list[Finding]:
        """Return the findings of a record that has this kind (`is_in`), failed measurements included.

        `earlier` are the earlier probes of the same configuration, the latest first.
        """
        found = failed_measurements(self.measured(probed))
        found += self.judge(probed)
        found += self.judge_change(earlier, probed)
        return found

    def shown(self, probed: RecordedProbes) -> list[Block]:
        """Return the page above the findings; empty if nothing was measured."""
        blocks = list(self.sections(probed))
        for table in self.tables:
            blocks += table.blocks(probed)
        return blocks

    def page(self, probed: RecordedProbes, findings: Sequence[Finding]) -> Iterator[Block]:
        """Yield the measurements of the probe, then the findings, then how to read the tables."""
        shown = self.shown(probed)
        yield from shown
        if not shown and not findings:
            yield Lines(["nothing was measured"])
        yield Lines(finding_lines(findings))
        for table in self.tables:
            if table.rule and table.rows(probed):
                yield Paragraph(table.rule)


@cache
def kinds() -> Mapping[str, ProbeKind]:
    """Return every KIND of a module in this directory, by name."""
    found = {}
    for module in pkgutil.iter_modules(harness.probes.__path__):
        loaded = import_module(f"{harness.probes.__name__}.{module.name}")
        kind = getattr(loaded, "KIND", None)
        if isinstance(kind, ProbeKind):
            found[kind.name] = kind
    return dict(sorted(found.items()))


def findings(probed: RecordedProbes, earlier: Sequence[RecordedProbes] = ()) -> list[Finding]:
    """Return all findings of one recorded probe, whichever kinds of measurement it has."""
    found = list(record_findings(probed))
    for kind in kinds().values():
        if kind.is_in(probed):
            found += kind.findings(probed, earlier)
    return found


@dataclass(frozen=True)
class NewestProbe:
    """A recorded probe that is the newest of some kinds of measurement, and the findings of these."""

    probed: RecordedProbes
    kinds: tuple[str, ...]
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        """Return `probe all of 2026-11-23T17:50:20Z (latency, mesh, mtu)`."""
        name = f"probe {self.probed.probe}".strip()
        return f"{name} of {self.probed.run.started_at} ({', '.join(self.kinds)})"


def newest_probes(probes: Iterable[RecordedProbes]) -> list[NewestProbe]:
    """Return the newest probe of each kind of measurement, the latest first, with its findings.

    Kinds of measurements that every probe has, such as links, are judged by the newest one of each host.
    """
    newest = []
    seen_kinds: set[str] = set()
    seen_hosts: set[str] = set()
    ordered = sorted(probes, key=lambda probed: probed.run.started_at, reverse=True)
    for number, probed in enumerate(ordered, 1):
        names = []
        found = list(record_findings(probed))
        for name, kind in kinds().items():
            judged = probed
            if kind.is_of_every_probe:
                judged = _without_links_of(probed, seen_hosts)
            elif name in seen_kinds:
                continue
            if kind.is_in(judged):
                names.append(name)
                found += kind.findings(judged, ordered[number:])
        if seen_kinds.issuperset(names):
            continue
        newest.append(NewestProbe(probed, tuple(names), tuple(found)))
        seen_kinds.update(names)
        seen_hosts.update(probed.links())
    return newest


def by_kind(newest: Sequence[NewestProbe]) -> dict[str, RecordedProbes]:
    """Return the newest probe of each kind."""
    found = {}
    for each in reversed(newest):
        found.update(dict.fromkeys(each.kinds, each.probed))
    return found


def network_of(newest: Sequence[NewestProbe]) -> Network:
    """Return the network that the newest probes show, for the gate's own rules."""
    links: dict[str, HostLink] = {}
    for each in reversed(newest):
        links.update(each.probed.links())
    measurements = []
    runs = {}
    for name, probed in by_kind(newest).items():
        measurements += kinds()[name].measured(probed)
        runs[name] = probed.run
    return Network(links, measurements, all_findings(newest), runs)


def all_findings(newest: Iterable[NewestProbe]) -> list[Finding]:
    """Return the findings of all these probes."""
    found: list[Finding] = []
    for each in newest:
        found += each.findings
    return found


def _without_links_of(probed: RecordedProbes, hosts: set[str]) -> RecordedProbes:
    events = tuple(
        event
        for event in probed.events
        if not isinstance(event, LinkSnapshot) or event.link.host not in hosts
    )
    return replace(probed, events=events)
