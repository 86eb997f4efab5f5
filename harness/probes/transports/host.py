"""How a host is reached: the words that go before a command to run it there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ClusterShell.NodeSet import NodeSet, NodeSetException

from harness.model.errors import BadInput, ClusterliftError

SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-T", "--")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@:%-]*")


class HostError(ClusterliftError):
    """A host is down, lacks a program, or a program failed there. The message names the host."""


@dataclass(frozen=True)
class Host:
    """A host by the name that people give it.

    `address` is where its peers find it on the network under test. `prefix` are the words before a
    command; with `through_shell` a shell of the other side takes the command apart once more.
    """

    name: str
    address: str
    prefix: tuple[str, ...] = ()
    through_shell: bool = False

    def argv(self, *command: str) -> list[str]:
        """The argument vector that runs a command on the host."""
        if self.through_shell:
            return [*self.prefix, shlex.join(command)]
        return [*self.prefix, *command]

    def __str__(self) -> str:
        return self.name


Transport = Callable[[str, str], Host]
"""Makes a host of its name and address."""


def by_ssh(name: str, address: str = "") -> Host:
    """A host that ssh reaches without a password; `user@host` and what ~/.ssh/config knows will do."""
    return Host(name, address, (*SSH, name), through_shell=True)


def by_docker(name: str, address: str = "", container: str = "") -> Host:
    """A container of this machine's engine."""
    return Host(
        name, address, ("docker", "exec", "--interactive", "--user", "root", container or name)
    )


def by_netns(name: str, address: str = "") -> Host:
    """A network namespace of this machine, as `ip netns` lists them; needs root."""
    return Host(name, address, ("ip", "netns", "exec", name))


def by_local(name: str, address: str = "") -> Host:
    """The machine that we run on."""
    return Host(name, address)


TRANSPORTS: Mapping[str, Transport] = {
    "ssh": by_ssh,
    "docker": by_docker,
    "netns": by_netns,
    "local": by_local,
}


def check_name(option: str, name: str) -> str:
    """The name, or BadInput where a program could take it for something else than a host."""
    if _NAME.fullmatch(name):
        return name
    raise BadInput(
        f"{option}: {name!r} is not a host: letters, digits and . _ - @ : % are, and no '-' in front"
    )


# MERGED from harness.probes.hosts: 'From what a user writes to the hosts it means: `node[1-4]`, `a=10.0.0.1,b=10.0.0.2`.'
MANY = 1024
_RANGE = re.compile(r"(\d+)-(\d+)(?=[^\[]*\])")


def parse_hosts(option: str, text: str, way: Transport) -> list[Host]:
    """Every host once and in order; its address is empty where none is written.

    Raises BadInput that names the option.
    """
    hosts = [host for part in _parts(text) for host in _hosts(option, part, way)]
    return list({host.name: host for host in reversed(hosts)}.values())[::-1]


def expand(option: str, text: str) -> list[str]:
    """`node[1-2],x` as node1, node2 and x, each once. Raises BadInput that names the option."""
    # Before they are expanded: a mistyped range may be of billions.
    if any(int(last) - int(first) > MANY for first, last in _RANGE.findall(text)):
        raise BadInput(f"{option} {text!r} has a range of too many hosts; name 1 to {MANY}")
    try:
        names = NodeSet(text)
    except (NodeSetException, AssertionError) as error:  # some of what it is given it asserts
        raise BadInput(f"{option} {text!r} cannot be read: {error}; write node[1-4]") from error
    if not 0 < len(names) <= MANY:
        raise BadInput(f"{option} {text!r} names {len(names)} hosts; name 1 to {MANY}")
    return [check_name(option, name) for name in names]


def require(option: str, hosts: Sequence[Host], least: int) -> None:
    """Raise BadInput unless there are so many."""
    if len(hosts) < least:
        raise BadInput(f"{option}: {len(hosts)} host is not enough; name {least} or more")


def _parts(text: str) -> list[str]:
    """Split at the commas that are not within brackets."""
    return re.split(r",(?![^\[]*\])", text)


def _hosts(option: str, part: str, way: Transport) -> list[Host]:
    names, equals, addresses = part.partition("=")
    expanded = expand(option, names)
    if not equals:
        return [way(name, "") for name in expanded]
    of_each = expand(option, addresses)
    if len(of_each) != len(expanded):
        raise BadInput(
            f"{option} {part!r} has {len(expanded)} names and {len(of_each)} addresses; "
            "write node[1-4]=10.0.0.[1-4]"
        )
    return [way(name, address) for name, address in zip(expanded, of_each, strict=True)]
