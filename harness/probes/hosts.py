"""From what a user writes to the hosts it means: `node[1-4]`, `a=10.0.0.1,b=10.0.0.2`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ClusterShell.NodeSet import NodeSet, NodeSetException

from harness.errors import BadInput
from harness.probes.reach import Host, Way, check_name

MANY = 1024
_RANGE = re.compile(r"(\d+)-(\d+)(?=[^\[]*\])")


def parse_hosts(option: str, text: str, way: Way) -> list[Host]:
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


def _hosts(option: str, part: str, way: Way) -> list[Host]:
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
