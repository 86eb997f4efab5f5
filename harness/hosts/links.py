"""What each host reports about the interface through which its peers reach it."""

from collections.abc import Mapping, Sequence

from harness.hosts.remote_process import ask, ask_all
from harness.hosts.transports.host import Host, HostError, next_hosts
from harness.model.interface import HostLink
from harness.node import iproute2
from harness.node.interface import describing_command, parse_link

LINK_PROGRAMS = ("ip",)


def read_links(hosts: Sequence[Host], device: str | None = None) -> list[HostLink | HostError]:
    """Return the link of every host, in order, or why it is unknown.

    It is the interface `device`; without one, that of the route to the next host, and for a single host that
    of its default route.
    """
    found = dict.fromkeys(hosts, device) if device else _devices(hosts)
    devices = {host: each for host, each in found.items() if isinstance(each, str)}
    links = ask(
        {host: (host, describing_command(each)) for host, each in devices.items()},
        lambda host, done: parse_link(host.name, devices[host], done.output),
    )
    unknown = {host: each for host, each in found.items() if isinstance(each, HostError)}
    return [unknown.get(host) or links[host] for host in hosts]


def _devices(hosts: Sequence[Host]) -> Mapping[Host, str | HostError]:
    if len(hosts) == 1:
        return ask_all(hosts, iproute2.DEFAULT_ROUTE, iproute2.read_route)
    peers = next_hosts(hosts).items()
    routes = {host: (host, iproute2.route_to(peer.address)) for host, peer in peers}
    return ask(routes, lambda _, done: iproute2.read_route(done.output))
