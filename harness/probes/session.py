"""One call of a probe: who can be used, their links before, the steps, their links after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BadInput
from harness.loopback.say import say
from harness.model import Ending
from harness.probes.link import HostLink, read_links
from harness.probes.reach import Host, HostTrouble
from harness.probes.record import AFTER, BEFORE, LinkSeen, Notebook, Probed, ProbeRun, Trouble
from harness.probes.step import Step, repeated, taken
from harness.probes.survey import survey

Plan = Callable[[Sequence[Host], Mapping[str, HostLink]], list[Step]]
"""From the hosts that can be used, and their links, to what is to be measured."""


@dataclass(frozen=True)
class Order:
    """What is to be probed, with which programs on every host, and how often."""

    hosts: Sequence[Host]
    programs: Sequence[str]
    plan: Plan
    least_hosts: int = 2
    repeats: int = 1


def probe(order: Order, run: ProbeRun, results: Path | None) -> Probed:
    """Probe, and return what was found; recorded below `results` if that is given.

    Hosts that cannot be used are left out, with a line on the error stream. Ctrl-C and SIGTERM end it
    with what there is. Raises BadInput if too few hosts are left, or nothing can be recorded.
    """
    found = survey(order.hosts, order.programs)
    for trouble in found.troubles.values():
        say(f"left out: {trouble}")
    if len(found.hosts) < order.least_hosts:
        raise BadInput(
            f"{len(found.hosts)} of the {len(order.hosts)} hosts can be used, and this takes "
            f"{order.least_hosts} or more"
        )
    with Notebook(run, results) as notebook:
        for host, trouble in found.troubles.items():
            notebook.note(Trouble(host, str(trouble)))
        try:
            _take(order, found.hosts, notebook)
        except KeyboardInterrupt:
            notebook.end(Ending.INTERRUPTED)
        else:
            notebook.end(Ending.COMPLETED)
        return notebook.probed


def _take(order: Order, hosts: Sequence[Host], notebook: Notebook) -> None:
    links = _look(hosts, BEFORE, notebook)
    for measurement in taken(repeated(order.plan(hosts, links), order.repeats)):
        if measurement.error is not None:
            say(f"failed: {measurement.error}")
        notebook.note(measurement)
    _look(hosts, AFTER, notebook)


def _look(hosts: Sequence[Host], moment: str, notebook: Notebook) -> dict[str, HostLink]:
    links = {}
    for host, link in zip(hosts, read_links(hosts), strict=True):
        if isinstance(link, HostTrouble):
            say(f"link unknown: {link}")
            notebook.note(Trouble(host.name, str(link)))
        else:
            links[host.name] = link
            notebook.note(LinkSeen(moment, link))
    return links
