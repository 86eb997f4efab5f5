"""The link probe: what each host says of the interface that its peers are reached through."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.model.interface import HostLink
from harness.node import iproute
from harness.node.interface import link_command, parse_link
from harness.probes.remote_process import CompletedCommand, parse_answer, run_all
from harness.probes.transports.host import Host, HostError


def read_links(hosts: Sequence[Host]) -> list[HostLink | HostError]:
    """Every host's, by the way to the next of them; a host alone is asked for its way out."""
    ways = run_all(list(zip(hosts, map(_way, _peers(hosts)), strict=True)))
    devices = [parse_answer(host, way, _device) for host, way in zip(hosts, ways, strict=True)]
    known = [
        (host, device)
        for host, device in zip(hosts, devices, strict=True)
        if isinstance(device, str)
    ]
    answers = iter(run_all([(host, link_command(device)) for host, device in known]))
    return [
        device
        if isinstance(device, HostError)
        else parse_answer(host, next(answers), partial(_link, host.name, device))
        for host, device in zip(hosts, devices, strict=True)
    ]


def _peers(hosts: Sequence[Host]) -> list[Host | None]:
    if len(hosts) < 2:  # noqa: PLR2004  nobody to reach
        return [None for _ in hosts]
    return [*hosts[1:], hosts[0]]


def _way(peer: Host | None) -> list[str]:
    return iproute.default_route() if peer is None else iproute.route_to(peer.address)


def _device(way: CompletedCommand) -> str:
    return iproute.read_route(way.output)


def _link(host: str, device: str, answer: CompletedCommand) -> HostLink:
    return parse_link(host, device, answer.output)
