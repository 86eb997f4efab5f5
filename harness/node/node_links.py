"""The links of all nodes of a run: how they are recorded, and whether they are as expected."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness.model.errors import BadInput
from harness.model.interface import HostLink, counter_growth
from harness.model.link import VIRTUAL_NIC_DRIVERS, is_same_rate, parse_rate, rate_text
from harness.node.kernel import PACKET_COUNTERS

NodeLinks = Mapping[str, Mapping[str, HostLink]]
"""By host, and by the name of the interface."""
LinkFacts = Mapping[str, Mapping[str, Any]]
"""The recorded facts of one host's links, by the name of the interface."""

_MBIT = 10**6
_NOT_FACTS = ("host", "device", "counters")
"""Fields of a link that its facts leave out: names are the keys, and counters are of a moment."""


def node_facts(nodes: NodeLinks) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the links as `Run.environment` records them under `nodes`."""
    return {
        host: {
            name: {key: value for key, value in asdict(link).items() if key not in _NOT_FACTS}
            for name, link in links.items()
        }
        for host, links in nodes.items()
    }


def links_by_host(environment: Mapping[str, Any]) -> Mapping[str, LinkFacts]:
    """Return the links of all nodes that a run recorded; without nodes, those of its driver."""
    driver = {str(environment.get("host")): environment.get("links") or {}}
    return environment.get("nodes") or driver


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


def unexpected_links_of_run(
    environment: Mapping[str, Any], facts: Mapping[str, str], expected_bit_s: int
) -> list[str]:
    """Return `unexpected_links` of a run; the rate of emulated links is its fact `link`."""
    shaped = facts.get("link") if "emulated" in facts else None
    try:
        shaped_bit_s = None if shaped is None else parse_rate("link", shaped)
    except BadInput:  # the emulation does not shape the links, or not all alike
        return [f"emulated links are {shaped}, expected {rate_text(expected_bit_s)}"]
    return unexpected_links(links_by_host(environment), expected_bit_s, shaped_bit_s)


def unexpected_links(
    nodes: Mapping[str, LinkFacts], expected_bit_s: int, shaped_bit_s: int | None = None
) -> list[str]:
    """Return a line for each host that has no link of the expected rate.

    A host may have other links as well. A link counts only if it is up and its rate is known.
    `shaped_bit_s` is the rate of an emulation, which counts instead of what the drivers report.
    """
    expected = f"expected {rate_text(expected_bit_s)}"
    if shaped_bit_s is not None:
        same = is_same_rate(shaped_bit_s, expected_bit_s)
        return [] if same else [f"links are shaped to {rate_text(shaped_bit_s)}, {expected}"]
    lines = []
    for host, links in nodes.items():
        rates = {name: rate for name, link in links.items() if (rate := _rate(link)) is not None}
        if not any(is_same_rate(rate, expected_bit_s) for rate in rates.values()):
            found = ", ".join(
                f"{name} is {rate_text(rate)}" for name, rate in sorted(rates.items())
            )
            lines.append(f"{host}: {found or 'no link reports its speed'}, {expected}")
    return lines


def _rate(link: Mapping[str, Any]) -> int | None:
    """Return the bit/s of a link that is up; None if the driver does not know the speed."""
    speed = link.get("speed_mbit_s")
    is_known = link.get("state") == "up" and link.get("driver") not in VIRTUAL_NIC_DRIVERS
    return speed * _MBIT if is_known and isinstance(speed, int) and speed > 0 else None
