"""The network link of each host, as the host reports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tabulate import tabulate

from harness.analysis.acceptance import bond_faults
from harness.model.interface import HostLink, growth
from harness.model.link import rate_text
from harness.model.probe import AFTER, BEFORE, RecordedProbes
from harness.terminal import shorten, visible

_NAME_WIDTH = 24
_UNKNOWN = "?"
_SHORT_NAMES = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
}
_HEADINGS = (
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


def render(probed: RecordedProbes) -> str:
    """Return a line for each host, then its bond's members and faults, then kernel settings.

    Errors and drops are those that occurred while the other probes ran.
    """
    before, after = probed.links(BEFORE), probed.links(AFTER)
    rows = [_row(link, after.get(host)) for host, link in before.items()]
    table = tabulate(rows, _HEADINGS, colalign=_ALIGN, disable_numparse=True)
    sections = (table, "\n".join(_bonds(before)), "\n".join(_settings(before)))
    return "\n\n".join(filter(None, sections)) + "\n"


def _row(link: HostLink, later: HostLink | None) -> list[str]:
    return [
        shorten(visible(link.host), _NAME_WIDTH),
        visible(link.device),
        _UNKNOWN if link.rate_bit_s is None else rate_text(link.rate_bit_s),
        visible(link.duplex or _UNKNOWN),
        str(link.mtu_bytes or _UNKNOWN),
        visible(f"{link.driver or _UNKNOWN}{f' ({link.bus})' if link.bus else ''}"),
        visible(link.queue or _UNKNOWN),
        _offloads(link),
        *(_increase(link, later, counter) for counter in ("errors", "drops")),
    ]


def _increase(link: HostLink, later: HostLink | None, counter: str) -> str:
    increase = None if later is None else growth(link, later, counter)
    return _UNKNOWN if increase is None else str(increase)


def _offloads(link: HostLink) -> str:
    if link.offloads is None:
        return _UNKNOWN
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
