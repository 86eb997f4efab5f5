"""Which of the hosts can be used: those that answer, have the programs, and have an address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address

from harness.node import iproute
from harness.probes.remote_process import CompletedCommand, parse_answer, run_all
from harness.probes.transports.host import Host, HostError

_LACKING = 'for program; do command -v "$program" >/dev/null || echo "$program"; done'
_PACKAGES = {"ping": "iputils-ping", "ip": "iproute2"}


@dataclass(frozen=True)
class Preflight:
    """The hosts that can be used, each with its address; and what is wrong with the others, by name."""

    hosts: tuple[Host, ...]
    excluded_hosts: Mapping[str, HostError]


def preflight(hosts: Sequence[Host], programs: Sequence[str]) -> Preflight:
    """Ask every host for the programs, and for its address where none was given."""
    answers = run_all([(host, ("sh", "-c", _LACKING, "sh", *programs)) for host in hosts])
    found: dict[str, Host | HostError] = {
        host.name: _equipped(host, answer) for host, answer in zip(hosts, answers, strict=True)
    }
    equipped = [host for host in found.values() if isinstance(host, Host)]
    found |= _placed([host for host in equipped if not is_ip(host.address)], equipped)
    return Preflight(
        tuple(host for host in found.values() if isinstance(host, Host)),
        {name: one for name, one in found.items() if isinstance(one, HostError)},
    )


def _equipped(host: Host, answer: CompletedCommand | HostError) -> Host | HostError:
    if isinstance(answer, HostError):
        return answer
    missing = answer.output.split()
    if not missing:
        return host
    packages = " ".join(_PACKAGES.get(program, program) for program in missing)
    return HostError(
        f"{host}: no {', '.join(missing)} there; install it (Debian: apt-get install {packages})"
    )


def _placed(lost: Sequence[Host], hosts: Sequence[Host]) -> dict[str, Host | HostError]:
    """Hosts by name, with the address that another finds under the name, or else with their only one."""
    peers = [next((other for other in hosts if other.name != host.name), host) for host in lost]
    names = [host.address or host.name.rpartition("@")[2] for host in lost]
    asked = [(peer, ("getent", "ahostsv4", name)) for peer, name in zip(peers, names, strict=True)]
    answers = run_all([*asked, *((host, iproute.own_addresses()) for host in lost)])
    by_name, own = answers[: len(lost)], answers[len(lost) :]
    return {
        host.name: _at_name(host, peer, named) or _at_its_own(host, known)
        for host, peer, named, known in zip(lost, peers, by_name, own, strict=True)
    }


def _at_name(host: Host, peer: Host, answer: CompletedCommand | HostError) -> Host | None:
    if isinstance(answer, HostError) or answer.code or not answer.output:
        return None
    address = answer.output.split()[0]
    # A peer's loopback is the peer itself.
    is_itself = peer != host and ip_address(address).is_loopback
    return None if is_itself else replace(host, address=address)


def _at_its_own(host: Host, answer: CompletedCommand | HostError) -> Host | HostError:
    addresses = parse_answer(host, answer, lambda one: iproute.read_addresses(one.output))
    if isinstance(addresses, HostError):
        return addresses
    if len(addresses) == 1:
        return replace(host, address=addresses[0])
    found = ", ".join(addresses) or "none"
    return HostError(
        f"{host}: which address do others find it at? It has {found}: write {host}=ADDRESS"
    )


def is_ip(address: str) -> bool:
    """Whether it is an address as it stands, and no name of one."""
    try:
        ip_address(address)
    except ValueError:
        return False
    return True
