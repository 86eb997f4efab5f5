"""Links that are not what a configuration's name says are told, one line a host."""

from __future__ import annotations

import pytest

from harness.runtime.expected_link import unexpected_links

MBIT = 10**6
UP = {"speed_mbit_s": 1000, "state": "up", "driver": "igb"}


def test_a_host_with_a_link_as_expected_is_fine_whatever_else_it_has() -> None:
    links = {"eth0": UP, "eth1": UP | {"speed_mbit_s": 2500, "driver": "r8152"}}
    assert unexpected_links({"node1": links}, 2500 * MBIT) == []


def test_one_without_is_named_with_what_it_has() -> None:
    links = {"node1": {"eth1": UP | {"speed_mbit_s": 100}, "eth0": UP}, "node2": {"eth0": UP}}
    assert unexpected_links(links, 2500 * MBIT) == [
        "node1: eth0 is 1gbit, eth1 is 100mbit, expected 2.5gbit",
        "node2: eth0 is 1gbit, expected 2.5gbit",
    ]


@pytest.mark.parametrize(
    "link",
    [
        UP | {"speed_mbit_s": None},
        UP | {"state": "down"},
        UP | {"driver": "virtio_net"},
        {},
    ],
)
def test_what_is_unknown_down_or_made_up_is_not_as_expected(link: dict[str, object]) -> None:
    assert unexpected_links({"node1": {"eth0": link}}, 1000 * MBIT) == [
        "node1: no link tells its speed, expected 1gbit"
    ]


def test_a_host_without_links_is_named() -> None:
    assert unexpected_links({"node1": {}}, MBIT) == [
        "node1: no link tells its speed, expected 1mbit"
    ]


def test_of_an_emulation_its_shape_counts() -> None:
    links = {"node1": {"eth0": UP | {"driver": "veth", "speed_mbit_s": 10_000}}}
    assert unexpected_links(links, 100 * MBIT, shaped_bit_s=100 * MBIT) == []
    assert unexpected_links(links, 250 * MBIT, shaped_bit_s=100 * MBIT) == [
        "links are shaped to 100mbit, expected 250mbit"
    ]


def test_rounding_is_no_difference() -> None:
    assert unexpected_links({}, 100 * MBIT, shaped_bit_s=99_900_000) == []
