"""Which of the hosts can be used: those that answer, have the programs, and have an address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address

from harness.probes.leash import Ended, ask_all, understood
from harness.probes.reach import Host, HostTrouble
from harness.probes.tools import iproute

_LACKING = 'for program; do command -v "$program" >/dev/null || echo "$program"; done'
_PACKAGES = {"ping": "iputils-ping", "ip": "iproute2"}


@dataclass(frozen=True)
class Survey:
    """The hosts that can be used, each with its address; and what is wrong with the others, by name."""

    hosts: tuple[Host, ...]
    troubles: Mapping[str, HostTrouble]


def survey(hosts: Sequence[Host], programs: Sequence[str]) -> Survey:
    """Ask every host for the programs, and for its address where none was given."""
    answers = ask_all([(host, ("sh", "-c", _LACKING, "sh", *programs)) for host in hosts])
    found: dict[str, Host | HostTrouble] = {
        host.name: _equipped(host, answer) for host, answer in zip(hosts, answers, strict=True)
    }
    equipped = [host for host in found.values() if isinstance(host, Host)]
    found |= _placed([host for host in equipped if not is_ip(host.address)], equipped)
    return Survey(
        tuple(host for host in found.values() if isinstance(host, Host)),
        {name: one for name, one in found.items() if isinstance(one, HostTrouble)},
    )


def _equipped(host: Host, answer: Ended | HostTrouble) -> Host | HostTrouble:
    if isinstance(answer, HostTrouble):
        return answer
    lacking = answer.output.split()
    if not lacking:
        return host
    packages = " ".join(_PACKAGES.get(program, program) for program in lacking)
    return HostTrouble(
        f"{host}: no {', '.join(lacking)} there; install it (Debian: apt-get install {packages})"
    )


def _placed(lost: Sequence[Host], hosts: Sequence[Host]) -> dict[str, Host | HostTrouble]:
    """Hosts by name, with the address that another finds under the name, or else with their only one."""
    peers = [next((other for other in hosts if other.name != host.name), host) for host in lost]
    names = [host.address or host.name.rpartition("@")[2] for host in lost]
    asked = [(peer, ("getent", "ahostsv4", name)) for peer, name in zip(peers, names, strict=True)]
    answers = ask_all([*asked, *((host, iproute.own_addresses()) for host in lost)])
    by_name, own = answers[: len(lost)], answers[len(lost) :]
    return {
        host.name: _at_name(host, peer, named) or _at_its_own(host, known)
        for host, peer, named, known in zip(lost, peers, by_name, own, strict=True)
    }


def _at_name(host: Host, peer: Host, answer: Ended | HostTrouble) -> Host | None:
    if isinstance(answer, HostTrouble) or answer.code or not answer.output:
        return None
    address = answer.output.split()[0]
    # A peer's loopback is the peer itself.
    is_itself = peer != host and ip_address(address).is_loopback
    return None if is_itself else replace(host, address=address)


def _at_its_own(host: Host, answer: Ended | HostTrouble) -> Host | HostTrouble:
    addresses = understood(host, answer, lambda one: iproute.read_addresses(one.output))
    if isinstance(addresses, HostTrouble):
        return addresses
    if len(addresses) == 1:
        return replace(host, address=addresses[0])
    found = ", ".join(addresses) or "none"
    return HostTrouble(
        f"{host}: which address do others find it at? It has {found}: write {host}=ADDRESS"
    )


def is_ip(address: str) -> bool:
    """Whether it is an address as it stands, and no name of one."""
    try:
        ip_address(address)
    except ValueError:
        return False
    return True
