"""The links of all nodes of a run: how they are recorded, and whether they are as expected."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness.model.errors import BadInput
from harness.model.interface import HostLink, counter_growth
from harness.model.link import is_same_rate, parse_rate, rate_text, with_bond
from harness.model.run import EMULATED
from harness.node.kernel import PACKET_COUNTERS

NodeLinks = Mapping[str, Mapping[str, HostLink]]
"""By host, and by the name of the interface."""

_NOT_FACTS = ("host", "device", "counters")
"""Fields of a link that its facts leave out: names are the keys, and counters are of a moment."""
_READ = ("speed_mbit_s", "shaped_bit_s", "mtu_bytes", "state", "driver", "bus", "sysctls")
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
    """Return the links of all nodes that a run recorded; without nodes, those of its driver.

    Only the facts that somebody uses are read.
    """
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


def unexpected_links(
    environment: Mapping[str, Any], facts: Mapping[str, str], expected_bit_s: int
) -> list[str]:
    """Return a line for each host of a run that has no link of the expected rate.

    A host may have other links as well. A link counts only if it is up and its rate is known. Where an
    emulation declares the rate of its links, that counts instead.
    """
    expected = f"expected {rate_text(expected_bit_s)}"
    if EMULATED in facts and (shaped := facts.get("link")) is not None:
        try:
            is_expected = is_same_rate(parse_rate("link", shaped), expected_bit_s)
        except BadInput:  # the emulation does not shape the links, or not all alike
            is_expected = False
        return [] if is_expected else [f"emulated links are {shaped}, {expected}"]
    lines = []
    for host, links in links_by_host(environment).items():
        rates = {name: link.rate_bit_s for name, link in links.items() if link.is_up}
        known = with_bond({name: rate for name, rate in sorted(rates.items()) if rate is not None})
        if not any(is_same_rate(rate, expected_bit_s) for rate in known.values()):
            found = ", ".join(f"{name} is {rate_text(rate)}" for name, rate in known.items())
            lines.append(f"{host}: {found or 'no link reports its rate'}, {expected}")
    return lines
