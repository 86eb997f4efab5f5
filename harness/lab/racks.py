"""Two racks: each has a network, and a router between them limits the rate of the uplink.

All nodes of a rack share the uplink, so limits on the nodes could not emulate it.
"""

import json
from typing import Any

from harness.lab.cluster import MASTER, NETWORK_MTU, ROUTER, Lab, Node
from harness.lab.links import read_link, run_link_command, run_on_all_nodes
from harness.model.link import MAX_MTU, Link
from harness.settings.rate import limit_outgoing
from harness.settings.setting import ShellCommand

# Private subnets that other networks seldom use.
SUBNETS = {1: "10.231.1", 2: "10.231.2"}
ROUTER_HOST, MASTER_HOST, FIRST_WORKER_HOST = 254, 250, 10


def racks(workers: int) -> dict[int, range]:
    """Return the numbers of each rack's workers, by the rack's number.

    Rack 1 has the first half of the workers, and the master. Rack 2 has the others.
    """
    half = (workers + 1) // 2
    return {1: range(1, half + 1), 2: range(half + 1, workers + 1)}


def addresses(workers: int) -> dict[str, tuple[int, str]]:
    """Return each node's rack number and address, by the node's name."""
    by_node = {MASTER: (1, f"{SUBNETS[1]}.{MASTER_HOST}")}
    for rack, numbers in racks(workers).items():
        for number in numbers:
            address = f"{SUBNETS[rack]}.{FIRST_WORKER_HOST + number}"
            by_node[f"worker-{number}"] = (rack, address)
    return by_node


def services(workers: int) -> dict[str, dict[str, Any]]:
    """Return what to add to Compose's services: networks, addresses, host names, and the router."""
    by_node = addresses(workers)
    names = [f"{name}:{address}" for name, (_, address) in by_node.items()]
    nodes = {
        name: {"networks": {f"rack-{rack}": {"ipv4_address": address}}, "extra_hosts": names}
        for name, (rack, address) in by_node.items()
    }
    return {**nodes, ROUTER: _router()}


def networks() -> dict[str, Any]:
    """Return the racks' networks for Compose."""
    return {
        f"rack-{rack}": {
            "ipam": {"config": [{"subnet": f"{prefix}.0/24"}]},
            "driver_opts": {
                NETWORK_MTU: str(MAX_MTU),
                # A node must see the true address of a client in the other rack.
                "com.docker.network.bridge.enable_ip_masquerade": "false",
            },
        }
        for rack, prefix in SUBNETS.items()
    }


def connect(lab: Lab, uplink_bit_s: int, mtu: int) -> None:
    """Give every node a route to the other rack, and set the uplink's rate."""
    if lab.router is None:
        return
    by_node = addresses(len(lab.workers))

    def add_route(node: Node) -> None:
        rack, _ = by_node[node.name]
        own, other = SUBNETS[rack], SUBNETS[3 - rack]
        line = f"ip route replace {other}.0/24 via {own}.{ROUTER_HOST}"
        run_link_command(node, ShellCommand(line, "IP routing"))

    run_on_all_nodes(add_route, lab.linked)
    set_uplink(lab.router, uplink_bit_s, mtu)


def set_uplink(router: Node, uplink_bit_s: int, mtu: int) -> None:
    """Limit what leaves the router towards each rack; `mtu` is the MTU of the sending nodes."""
    for device in _devices(router):
        run_link_command(router, limit_outgoing(device, Link(uplink_bit_s, mtu)))


def uplink_bit_s(router: Node, mtu: int) -> int | None:
    """Return the uplink's rate on the wire for nodes of this MTU; None if it is not shaped."""
    return read_link(router, _devices(router)[0], mtu).rate_bit_s


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
