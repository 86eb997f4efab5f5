"""The link probe: what each host reports about the interface through which its peers reach it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.model.interface import HostLink
from harness.node import iproute
from harness.node.interface import link_of, questions
from harness.probes.remote_process import CompletedCommand, parse_completed, run_all
from harness.probes.transports.host import Host, HostError

LINK_PROGRAMS = ("ip",)


def read_links(hosts: Sequence[Host]) -> list[HostLink | HostError]:
    """Return the link of every host, in order, or why it is unknown.

    It is the interface of the route to the next host; for a single host, of its default route.
    """
    if len(hosts) == 1:
        routes = [iproute.default_route()]
    else:
        routes = [iproute.route_to(peer.address) for peer in (*hosts[1:], *hosts[:1])]
    completed = run_all(list(zip(hosts, routes, strict=True)))
    devices = [
        parse_completed(host, route, _device) for host, route in zip(hosts, completed, strict=True)
    ]
    known = [
        (host, device)
        for host, device in zip(hosts, devices, strict=True)
        if not isinstance(device, HostError)
    ]
    answers = iter(run_all([(host, link_command(device)) for host, device in known]))
    return [
        device
        if isinstance(device, HostError)
        else parse_completed(host, next(answers), partial(_link, host.name, device))
        for host, device in zip(hosts, devices, strict=True)
    ]


def _device(route: CompletedCommand) -> str:
    return iproute.read_route(route.output)


def _link(host: str, device: str, completed: CompletedCommand) -> HostLink:
    return link_of(host, device, completed.output)
