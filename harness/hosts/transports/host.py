"""Hosts: how a user names them, and the words that go before a command to run it on a host.

Names expand as in `node[1-4]`; an address on the network under test may follow: `a=10.0.0.1,b=10.0.0.2`.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from math import prod

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

from harness.model.errors import BadInput, ClusterliftError
from harness.terminal import MAX_ERROR
from harness.words import shorten

SSH = (
    *("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    # A connection that is cut would be waited for until the longest command had to end.
    *("-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3", "--"),
)
MAX_HOSTS = 1024
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@:%-]*")
_RANGES = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?:/([0-9]{1,9}))?)?")
_COMMA_OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")


class HostError(ClusterliftError):
    """A host is down, lacks a program, or a program failed there. The message names the host.

    What a host printed may be long, so the message is shortened in its middle.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message, MAX_ERROR))


@dataclass(frozen=True)
class Host:
    """A host under the name that the user gave it.

    `address` is where other hosts reach it on the network under test; it is empty until it is known. `prefix`
    are the words before a command that run it there. With `through_shell`, a shell on the other side splits
    the command into words once more.
    """

    name: str
    address: str
    prefix: tuple[str, ...] = ()
    through_shell: bool = False

    def argv(self, *command: str) -> list[str]:
        """Return the argument vector that runs a command on the host."""
        if self.through_shell:
            return [*self.prefix, shlex.join(command)]
        return [*self.prefix, *command]

    def __str__(self) -> str:
        return self.name


Transport = Callable[[str, str], Host]
"""Makes a host from its name and address."""


def by_ssh(name: str, address: str = "") -> Host:
    """Reach a host by ssh without a password. The name may be `user@host` or one from ~/.ssh/config."""
    return Host(name, address, (*SSH, name), through_shell=True)


def by_docker(name: str, address: str = "", container: str = "") -> Host:
    """Reach a container of this machine's Docker engine, by default the container called `name`."""
    return Host(
        name, address, ("docker", "exec", "--interactive", "--user", "root", container or name)
    )


def by_netns(name: str, address: str = "") -> Host:
    """Reach a network namespace of this machine, as `ip netns` lists them; needs root."""
    return Host(name, address, ("ip", "netns", "exec", name))


def by_local(name: str, address: str = "") -> Host:
    """Run commands on this machine."""
    return Host(name, address)


TRANSPORTS: Mapping[str, Transport] = {
    "ssh": by_ssh,
    "docker": by_docker,
    "netns": by_netns,
    "local": by_local,
}


def parse_hosts(option: str, text: str, transport: Transport) -> list[Host]:
    """Return the hosts that `text` names, each once, in order; the address is empty where none is given.

    Raise BadInput with the option's name if the text cannot be read.
    """
    _check_number(option, text)
    hosts: dict[str, Host] = {}
    for part in _COMMA_OUTSIDE_BRACKETS.split(text):
        for host in _hosts(option, part, transport):
            if hosts.setdefault(host.name, host) != host:
                raise BadInput(f"{option}: {host} is named twice, with different addresses")
    return list(hosts.values())


def expand_names(option: str, text: str) -> list[str]:
    """Return the names in `text`, each once: `node[1-2],x` is node1, node2 and x.

    Raise BadInput with the option's name for text that cannot be read, and for too many names.
    """
    _check_number(option, text)
    try:
        names = NodeSet(text, resolver=RESOLVER_NOGROUP)  # wildcards are those of its groups
    except (NodeSetException, AssertionError, ValueError) as error:  # it checks some input itself
        raise _unreadable(option, text, str(error)) from error
    if not names:
        raise BadInput(f"{option} {text!r} names no hosts; name 1 to {MAX_HOSTS}")
    return [check_name(option, name) for name in names]


def _check_number(option: str, text: str) -> None:
    """Raise BadInput for too many names. It comes before the expansion: a slip may be billions of names."""
    number = 0
    for part in _COMMA_OUTSIDE_BRACKETS.split(text):
        names, _, _ = part.partition("=")
        number += prod(
            sum(_length(option, text, range_) for range_ in ranges.split(","))
            for ranges in _RANGES.findall(names)
        )
    if number > MAX_HOSTS:
        raise BadInput(f"{option} {text!r} names {number:,} hosts; name 1 to {MAX_HOSTS}")


def _length(option: str, text: str, range_: str) -> int:
    match = _RANGE.fullmatch(range_.strip())
    if match is None:
        raise _unreadable(option, text, f"[{range_}] is no range")
    first, last, step = (int(number) for number in (match[1], match[2] or match[1], match[3] or 1))
    return max(1, len(range(first, last + 1, step or 1)))


def _unreadable(option: str, text: str, reason: str) -> BadInput:
    return BadInput(f"{option} {text!r} cannot be read: {reason}; write node[1-4]")


def next_hosts(hosts: Sequence[Host]) -> dict[Host, Host]:
    """Return which host follows on each, and the first on the last: a peer to look from, or to look at."""
    return dict(zip(hosts, (*hosts[1:], *hosts[:1]), strict=True))


def is_ip_address(text: str) -> bool:
    """Whether the text is an IP address, not a name."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _hosts(option: str, part: str, transport: Transport) -> list[Host]:
    """Return the hosts of one part, `NAMES` or `NAMES=ADDRESSES`."""
    names, equals, addresses = part.partition("=")
    expanded = expand_names(option, names)
    if not equals:
        return [transport(name, "") for name in expanded]
    expanded_addresses = expand_names(option, addresses)
    if len(expanded_addresses) != len(expanded):
        raise BadInput(
            f"{option} {part!r} has {len(expanded)} names and {len(expanded_addresses)} addresses; "
            "write node[1-4]=10.0.0.[1-4]"
        )
    return [transport(*pair) for pair in zip(expanded, expanded_addresses, strict=True)]


def check_name(option: str, name: str) -> str:
    """Return the name. Raise BadInput if a program could take it for anything but a host."""
    if _NAME.fullmatch(name):
        return name
    raise BadInput(
        f"{option}: {name!r} is not a host name: use letters, digits and . _ - @ : %, and no '-' in front"
    )
