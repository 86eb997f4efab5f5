"""The links of the lab's nodes, which are shaped while everything runs."""

from collections.abc import Mapping, Sequence

from harness.hosts import links
from harness.hosts.transports.host import Host, HostError
from harness.model.link import TYPICAL_MTU, Link
from harness.settings import simple
from harness.settings.in_force import set_for_good
from harness.settings.rate import rate

DEVICE = "eth0"


def read_links(hosts: Sequence[Host]) -> list[Link]:
    """Return each node's current link. Raise HostError if one is unknown."""
    found = []
    for link in links.read_links(hosts, DEVICE):
        if isinstance(link, HostError):
            raise link
        found.append(Link(link.shaped_bit_s, link.mtu_bytes or TYPICAL_MTU))
    return found


def set_links(wanted: Mapping[Host, Link]) -> None:
    """Set the links of nodes. Raise HostError that names a missing kernel module."""
    settings = {}
    for host, link in wanted.items():
        settings[host] = [
            simple.mtu(DEVICE, link.mtu),
            rate(DEVICE, link.rate_bit_s, link.mtu),
        ]
    set_for_good(settings)
