"""Whether links are what `--expect-link` says: as observed, or as an emulation declares them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.rate import parse_rate
from harness.record.expected_link import otherwise_linked, unexpected_links

EXPECTED = parse_rate("--expect-link", "2500mbit")


def link(speed_mbit_s: int | None, state: str = "up", driver: str = "r8169") -> dict[str, Any]:
    return {"speed_mbit_s": speed_mbit_s, "state": state, "driver": driver}


class TestObserved:
    def test_one_of_a_hosts_links_is_enough(self) -> None:
        assert unexpected_links({"a": {"eth0": link(1000), "eth1": link(2500)}}, EXPECTED) == []

    @pytest.mark.parametrize(
        ("links", "told"),
        [
            ({"eth0": link(1000)}, "a: eth0 is 1gbit, expected 2.5gbit"),
            ({"eth0": link(None)}, "a: no link tells its speed, expected 2.5gbit"),
            ({}, "a: no link tells its speed, expected 2.5gbit"),
            ({"eth0": link(2500, state="down")}, "a: no link tells its speed, expected 2.5gbit"),
            ({"eth0": link(2500, driver="tun")}, "a: no link tells its speed, expected 2.5gbit"),
        ],
    )
    def test_what_is_otherwise_or_unknown_is_told(self, links: dict[str, Any], told: str) -> None:
        assert unexpected_links({"a": links}, EXPECTED) == [told]

    def test_each_host_by_itself(self) -> None:
        hosts = {"a": {"eth0": link(2500)}, "b": {"eth0": link(100)}}
        assert unexpected_links(hosts, EXPECTED) == ["b: eth0 is 100mbit, expected 2.5gbit"]


class TestOfARun:
    environment: dict[str, Any] = {"host": "a", "links": {"eth0": link(1000)}}  # noqa: RUF012  read only

    def test_the_drivers_links_count(self) -> None:
        assert otherwise_linked(self.environment, {"link": "2500mbit"}, EXPECTED) == [
            "a: eth0 is 1gbit, expected 2.5gbit"
        ]

    @pytest.mark.parametrize(
        ("declared", "told"),
        [
            ("2.5gbit", []),
            ("100mbit", ["links are shaped to 100mbit, expected 2.5gbit"]),
            ("unshaped", ["emulated links are unshaped, expected 2.5gbit"]),
        ],
    )
    def test_emulated_links_are_as_declared(self, declared: str, told: list[str]) -> None:
        facts = {"emulated": "4 nodes on one host", "link": declared}
        assert otherwise_linked(self.environment, facts, EXPECTED) == told
