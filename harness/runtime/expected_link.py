"""Are the links what the configuration's name says: what was observed, held against a rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.model.errors import BadInput
from harness.model.link import VIRTUAL_NIC_DRIVERS, is_same_rate, parse_rate, rate_text
from harness.node.machine import links_by_host

MBIT = 10**6

Links = Mapping[str, Mapping[str, Any]]
"""Interfaces by name, as `harness.node.machine.links` gives them."""


def unexpected_links(
    links_by_host: Mapping[str, Links], expected_bit_s: int, shaped_bit_s: int | None = None
) -> list[str]:
    """A line for each host none of whose links is as expected; none if all is well.

    A host may have other links besides. `shaped_bit_s` is what an emulation says that it shapes links
    to; it counts instead of what their drivers say. Unknown is not as expected.
    """
    if shaped_bit_s is not None:
        same = is_same_rate(shaped_bit_s, expected_bit_s)
        found = f"shaped to {rate_text(shaped_bit_s)}"
        return [] if same else [f"links are {found}, expected {rate_text(expected_bit_s)}"]
    return list(_unexpected(links_by_host, expected_bit_s))


def otherwise_linked(
    environment: Mapping[str, Any], facts: Mapping[str, str], expected_bit_s: int
) -> list[str]:
    """What a run's own environment says of its nodes; emulated links are declared."""
    shaped = facts.get("link") if "emulated" in facts else None
    try:
        shaped_bit_s = None if shaped is None else parse_rate("link", shaped)
    except BadInput:  # not shaped, or each otherwise
        return [f"emulated links are {shaped}, expected {rate_text(expected_bit_s)}"]
    return unexpected_links(links_by_host(environment), expected_bit_s, shaped_bit_s)


def _unexpected(links_by_host: Mapping[str, Links], expected_bit_s: int) -> Iterator[str]:
    for host, links in links_by_host.items():
        rates = {name: rate for name, link in links.items() if (rate := _rate(link)) is not None}
        if any(is_same_rate(rate, expected_bit_s) for rate in rates.values()):
            continue
        told = ", ".join(f"{name} is {rate_text(rate)}" for name, rate in sorted(rates.items()))
        yield f"{host}: {told or 'no link tells its speed'}, expected {rate_text(expected_bit_s)}"


def _rate(link: Mapping[str, Any]) -> int | None:
    """Bit/s of a link that is up and knows."""
    speed = link.get("speed_mbit_s")
    known = link.get("state") == "up" and link.get("driver") not in VIRTUAL_NIC_DRIVERS
    return speed * MBIT if known and isinstance(speed, int) and speed > 0 else None
