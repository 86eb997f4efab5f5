"""One call of a probe: who can be used, their links before, the steps, their links after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.model.errors import BadInput
from harness.model.interface import HostLink
from harness.model.probe import AFTER, BEFORE, ExcludedHost, LinkSnapshot, ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.probes.link import read_links
from harness.probes.plan import ProbeStep, repeated, taken
from harness.probes.preflight import preflight
from harness.probes.transports.host import Host, HostError
from harness.records.writer import ProbeRecording
from harness.terminal import say

Plan = Callable[[Sequence[Host], Mapping[str, HostLink]], list[ProbeStep]]
"""From the hosts that can be used, and their links, to what is to be measured."""


@dataclass(frozen=True)
class ProbePlan:
    """What is to be probed, with which programs on every host, and how often."""

    hosts: Sequence[Host]
    programs: Sequence[str]
    plan: Plan
    least_hosts: int = 2
    repeats: int = 1


def probe(order: ProbePlan, run: ProbeRun, results: Path | None) -> RecordedProbes:
    """Probe, and return what was found; recorded below `results` if that is given.

    Hosts that cannot be used are left out, with a line on the error stream. Ctrl-C and SIGTERM end it
    with what there is. Raises BadInput if too few hosts are left, or nothing can be recorded.
    """
    found = preflight(order.hosts, order.programs)
    for trouble in found.excluded_hosts.values():
        say(f"left out: {trouble}")
    if len(found.hosts) < order.least_hosts:
        raise BadInput(
            f"{len(found.hosts)} of the {len(order.hosts)} hosts can be used, and this takes "
            f"{order.least_hosts} or more"
        )
    with ProbeRecording(run, results) as recording:
        for host, trouble in found.excluded_hosts.items():
            recording.event(ExcludedHost(host, str(trouble)))
        try:
            _take(order, found.hosts, recording)
        except KeyboardInterrupt:
            recording.end(Ending.INTERRUPTED)
        else:
            recording.end(Ending.COMPLETED)
        return recording.probed


def _take(order: ProbePlan, hosts: Sequence[Host], recording: ProbeRecording) -> None:
    links = _look(hosts, BEFORE, recording)
    for measurement in taken(repeated(order.plan(hosts, links), order.repeats)):
        if measurement.error is not None:
            say(f"failed: {measurement.error}")
        recording.event(measurement)
    _look(hosts, AFTER, recording)


def _look(hosts: Sequence[Host], moment: str, recording: ProbeRecording) -> dict[str, HostLink]:
    links = {}
    for host, link in zip(hosts, read_links(hosts), strict=True):
        if isinstance(link, HostError):
            say(f"link unknown: {link}")
            recording.event(ExcludedHost(host.name, str(link)))
        else:
            links[host.name] = link
            recording.event(LinkSnapshot(moment, link))
    return links
