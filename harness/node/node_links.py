"""The links of all nodes of a run, as they are recorded."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Mapping

from harness.base.items import without
from harness.model.interface import HostLink, counter_growth
from harness.node.device_files import PACKET_COUNTERS

NodeLinks = Mapping[str, Mapping[str, HostLink]]
"""The links by host and by the name of the interface."""

_NOT_FACTS = ("host", "device", "counters", "sysctls", "slow_ports")
"""Fields of a link that its facts leave out: the keys, what changes from moment to moment, what concerns the
whole node, and why the card carries less than its speed."""
_READ = (
    "speed_mbit_s",
    "carried_mbit_s",
    "has_invented_speed",
    "shaped_bit_s",
    "has_unknown_limit",
    "mtu_bytes",
    "state",
    "driver",
    "bus",
)
"""Recorded facts that are read again."""


def node_facts(nodes: NodeLinks) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the links as `Run.environment` records them under `nodes`."""
    return {
        host: {name: _facts(link) for name, link in links.items()} for host, links in nodes.items()
    }


def _facts(link: HostLink) -> dict[str, Any]:
    return without(asdict(link), _NOT_FACTS)


def links_by_host(environment: Mapping[str, Any]) -> NodeLinks:
    """Return the links of all recorded nodes, or else of the driver, with the facts that are used."""
    nodes = environment.get("nodes")
    if not nodes:
        nodes = {str(environment.get("host")): environment.get("links") or {}}
    found: dict[str, dict[str, HostLink]] = {}
    for host, links in nodes.items():
        found[host] = {}
        for name, link in links.items():
            found[host][name] = HostLink(host, name, **{key: link.get(key) for key in _READ})
    return found


def link_errors(before: NodeLinks, after: NodeLinks) -> dict[str, dict[str, int]]:
    """Return the packets in error and dropped between two snapshots, by `host interface`.

    A link that is missing from a snapshot is left out, and so is what a link does not count.
    """
    errors = {}
    for host, links in before.items():
        for name, link in links.items():
            later = after.get(host, {}).get(name)
            if later is not None:
                errors[f"{host} {name}"] = _grown(link, later)
    return errors


def _grown(link: HostLink, later: HostLink) -> dict[str, int]:
    found = {}
    for counter in PACKET_COUNTERS.values():
        grown = counter_growth(link, later, counter)
        if grown is not None:
            found[counter] = grown
    return found
