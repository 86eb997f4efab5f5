"""Whom a soak blames for slow and failed transfers: for every subset of up to six hosts, and in general."""

import random
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.network.soak_rates import SLOW, blamed, expected_rates, fraction_of
from harness.model.interface import HostLink
from harness.model.link import goodput_bit_s
from harness.model.soak import SoakFlow

HOSTS = ("a", "b", "c", "d", "e", "f")
ROUNDS = 100
LINKS = {host: HostLink(host, "eth0", speed_mbit_s=1000, mtu_bytes=1500) for host in HOSTS}
GOOD, BAD = 940e6, 94e6
SENDS, RECEIVES = "sends", "receives"
BOTH = (SENDS, RECEIVES)


def flows_of(
    hosts: Sequence[str],
    faulty: Collection[str],
    roles: Collection[str] = BOTH,
    *,
    fails: bool = False,
    first_round: int = 1,
) -> list[SoakFlow]:
    """Return the transfers of a soak in which faulty hosts are bad, in one role or both, from a round on."""
    rng = random.Random(1)  # noqa: S311  chance that can be repeated
    found = []
    for number in range(1, ROUNDS + 1):
        drawn = rng.sample(hosts, len(hosts))
        for a, b in pairwise([*drawn, drawn[0]]):
            bad = (a in faulty and SENDS in roles) or (b in faulty and RECEIVES in roles)
            if not bad or number < first_round:
                found.append(SoakFlow(number, a, b, 10.0 * number, 9.0, GOOD))
            elif fails:
                found.append(SoakFlow(number, a, b, 10.0 * number, 9.0, error="no route"))
            else:
                found.append(SoakFlow(number, a, b, 10.0 * number, 9.0, BAD))
    return found


def subjects(flows: Sequence[SoakFlow], links: Mapping[str, HostLink] = LINKS) -> list[str]:
    return [bad.subject for bad in blamed(flows, expected_rates(flows, links))]


def paths(hosts: Sequence[str], faulty: Collection[str], roles: Collection[str]) -> set[str]:
    """Return all paths that faulty hosts make bad."""
    return {
        f"{a} -> {b}"
        for a in hosts
        for b in hosts
        if a != b and ((a in faulty and SENDS in roles) or (b in faulty and RECEIVES in roles))
    }


@pytest.mark.parametrize("roles", [BOTH, (SENDS,), (RECEIVES,)])
@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("first_round", [1, ROUNDS // 2])
@pytest.mark.parametrize("count", range(2, 7))
def test_every_subset_of_hosts_is_named_where_evidence_can_name_it(
    count: int, roles: tuple[str, ...], *, fails: bool, first_round: int
) -> None:
    hosts = HOSTS[:count]
    for size in range(count + 1):
        for faulty in combinations(hosts, size):
            found = subjects(flows_of(hosts, faulty, roles, fails=fails, first_round=first_round))
            if count == 2:
                expected = paths(hosts, faulty, roles)
            elif count - size >= 2 or (count - size == 1 and roles != BOTH):
                expected = set(faulty)
            else:  # no two sound hosts ever meet: each transfer is bad, and could be anybody's fault
                expected = {""}
            assert set(found) == expected, faulty
            assert len(found) == len(expected)


@pytest.mark.parametrize("count", range(2, 7))
def test_without_a_rate_of_links_the_best_transfers_show_what_is_possible(count: int) -> None:
    hosts = HOSTS[:count]
    for size in range(1, count - 1):
        for faulty in combinations(hosts, size):
            assert set(subjects(flows_of(hosts, faulty), {})) == set(faulty)
    later = flows_of(hosts, hosts, first_round=ROUNDS // 2)
    assert set(subjects(later, {})) == (paths(hosts, hosts, BOTH) if count == 2 else {""})


def test_a_host_and_a_path_of_others_are_told_apart() -> None:
    flows = [
        SoakFlow(f.round, f.sender, f.receiver, f.start_s, f.seconds, BAD)
        if (f.sender, f.receiver) == ("c", "d")
        else f
        for f in flows_of(HOSTS, {"a"})
    ]
    assert subjects(flows) == ["a", "c -> d"]


def test_the_links_are_compared_with_those_of_most_hosts() -> None:
    fast = {"a": HostLink("a", "eth0", speed_mbit_s=10_000, mtu_bytes=1500)}
    assert subjects(flows_of(HOSTS[:3], ()), {**LINKS, **fast}) == []
    slow = {"a": HostLink("a", "eth0", speed_mbit_s=100, mtu_bytes=1500)}
    assert subjects(flows_of(HOSTS[:3], {"a"}), {**LINKS, **slow}) == ["a"]


rings = st.integers(2, 8).flatmap(
    lambda count: st.lists(st.permutations([f"n{i}" for i in range(count)]), min_size=1, max_size=8)
)
"""The hosts of each round, in the order in which they send to each other."""


@given(rings, st.data())
def test_transfers_near_the_links_rate_are_never_blamed(
    drawn: list[list[str]], data: st.DataObject
) -> None:
    allowed = goodput_bit_s(10**9, 1500)
    links = {host: HostLink(host, "eth0", speed_mbit_s=1000, mtu_bytes=1500) for host in drawn[0]}
    flows = [
        SoakFlow(number, a, b, 1.0, 9.0, allowed * data.draw(st.floats(SLOW + 0.001, 1)))
        for number, hosts in enumerate(drawn, 1)
        for a, b in pairwise([*hosts, hosts[0]])
    ]
    assert subjects(flows, links) == []


@given(rings, st.data())
def test_each_bad_transfer_is_blamed_once_and_no_other_is(
    drawn: list[list[str]], data: st.DataObject
) -> None:
    rates = st.one_of(st.none(), st.sampled_from([GOOD, BAD]))
    flows = []
    for number, hosts in enumerate(drawn, 1):
        for a, b in pairwise([*hosts, hosts[0]]):
            rate = data.draw(rates)
            error = "no route" if rate is None else None
            flows.append(SoakFlow(number, a, b, 1.0, 9.0, rate, error=error))
    expected = expected_rates(flows, {})
    found = list(blamed(flows, expected))
    all_blamed = [flow for bad in found for flow in bad.flows]
    bad = {flow for flow in flows if fraction_of(flow, expected[flow.round]) < SLOW}
    assert len(all_blamed) == len(bad)
    assert set(all_blamed) == bad
    assert {flow for flow in flows if flow.error} <= bad
    assert len({part.subject for part in found}) == len(found)
