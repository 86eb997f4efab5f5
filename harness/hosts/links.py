"""What each host reports about the interface through which its peers reach it."""

from collections.abc import Sequence
from functools import partial

from harness.hosts.remote_process import CompletedCommand, parse_completed, run_all
from harness.hosts.transports.host import Host, HostError
from harness.model.interface import HostLink
from harness.node import kernel
from harness.node.interface import link_command, parse_link

LINK_PROGRAMS = ("ip",)


def read_links(hosts: Sequence[Host], device: str | None = None) -> list[HostLink | HostError]:
    """Return the link of every host, in order, or why it is unknown.

    It is the interface `device`; without one, that of the route to the next host, and for a single host that
    of its default route.
    """
    devices = [device] * len(hosts) if device else _devices(hosts)
    pairs = list(zip(hosts, devices, strict=True))
    commands = [(host, link_command(device)) for host, device in pairs if isinstance(device, str)]
    answers = iter(run_all(commands))
    return [
        parse_completed(host, next(answers), partial(_link, host, device))
        if isinstance(device, str)
        else device
        for host, device in pairs
    ]


def _devices(hosts: Sequence[Host]) -> list[str | HostError]:
    if len(hosts) == 1:
        routes = [kernel.default_route()]
    else:
        routes = [kernel.route_to(peer.address) for peer in (*hosts[1:], *hosts[:1])]
    printed = run_all(zip(hosts, routes, strict=True))
    return [
        parse_completed(host, route, lambda done: kernel.read_route(done.output))
        for host, route in zip(hosts, printed, strict=True)
    ]


def _link(host: Host, device: str, completed: CompletedCommand) -> HostLink:
    return parse_link(host.name, device, completed.output)
