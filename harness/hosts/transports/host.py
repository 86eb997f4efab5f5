"""Hosts: how a user names them, and the words that go before a command to run it on a host.

Names expand as in `node[1-4]`. An address on the network under test may follow: `a=10.0.0.1,b=10.0.0.2`.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from harness.base.errors import BadInput, ClusterliftError
from harness.base.terminal import MAX_ERROR
from harness.base.words import shorten

SSH = (
    "ssh",
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    # A connection that is cut would be waited for until the longest command had to end.
    "-o",
    "ServerAliveInterval=10",
    "-o",
    "ServerAliveCountMax=3",
    "--",
)
MAX_HOSTS = 1024
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@:%-]{0,253}")
IPV6 = 6
_BROADCAST = "255.255.255.255"
_RANGE = re.compile(r" *([0-9]{1,9})(?:-([0-9]{1,9}))? *")
_COMMA_OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")


class HostError(ClusterliftError):
    """A host is down, lacks a program, or a program failed there. The message names the host.

    The output of a host may be long, so the message is shortened in its middle.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten(message, MAX_ERROR))


@dataclass(frozen=True)
class Host:
    """A host under the name that the user gave it.

    `address` is where other hosts reach it on the network under test. It is empty until it is known. `prefix`
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


def parse_hosts(option: str, text: str, transport: Transport) -> list[Host]:
    """Return the hosts that `text` names, each once, in order. The address is empty where none is given.

    Raise BadInput with the option's name if the text cannot be read.
    """
    hosts: dict[str, Host] = {}
    for part in _COMMA_OUTSIDE_BRACKETS.split(text):
        for host in _hosts(option, part, transport):
            if hosts.setdefault(host.name, host) != host:
                raise BadInput(f"{option}: {host} is named twice, with different addresses")
        _check_number(option, len(hosts))
    return list(hosts.values())


def expand_names(option: str, text: str) -> list[str]:
    """Return the names in `text`, in order: `node[08-10],x` is node08, node09, node10 and x.

    Raise BadInput with the option's name for text that cannot be read, and for too many names.
    """
    names: list[str] = []
    for part in _COMMA_OUTSIDE_BRACKETS.split(text):
        for name in _expanded(option, part.strip()):
            names.append(check_name(option, name))
            _check_number(option, len(names))
    return names


def _expanded(option: str, text: str) -> Iterator[str]:
    """Yield the names of text with ranges in brackets, one at a time: a slip may be billions of names."""
    head, bracket, rest = text.partition("[")
    if not bracket:
        yield text
        return
    ranges, _, tail = rest.partition("]")
    for range_ in ranges.split(","):
        match = _RANGE.fullmatch(range_)
        first, last = match.group(1, 2) if match else ("1", "0")
        numbers = range(int(first), int(last or first) + 1)
        if not numbers:
            raise BadInput(
                f"{option} {text!r} cannot be read: [{range_}] is no range; write node[1-4]"
            )
        for number in numbers:
            for end in _expanded(option, tail):
                yield f"{head}{number:0{len(first)}}{end}"


def _check_number(option: str, number: int) -> None:
    if number > MAX_HOSTS:
        raise BadInput(f"{option} names more than {MAX_HOSTS:,} hosts; name 1 to {MAX_HOSTS}")


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
    for address in expanded_addresses:
        _check_address(option, address)
    return [transport(*pair) for pair in zip(expanded, expanded_addresses, strict=True)]


def _check_address(option: str, text: str) -> None:
    """Raise BadInput for an IP address at which no other host can reach one."""
    if not is_ip_address(text):
        return
    address = ip_address(text)
    if address.version == IPV6 and address.is_link_local:
        raise BadInput(
            f"{option}: {text} is a link-local address, which each host would reach by another interface; "
            "give an address that is the same for all of them"
        )
    if address.is_unspecified or address.is_multicast or text == _BROADCAST:
        raise BadInput(f"{option}: {text} is not the address of one host")


def check_name(option: str, name: str) -> str:
    """Return the name. Raise BadInput if a program could take it for anything but a host."""
    if _NAME.fullmatch(name):
        return name
    raise BadInput(
        f"{option}: {name!r} is not a host name: use letters, digits and . _ - @ : %, and no '-' in front"
    )
