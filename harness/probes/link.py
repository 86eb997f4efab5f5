"""The link probe: the network link of each host, as the host reports it."""

from collections.abc import Iterator, Sequence

from harness.analysis.observed.machines import values_by_name
from harness.base.words import count_of, label
from harness.hosts.links import LINK_PROGRAMS
from harness.model.finding import Finding, about, note
from harness.model.interface import (
    NO_AGGREGATOR,
    OPEN_VSWITCH,
    TEAM,
    Bond,
    BondMember,
    HostLink,
    SlowPort,
    counter_growth,
)
from harness.model.link import rate_text
from harness.model.probe import AFTER, BEFORE, RecordedProbes
from harness.present.blocks import Block, Lines, Table
from harness.present.probes.columns import UNKNOWN
from harness.probes.kind import ProbeKind
from harness.probes.plan import ProbePlan

_NAME_WIDTH = 24
_SHORT_NAMES = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
}
_COLUMNS = {
    "host": "<",
    "device": "<",
    "rate": ">",
    "duplex": "<",
    "MTU": ">",
    "driver": "<",
    "queue": "<",
    "offloads": "<",
    "errors": ">",
    "drops": ">",
}
"""Headings, and the sides of their columns."""


def link_sections(probed: RecordedProbes) -> Iterator[Block]:
    """Yield a line for each host, then the members of its bond, then kernel settings.

    Only errors and drops count that occurred while the other probes ran.
    """
    before = probed.links(BEFORE)
    after = probed.links(AFTER)
    rows = []
    bonds = []
    unknown_rates = []
    for host, link in before.items():
        rows.append(_row(link, after.get(host)))
        name = f"{host} {link.device}"
        if link.bond is not None:
            bonds.append(f"{name}: {_bond_text(link.bond)}")
        if link.rate_bit_s is None:
            unknown_rates.append(f"{name}: rate unknown: {link.why_unknown} (see gate --expect)")
    yield Table(list(_COLUMNS), rows, "".join(_COLUMNS.values()))
    yield Lines(bonds)
    yield Lines(unknown_rates)
    settings = values_by_name({host: link.sysctls for host, link in before.items()})
    yield Lines([f"{name}: {value}" for name, value in settings.items()])


def link_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield the faults of links by themselves, whatever rate is expected of them."""
    before = probed.links(BEFORE)
    after = probed.links(AFTER)
    for host, link in probed.links().items():
        subject = about(host, part=link.device)
        for seen in _faults(link):
            yield Finding(subject, seen)
        if link.limit_unread and not link.has_unknown_limit:
            text = f"whether tc limits it is unknown: {link.limit_unread}"
            yield note(text, subject=subject)
        errors = _growth(before.get(host), after.get(host), "errors")
        if errors:
            yield Finding(subject, f"{count_of(errors, 'packet error')} during the probes")


def _faults(link: HostLink) -> Iterator[str]:
    if link.state not in {"up", None}:
        yield f"the link is {link.state}"
    if link.duplex == "half":
        yield "half duplex"
    for port in link.slow_ports:
        yield _slow_port_text(link, port)
    if link.bond is not None:
        yield from bond_faults(link.bond)


def _growth(link: HostLink | None, later: HostLink | None, counter: str) -> int | None:
    if link is None or later is None:
        return None
    return counter_growth(link, later, counter)


def _slow_port_text(link: HostLink, port: SlowPort) -> str:
    card = "its card" if port.device == link.device else f"the card {port.device}"
    rate = rate_text(port.mbit_s * 10**6)
    return f"{card} is in {port.name}, which carries {rate}, less than the card: use a faster port"


def _row(link: HostLink, later: HostLink | None) -> list[str]:
    driver = link.driver or UNKNOWN
    if link.bus:
        driver += f" ({link.bus})"
    return [
        label(link.host, _NAME_WIDTH),
        link.device,
        rate_text(link.rate_bit_s) if link.rate_bit_s is not None else UNKNOWN,
        link.duplex or UNKNOWN,
        str(link.mtu_bytes or UNKNOWN),
        driver,
        link.queue or UNKNOWN,
        _offloads(link),
        _increase(link, later, "errors"),
        _increase(link, later, "drops"),
    ]


def _increase(link: HostLink, later: HostLink | None, counter: str) -> str:
    increase = _growth(link, later, counter)
    if increase is None:
        return UNKNOWN
    return str(increase)


def _offloads(link: HostLink) -> str:
    if link.offloads is None:
        return UNKNOWN
    on = [short for name, short in _SHORT_NAMES.items() if link.offloads.get(name)]
    return " ".join(on) or "none"


def _bond_text(bond: Bond) -> str:
    members = ", ".join(member.device for member in bond.members) or "no members"
    text = f"{bond.mode}: {members}"
    if bond.is_lacp and bond.aggregator is None:
        text += "; its active aggregator is unknown: only root can read it"
    return text


_LACP_HINT = " (is LACP enabled on the switch ports?)"


def bond_faults(bond: Bond) -> Iterator[str]:
    """Yield a line for each reason why the bond's members do not act as one link.

    The ports of Open vSwitch may have nothing to do with each other, so they have no faults.
    """
    if bond.mode == OPEN_VSWITCH:
        return
    up = [member for member in bond.members if member.status == "up"]
    speeds = {member.device: member.speed_mbit_s for member in up if member.speed_mbit_s}
    for member in bond.members:
        if member.status != "up":
            yield f"member {member.device} is {member.status or 'in an unknown state'}"
        elif member.duplex == "half":
            yield f"member {member.device} is half duplex"
    # In a mode in which one member carries all, the others may be slower. A team may have such a mode.
    is_alone = bond.is_active_backup or bond.mode == TEAM
    if len(set(speeds.values())) > 1 and not is_alone:
        each = ", ".join(f"{name} {rate_text(speed * 10**6)}" for name, speed in speeds.items())
        yield f"its members have several speeds: {each}"
    if len(bond.members) <= 1:
        members = f"one member, {up[0].device}" if up else "no members that are up"
        yield f"the bond has {members}"
    if bond.active_member == "None":
        yield "no member is active"
    if bond.status == "down" and up:
        yield "the bond is down, though members are up (are they fewer than its min_links?)"
    if bond.is_lacp:
        yield from _lacp_faults(bond, up)


def _lacp_faults(bond: Bond, up: Sequence[BondMember]) -> Iterator[str]:
    # Only root can read which aggregator carries the traffic; every user can read the members'.
    joined = {member.aggregator for member in up} - {None}
    if bond.aggregator == NO_AGGREGATOR or joined == {NO_AGGREGATOR}:
        yield f"no aggregator is active{_LACP_HINT}"
        return
    has_no_partner = bond.partner is not None and not bond.partner.strip("0:")
    if has_no_partner:
        yield f"no partner answers its LACP packets{_LACP_HINT}"
    each = ", ".join(f"{member.device} in {member.aggregator or 'none'}" for member in up)
    if bond.aggregator is None and len(joined) > 1:
        yield f"its members are in several aggregators: {each}{_LACP_HINT}"
        return
    for member in up:
        name = f"member {member.device}"
        number = member.aggregator
        if bond.aggregator and number not in {None, bond.aggregator}:
            other = f"traffic uses aggregator {bond.aggregator}{_LACP_HINT}"
            yield f"{name} is in aggregator {number or 'none'}, but {other}"
        elif member.churned and not has_no_partner:
            ends = " and ".join(member.churned)
            yield f"{name}: LACP does not get its {ends} in step (churned){_LACP_HINT}"


KIND = ProbeKind(
    "link",
    "Show what every host reports about its link.",
    lambda site: ProbePlan(site.hosts(), LINK_PROGRAMS, lambda _hosts, _links: [], min_hosts=1),
    measures=("link",),
    sections=link_sections,
    judge=link_findings,
    is_of_every_probe=True,
)
