"""The links of a run's nodes, as they are recorded, and what they counted while it ran."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness.probes.link import HostLink, growth
from harness.probes.tools.iproute import COUNTED

NodeLinks = Mapping[str, Mapping[str, HostLink]]
"""By host, and by the name of the interface."""


def as_facts(nodes: NodeLinks) -> dict[str, dict[str, Any]]:
    """As `Run.environment` holds them under `nodes`."""
    return {
        host: {name: _facts(link) for name, link in links.items()} for host, links in nodes.items()
    }


def counted(before: NodeLinks, after: NodeLinks) -> dict[str, dict[str, int]]:
    """Packets in error and dropped between two looks, by `host interface`.

    A link that was not there both times, and what it does not count, is not among them.
    """
    return {
        f"{host} {name}": {
            way: grown
            for way in COUNTED.values()
            if (grown := growth(link, later, way)) is not None
        }
        for host, links in before.items()
        for name, link in links.items()
        if (later := after.get(host, {}).get(name)) is not None
    }


def _facts(link: HostLink) -> dict[str, Any]:
    """Without what is where they lie, and without the counters: those of a moment say nothing."""
    left_out = ("host", "device", "counters")
    return {key: value for key, value in asdict(link).items() if key not in left_out}
