"""The links of all nodes of a run, as they are recorded."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness.model.interface import HostLink, counter_growth
from harness.node.device_files import PACKET_COUNTERS

NodeLinks = Mapping[str, Mapping[str, HostLink]]
"""The links by host and by the name of the interface."""

_NOT_FACTS = ("host", "device", "counters", "sysctls", "slow_ports")
"""Fields of a link that its facts leave out: keys, what is of a moment, what is of the whole node, and why
the card carries less than its speed."""
_READ = (
    *("speed_mbit_s", "carried_mbit_s", "has_invented_speed", "shaped_bit_s", "has_unknown_limit"),
    *("mtu_bytes", "state", "driver", "bus"),
)
"""Recorded facts that are read again."""


def node_facts(nodes: NodeLinks) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the links as `Run.environment` records them under `nodes`."""
    return {
        host: {
            name: {key: value for key, value in asdict(link).items() if key not in _NOT_FACTS}
            for name, link in links.items()
        }
        for host, links in nodes.items()
    }


def links_by_host(environment: Mapping[str, Any]) -> NodeLinks:
    """Return the links of all recorded nodes, or else of the driver, with the facts that are used."""
    driver = {str(environment.get("host")): environment.get("links") or {}}
    return {
        host: {
            name: HostLink(host, name, **{key: link.get(key) for key in _READ})
            for name, link in links.items()
        }
        for host, links in (environment.get("nodes") or driver).items()
    }


def link_errors(before: NodeLinks, after: NodeLinks) -> dict[str, dict[str, int]]:
    """Return the packets in error and dropped between two snapshots, by `host interface`.

    A link that is missing from a snapshot is left out, and so is what a link does not count.
    """
    return {
        f"{host} {name}": {
            counter: grown
            for counter in PACKET_COUNTERS.values()
            if (grown := counter_growth(link, later, counter)) is not None
        }
        for host, links in before.items()
        for name, link in links.items()
        if (later := after.get(host, {}).get(name)) is not None
    }
