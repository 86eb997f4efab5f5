"""Each host's link, as the host itself knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tabulate import tabulate

from harness.analysis.acceptance import bond_faults
from harness.model.interface import HostLink, counter_growth
from harness.model.link import rate_text
from harness.model.probe import AFTER, BEFORE, RecordedProbes
from harness.terminal import shorten, visible

NAME_WIDTH = 24
UNKNOWN = "?"
_SHORT = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
}


def render(probed: RecordedProbes) -> str:
    """A line a host, then what is wrong with bonds, and settings, those that all share once.

    Errors and drops are those between before and after.
    """
    before, after = probed.links(BEFORE), probed.links(AFTER)
    rows = [_row(link, after.get(host)) for host, link in before.items()]
    table = tabulate(rows, _HEADERS, colalign=_ALIGN, disable_numparse=True)
    sections = [table, *filter(None, ("\n".join(_bonds(before)), "\n".join(_settings(before))))]
    return "\n\n".join(sections) + "\n"


_HEADERS = (
    "host",
    "device",
    "rate",
    "duplex",
    "MTU",
    "driver",
    "queue",
    "offloads",
    "errors",
    "drops",
)
_ALIGN = ("left", "left", "right", "left", "right", "left", "left", "left", "right", "right")


def _row(link: HostLink, later: HostLink | None) -> list[str]:
    return [
        shorten(visible(link.host), NAME_WIDTH),
        visible(link.device),
        UNKNOWN if link.rate_bit_s is None else rate_text(link.rate_bit_s),
        visible(link.duplex or UNKNOWN),
        str(link.mtu_bytes or UNKNOWN),
        visible(f"{link.driver or UNKNOWN}{f' ({link.bus})' if link.bus else ''}"),
        visible(link.queue or UNKNOWN),
        _offloads(link),
        *(_grown(link, later, way) for way in ("errors", "drops")),
    ]


def _grown(link: HostLink, later: HostLink | None, way: str) -> str:
    grown = None if later is None else counter_growth(link, later, way)
    return UNKNOWN if grown is None else str(grown)


def _offloads(link: HostLink) -> str:
    if link.offloads is None:
        return UNKNOWN
    on = [short for name, short in _SHORT.items() if link.offloads.get(name)]
    return " ".join(on) or "none"


def _bonds(links: Mapping[str, HostLink]) -> Iterator[str]:
    for host, link in links.items():
        if link.bond is None:
            continue
        members = ", ".join(member.device for member in link.bond.members)
        yield visible(f"{host} {link.device}: {link.bond.mode}: {members or 'no members'}")
        yield from (visible(f"{host} {link.device}: {fault}") for fault in bond_faults(link.bond))


def _settings(links: Mapping[str, HostLink]) -> Iterator[str]:
    """Settings of the kernel; those of single hosts only where hosts differ."""
    names = dict.fromkeys(name for link in links.values() for name in link.sysctls)
    for name in names:
        known = {host: link.sysctls[name] for host, link in links.items() if name in link.sysctls}
        if len(set(known.values())) == 1:
            yield visible(f"{name} = {next(iter(known.values()))}")
        else:
            each = ", ".join(f"{host}: {value}" for host, value in known.items())
            yield visible(f"{name} differs: {each}")
