"""The slowest halves: exactly for few hosts, by exchanges for many."""

from itertools import permutations

import pytest

from harness.probes.bisection import slowest_halves


def rates(hosts: list[str], within: float, across: float) -> dict[tuple[str, str], float]:
    """Return the rates of all flows; hosts are in the rack that is their first letter."""
    return {(a, b): within if a[0] == b[0] else across for a, b in permutations(hosts, 2)}


@pytest.mark.parametrize("size", [1, 2, 3, 6, 16])
def test_two_racks_behind_a_slow_uplink_are_the_halves(size: int) -> None:
    hosts = [f"{rack}{number}" for number in range(size) for rack in "ab"]
    halves = slowest_halves(hosts, rates(hosts, 10, 9))
    assert {frozenset(half) for half in halves} == {
        frozenset(f"{rack}{number}" for number in range(size)) for rack in "ab"
    }


def test_of_an_odd_number_the_second_half_has_one_more() -> None:
    hosts = ["a1", "b1", "b2"]
    assert slowest_halves(hosts, rates(hosts, 10, 1)) in {
        (("a1",), ("b1", "b2")),
        (("b1",), ("a1", "b2")),
    }


def test_flows_between_some_hosts_are_enough() -> None:
    hosts = ["a1", "b1", "a2", "b2"]
    some = {("a1", "b1"): 1.0, ("a2", "a1"): 5.0, ("b1", "b2"): 5.0, ("a2", "b2"): 1.0}
    assert slowest_halves(hosts, some) == (("a1", "a2"), ("b1", "b2"))
