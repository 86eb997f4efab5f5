"""All kinds of probes, and what recorded probes show: the one answer for pages, gate, report and `ready`."""

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module

import harness.probes
from harness.analysis.network.failures import record_findings
from harness.analysis.ready.gate import Network
from harness.model.finding import Finding
from harness.model.interface import HostLink
from harness.model.probe import LinkSnapshot, RecordedProbes
from harness.probes.kind import ProbeKind


@cache
def kinds() -> Mapping[str, ProbeKind]:
    """Return every KIND of a module in this directory, by name."""
    modules = pkgutil.iter_modules(harness.probes.__path__)
    loaded = (import_module(f"{harness.probes.__name__}.{each.name}") for each in modules)
    found = [kind for each in loaded if isinstance(kind := getattr(each, "KIND", None), ProbeKind)]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: kind.name)}


def findings(probed: RecordedProbes) -> list[Finding]:
    """Return all that one recorded probe shows, whichever kinds of measurement it has."""
    own = [finding for kind in kinds().values() for finding in kind.findings(probed)]
    return [*record_findings(probed), *own]


@dataclass(frozen=True)
class NewestProbe:
    """A recorded probe that is the newest of some kinds of measurement, and what these show."""

    probed: RecordedProbes
    kinds: tuple[str, ...]
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        """Return `probe all of 2026-11-23T17:50:20Z (latency, mesh, mtu)`."""
        name = f"probe {self.probed.probe}".strip()
        return f"{name} of {self.probed.run.started_at} ({', '.join(self.kinds)})"


def newest_probes(probes: Iterable[RecordedProbes]) -> list[NewestProbe]:
    """Return the newest probe of each kind of measurement, the latest first, with what it shows.

    The kinds that every probe has, such as links, count by host: of each host, the newest is judged.
    """
    judged: list[NewestProbe] = []
    seen_kinds, seen_hosts = set[str](), set[str]()
    ordered = sorted(probes, key=lambda probed: probed.run.started_at, reverse=True)
    for number, probed in enumerate(ordered, 1):
        newer = _without_links_of(probed, seen_hosts)
        own = {
            name: judged_in
            for name, kind in kinds().items()
            for judged_in in [newer if kind.is_of_every_probe else probed]
            if kind.measures and (kind.is_of_every_probe or name not in seen_kinds)
            if kind.is_in(judged_in)
        }
        if own.keys() <= seen_kinds:
            continue
        shown = (each for name in own for each in kinds()[name].findings(own[name]))
        earlier = ordered[number:]
        changed = (each for name in own for each in kinds()[name].judge_change(earlier, probed))
        found = (*record_findings(probed), *shown, *changed)
        judged.append(NewestProbe(probed, tuple(own), found))
        seen_kinds |= own.keys()
        seen_hosts |= probed.links().keys()
    return judged


def by_kind(newest: Sequence[NewestProbe]) -> dict[str, RecordedProbes]:
    """Return the newest probe of each kind."""
    return {kind: each.probed for each in reversed(newest) for kind in each.kinds}


def network_of(newest: Sequence[NewestProbe]) -> Network:
    """Return the network that the newest probes show, for the gate's own rules."""
    links: dict[str, HostLink] = {}
    for each in reversed(newest):
        links |= each.probed.links()
    shown = [finding for each in newest for finding in each.findings]
    measurements = [
        measurement
        for kind, probed in by_kind(newest).items()
        for measurement in probed.measurements
        if measurement.probe == kind
    ]
    return Network(links, measurements, shown)


def _without_links_of(probed: RecordedProbes, hosts: set[str]) -> RecordedProbes:
    events = tuple(
        event
        for event in probed.events
        if not (isinstance(event, LinkSnapshot) and event.link.host in hosts)
    )
    return replace(probed, events=events)
