"""All kinds of probes, and what recorded probes show: the one answer for pages, gate, report and `ready`."""

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module

import harness.probes
from harness.analysis.network.failures import record_findings
from harness.analysis.network.gate import Network
from harness.model.finding import Finding
from harness.model.interface import HostLink
from harness.model.network_metrics import MESH, MTU
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
    latest_first = sorted(probes, key=lambda probed: probed.run.started_at, reverse=True)
    newest: dict[str, tuple[RecordedProbes, list[ProbeKind]]] = {}
    for kind in kinds().values():
        found = next((probed for probed in latest_first if kind.is_in(probed)), None)
        if found is not None and kind.measures:
            newest.setdefault(found.run.id, (found, []))[1].append(kind)
    of_all = [kind for kind in kinds().values() if kind.is_of_every_probe]
    judged: list[NewestProbe] = []
    seen: set[str] = set()
    for probed, own in sorted(
        newest.values(), key=lambda found: found[0].run.started_at, reverse=True
    ):
        newer = _without_links_of(probed, seen)
        names = {*(kind.name for kind in own), *(k.name for k in of_all if k.is_in(newer))}
        shown = [
            finding
            for kind in kinds().values()
            if kind.name in names
            for finding in kind.findings(newer if kind.is_of_every_probe else probed)
        ]
        shown = [*record_findings(probed), *shown]
        judged.append(NewestProbe(probed, tuple(sorted(names)), tuple(shown)))
        seen |= probed.links().keys()
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
    of_kind = by_kind(newest)
    return Network(links, of_kind.get(MTU), of_kind.get(MESH), shown)


def _without_links_of(probed: RecordedProbes, hosts: set[str]) -> RecordedProbes:
    events = tuple(
        event
        for event in probed.events
        if not (isinstance(event, LinkSnapshot) and event.link.host in hosts)
    )
    return replace(probed, events=events)
