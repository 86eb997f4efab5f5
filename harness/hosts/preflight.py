"""Preflight: which hosts can be used, because they answer, have the programs, and have a known address."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, ip_address

from harness.base.errors import ToolError
from harness.base.words import join_names
from harness.hosts.remote_process import CompletedCommand, ask, ask_all
from harness.hosts.transports.host import Host, HostError, is_ip_address, next_hosts
from harness.node import iproute2

_MISSING = 'for program; do command -v "$program" >/dev/null || echo "$program"; done'
_PACKAGES = {
    "ping": "iputils-ping",
    "ip": "iproute2",
    "mpirun": "openmpi-bin",
    "orted": "openmpi-bin",
    "hpcc": "hpcc libopenblas0-pthread",
}


@dataclass(frozen=True)
class Preflight:
    """The hosts that can be used, each with its IP address, and why the others cannot, by name."""

    hosts: tuple[Host, ...]
    excluded_hosts: Mapping[str, HostError]


def preflight(hosts: Sequence[Host], programs: Sequence[str]) -> Preflight:
    """Check that every host has the programs, and find the IP addresses that are not given."""
    commands = {host: (host, missing_programs(programs)) for host in hosts}
    checked = {host.name: found for host, found in ask(commands, _equipped).items()}
    equipped = [host for host in checked.values() if isinstance(host, Host)]
    checked |= _with_addresses(equipped)
    usable = []
    excluded = {}
    for name, host in checked.items():
        if isinstance(host, Host):
            usable.append(host)
        else:
            excluded[name] = host
    return Preflight(tuple(usable), excluded)


def missing_programs(programs: Iterable[str]) -> Sequence[str]:
    """Return the command that prints which of the programs a host lacks."""
    return ("sh", "-c", _MISSING, "sh", *programs)


def _equipped(host: Host, completed: CompletedCommand) -> Host:
    missing = completed.output.split()
    files = [program for program in missing if "/" in program]
    if files:
        raise ToolError(f"{', '.join(files)} is not there, or cannot be executed")
    if missing:
        packages = " ".join(dict.fromkeys(_PACKAGES.get(program, program) for program in missing))
        raise ToolError(f"{', '.join(missing)} not installed (Debian: apt-get install {packages})")
    return host


@dataclass(frozen=True)
class _OwnAddresses:
    """All addresses of a host, and those by which others may reach it."""

    every: Sequence[iproute2.IPAddress]
    reachable: Sequence[iproute2.IPAddress]

    def has(self, address: iproute2.IPAddress) -> bool:
        """Whether the host answers at the address. All of 127.0.0.0/8 is the host itself."""
        return address.is_loopback or address in self.every

    def __str__(self) -> str:
        return ", ".join(map(str, self.reachable)) or "none"


def _read_own_addresses(text: str) -> _OwnAddresses:
    reachable = [address.ip for address in iproute2.read_addresses(text)]
    return _OwnAddresses(iproute2.read_all_addresses(text), reachable)


def _with_addresses(hosts: Sequence[Host]) -> dict[str, Host | HostError]:
    """Return the hosts, by name, with their IP addresses or why there is none.

    An address has to be one of the host's own. A name may lead to another machine, and ssh may reach a host
    at the address of a router in front of it.
    """
    unknown = [host for host in hosts if not is_ip_address(host.address)]
    by_name = _look_up(unknown, hosts)
    own = ask_all(hosts, iproute2.ALL_ADDRESSES, _read_own_addresses)
    located: dict[str, Host | HostError] = {}
    for host in hosts:
        if host in by_name:
            located[host.name] = _at_found_address(host, by_name[host], own[host])
        else:
            located[host.name] = _at_given_address(host, own[host])
    twins = _sharing_an_address(located, unknown)
    return {**located, **twins}


def _look_up(
    unknown: Sequence[Host], hosts: Sequence[Host]
) -> dict[Host, Sequence[iproute2.IPAddress]]:
    """Return the addresses that the next of the `hosts` finds under each name, none if it finds none.

    A loopback address that a peer finds leads to the peer itself, and is left out.
    """
    # One host could not look up all names: sshd refuses connections if many begin together.
    following = next_hosts(hosts)
    lookups = {}
    for host in unknown:
        name = host.address or host.name.rpartition("@")[2]
        lookups[host] = (following[host], ("getent", "ahostsv4", name))
    found: dict[Host, Sequence[iproute2.IPAddress]] = {}
    for host, addresses in ask(lookups, _read_lookup).items():
        known = [] if isinstance(addresses, HostError) else addresses
        is_alone = following[host] == host
        found[host] = [each for each in known if is_alone or not each.is_loopback]
    return found


def _read_lookup(_: Host, completed: CompletedCommand) -> list[iproute2.IPAddress]:
    found: dict[iproute2.IPAddress, None] = {}
    for line in completed.output.splitlines():
        for word in line.split()[:1]:
            found[IPv4Address(word)] = None
    return list(found)


def _at_given_address(host: Host, own: _OwnAddresses | HostError) -> Host | HostError:
    """Return the host, unless it says that the address is not its own."""
    if isinstance(own, HostError) or own.has(ip_address(host.address)):
        return host
    return HostError(
        f"{host}: no interface has the address {host.address}. It has {own}: write {host}=ADDRESS"
    )


def _at_found_address(
    host: Host, found: Sequence[iproute2.IPAddress], own: _OwnAddresses | HostError
) -> Host | HostError:
    """Return the host at the address under its name that is its own, or else at its only address."""
    if isinstance(own, HostError):
        return replace(host, address=str(found[0])) if found else own
    for address in found:
        if own.has(address):
            return replace(host, address=str(address))
    where = f"It has {own}: write {host}=ADDRESS"
    leads = f"leads to {found[0]}, which is no address of the host" if found else "is not known"
    if host.address:
        return HostError(f"{host}: {host.address} {leads}. {where}")
    if len(own.reachable) == 1:
        return replace(host, address=str(own.reachable[0]))
    if found:
        return HostError(f"{host}: the name {leads}. {where}")
    return HostError(f"{host}: at which address do other hosts reach it? {where}")


def _sharing_an_address(
    located: Mapping[str, Host | HostError], unknown: Sequence[Host]
) -> dict[str, HostError]:
    """Return why hosts without a given address cannot be used whose address others have, too.

    Virtual machines that each have a router of their own often have the same address.
    """
    names: dict[str, list[str]] = {}
    for name, host in located.items():
        if isinstance(host, Host):
            names.setdefault(host.address, []).append(name)
    shared = {}
    for host in unknown:
        found = located[host.name]
        others = [] if isinstance(found, HostError) else names[found.address]
        if isinstance(found, Host) and len(others) > 1:
            shared[host.name] = HostError(
                f"{host}: {join_names(others)} have the same address {found.address}: "
                f"write {host}=ADDRESS"
            )
    return shared
