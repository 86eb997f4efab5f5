"""Preflight: which hosts can be used, because they answer, have the programs, and have a known address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Address

from harness.hosts.remote_process import CompletedCommand, ask, parse_completed, run_all
from harness.hosts.transports.host import Host, HostError, is_ip_address, next_hosts
from harness.model.errors import ToolError
from harness.node import kernel

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
    commands = {host: (host, ("sh", "-c", _MISSING, "sh", *programs)) for host in hosts}
    checked = {host.name: found for host, found in ask(commands, _equipped).items()}
    equipped = [host for host in checked.values() if isinstance(host, Host)]
    checked |= _with_addresses(
        [host for host in equipped if not is_ip_address(host.address)], equipped
    )
    return Preflight(
        tuple(host for host in checked.values() if isinstance(host, Host)),
        {name: error for name, error in checked.items() if isinstance(error, HostError)},
    )


def _equipped(host: Host, completed: CompletedCommand) -> Host:
    missing = completed.output.split()
    if files := [program for program in missing if "/" in program]:
        raise ToolError(f"{', '.join(files)} is not there, or cannot be executed")
    if missing:
        packages = " ".join(dict.fromkeys(_PACKAGES.get(program, program) for program in missing))
        raise ToolError(f"{', '.join(missing)} not installed (Debian: apt-get install {packages})")
    return host


def _with_addresses(unknown: Sequence[Host], hosts: Sequence[Host]) -> dict[str, Host | HostError]:
    """Return the `unknown` hosts, by name, with their IP addresses or why there is none.

    The address is the one that the next of the `hosts` finds under the name, or else the host's only one.
    """
    # One host could not look up all names: sshd refuses connections if many begin together.
    following = next_hosts(hosts)
    peers = [following[host] for host in unknown]
    names = [host.address or host.name.rpartition("@")[2] for host in unknown]
    lookups = [
        (peer, ("getent", "ahostsv4", name)) for peer, name in zip(peers, names, strict=True)
    ]
    completed = run_all([*lookups, *((host, kernel.OWN_ADDRESSES) for host in unknown)])
    by_name, own = completed[: len(unknown)], completed[len(unknown) :]
    located: dict[str, Host | HostError] = {}
    for host, peer, lookup, addresses in zip(unknown, peers, by_name, own, strict=True):
        found = parse_completed(peer, lookup, lambda done: IPv4Address(done.output.split()[0]))
        # A loopback address that the peer finds leads to the peer itself.
        if isinstance(found, HostError) or (peer != host and found.is_loopback):
            located[host.name] = parse_completed(host, addresses, partial(_at_only_address, host))
        else:
            located[host.name] = replace(host, address=str(found))
    return located


def _at_only_address(host: Host, completed: CompletedCommand) -> Host:
    addresses = kernel.read_addresses(completed.output)
    if len(addresses) != 1:
        found = ", ".join(str(address.ip) for address in addresses) or "none"
        raise ToolError(
            f"at which address do other hosts reach it? It has {found}: write {host}=ADDRESS"
        )
    return replace(host, address=str(addresses[0].ip))
