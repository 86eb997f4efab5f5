"""Two racks: a network each, and between them a router whose interfaces are as fast as the uplink.

An uplink is shared by all nodes of a rack, so no limit on the nodes could stand for it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from harness.lab.cluster import MASTER, ROUTER, Lab, Node
from harness.lab.links import LinkCommand, on_all, read_link, shape, take
from harness.model.link import MAX_MTU, Link

# Of the private ranges, one that hardly anybody has at home.
SUBNETS = {1: "10.231.1", 2: "10.231.2"}
ROUTER_HOST, MASTER_HOST, FIRST_WORKER_HOST = 254, 250, 10


@dataclass(frozen=True)
class RackNetwork:
    """What is on one side of the uplink."""

    number: int
    workers: tuple[int, ...]


def racks(workers: int) -> list[RackNetwork]:
    """The first half of the workers, with the master, and the rest."""
    half = (workers + 1) // 2
    return [
        RackNetwork(1, tuple(range(1, half + 1))),
        RackNetwork(2, tuple(range(half + 1, workers + 1))),
    ]


def addresses(workers: int) -> dict[str, tuple[int, str]]:
    """Rack and address of every node."""
    placed = {MASTER: (1, f"{SUBNETS[1]}.{MASTER_HOST}")}
    for rack in racks(workers):
        for worker in rack.workers:
            place = f"{SUBNETS[rack.number]}.{FIRST_WORKER_HOST + worker}"
            placed[f"worker-{worker}"] = (rack.number, place)
    return placed


def services(workers: int) -> dict[str, dict[str, Any]]:
    """What compose has to know besides: who is in which network, under which name and address."""
    placed = addresses(workers)
    names = [f"{name}:{address}" for name, (_, address) in placed.items()]
    nodes = {
        name: {"networks": {f"rack-{rack}": {"ipv4_address": address}}, "extra_hosts": names}
        for name, (rack, address) in placed.items()
    }
    return {**nodes, ROUTER: _router()}


def networks() -> dict[str, Any]:
    """The racks' networks, for compose."""
    return {
        f"rack-{rack}": {
            "ipam": {"config": [{"subnet": f"{prefix}.0/24"}]},
            "driver_opts": {
                "com.docker.network.driver.mtu": str(MAX_MTU),
                # Whoever is asked from the other rack has to see who asks.
                "com.docker.network.bridge.enable_ip_masquerade": "false",
            },
        }
        for rack, prefix in SUBNETS.items()
    }


def connect(lab: Lab, uplink_bit_s: int, mtu: int) -> None:
    """Make every node know the way to the other rack, and the uplink as fast as it is to be."""
    if lab.router is None:
        return
    placed = addresses(len(lab.workers))

    def route(node: Node) -> None:
        rack, _ = placed[node.name]
        here, there = SUBNETS[rack], SUBNETS[3 - rack]
        way = ("ip", "route", "replace", f"{there}.0/24", "via", f"{here}.{ROUTER_HOST}")
        take(node, LinkCommand(way, "IP routing"))

    on_all(route, lab.linked)
    set_uplink(lab.router, uplink_bit_s, mtu)


def set_uplink(router: Node, uplink_bit_s: int, mtu: int) -> None:
    """Limit what leaves the router for either rack; `mtu` is that of the nodes that send."""
    for device in _devices(router):
        take(router, shape(device, Link(uplink_bit_s, mtu)))


def uplink_bit_s(router: Node, mtu: int) -> int | None:
    """How fast the uplink is, on the wire, for nodes of that MTU; None if it is not shaped."""
    device = _devices(router)[0]
    return read_link(router, device, mtu).rate_bit_s


def _router() -> dict[str, Any]:
    return {
        "image": "clusterlift-lab:${STORAGE:-hdfs}",
        "command": ROUTER,
        "hostname": ROUTER,
        "cap_add": ["NET_ADMIN"],
        "sysctls": {"net.ipv4.ip_forward": "1"},
        "stop_grace_period": "1s",
        "networks": {
            f"rack-{rack}": {"ipv4_address": f"{prefix}.{ROUTER_HOST}"}
            for rack, prefix in SUBNETS.items()
        },
    }


def _devices(router: Node) -> list[str]:
    links = json.loads(router.execute("ip", "-j", "link", "show"))
    return sorted(str(link["ifname"]) for link in links if link["link_type"] == "ether")
