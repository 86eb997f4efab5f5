"""The network link of each host, as the host reports it."""

from collections.abc import Iterator, Mapping

from tabulate import tabulate

from harness.analysis.network.acceptance import bond_faults
from harness.model.interface import HostLink, counter_growth
from harness.model.link import rate_text
from harness.model.probe import AFTER, BEFORE, RecordedProbes
from harness.present.probes import UNKNOWN, page
from harness.terminal import shorten, visible

_NAME_WIDTH = 24
_SHORT_NAMES = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
}
_COLUMNS = {
    "host": "left",
    "device": "left",
    "rate": "right",
    "duplex": "left",
    "MTU": "right",
    "driver": "left",
    "queue": "left",
    "offloads": "left",
    "errors": "right",
    "drops": "right",
}
"""Headings, and how their columns are aligned."""


def render(probed: RecordedProbes) -> str:
    """Return a line for each host, then its bond's members and faults, then kernel settings.

    Errors and drops are those that occurred while the other probes ran.
    """
    before, after = probed.links(BEFORE), probed.links(AFTER)
    rows = [_row(link, after.get(host)) for host, link in before.items()]
    table = tabulate(rows, list(_COLUMNS), colalign=list(_COLUMNS.values()), disable_numparse=True)
    return page((table, "\n".join(_bonds(before)), "\n".join(_settings(before))))


def _row(link: HostLink, later: HostLink | None) -> list[str]:
    return [
        shorten(visible(link.host), _NAME_WIDTH),
        visible(link.device),
        UNKNOWN if link.rate_bit_s is None else rate_text(link.rate_bit_s),
        visible(link.duplex or UNKNOWN),
        str(link.mtu_bytes or UNKNOWN),
        visible(f"{link.driver or UNKNOWN}{f' ({link.bus})' if link.bus else ''}"),
        visible(link.queue or UNKNOWN),
        _offloads(link),
        *(_increase(link, later, counter) for counter in ("errors", "drops")),
    ]


def _increase(link: HostLink, later: HostLink | None, counter: str) -> str:
    increase = None if later is None else counter_growth(link, later, counter)
    return UNKNOWN if increase is None else str(increase)


def _offloads(link: HostLink) -> str:
    if link.offloads is None:
        return UNKNOWN
    on = [short for name, short in _SHORT_NAMES.items() if link.offloads.get(name)]
    return " ".join(on) or "none"


def _bonds(links: Mapping[str, HostLink]) -> Iterator[str]:
    for host, link in links.items():
        if link.bond is None:
            continue
        members = ", ".join(member.device for member in link.bond.members)
        yield visible(f"{host} {link.device}: {link.bond.mode}: {members or 'no members'}")
        yield from (visible(f"{host} {link.device}: {fault}") for fault in bond_faults(link.bond))


def _settings(links: Mapping[str, HostLink]) -> Iterator[str]:
    """Yield each kernel setting once, or with the hosts' values if they differ."""
    names = dict.fromkeys(name for link in links.values() for name in link.sysctls)
    for name in names:
        values = {host: link.sysctls[name] for host, link in links.items() if name in link.sysctls}
        if len(set(values.values())) == 1:
            yield visible(f"{name} = {next(iter(values.values()))}")
        else:
            each = ", ".join(f"{host}: {value}" for host, value in values.items())
            yield visible(f"{name} differs: {each}")
