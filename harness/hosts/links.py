"""The interface of each host through which its peers reach it, as the host describes it."""

from collections.abc import Mapping, Sequence

from harness.hosts.remote_process import ask, ask_all
from harness.hosts.transports.host import Host, HostError, next_hosts
from harness.model.interface import HostLink
from harness.node import iproute2
from harness.node.interface import describing_command, parse_link

LINK_PROGRAMS = ("ip",)


def read_links(hosts: Sequence[Host], device: str | None = None) -> list[HostLink | HostError]:
    """Return the link of every host, in order, or why it is unknown.

    It is the interface `device`. Without one, it is the device of the route to the next host. A single host
    has its default route.
    """
    if device:
        found: Mapping[Host, str | HostError] = dict.fromkeys(hosts, device)
    elif len(hosts) == 1:
        found = ask_all(hosts, iproute2.DEFAULT_ROUTE, iproute2.read_route_device)
    else:
        peers = next_hosts(hosts)
        routes = {host: (host, iproute2.route_to(peer.address)) for host, peer in peers.items()}
        found = ask(routes, lambda _, done: iproute2.read_route_device(done.output))
    devices: dict[Host, str] = {}
    commands: dict[Host, tuple[Host, list[str]]] = {}
    unknown: dict[Host, HostError] = {}
    for host, name in found.items():
        if isinstance(name, HostError):
            unknown[host] = name
        else:
            devices[host] = name
            commands[host] = (host, describing_command(name))
    links = ask(commands, lambda host, done: parse_link(host.name, devices[host], done.output))
    return [unknown.get(host) or links[host] for host in hosts]
