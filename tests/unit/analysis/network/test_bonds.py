"""What is expected of a connection over a bond, and of cards in slow ports."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from harness.analysis.network.judge import mesh_findings
from harness.analysis.ready.gate import Expectation
from harness.model.interface import Bond, BondMember, HostLink, SlowPort, max_goodput_bit_s
from harness.model.link import goodput_bit_s
from harness.model.network_metrics import MESH_GOODPUT, PATH_MTU
from tests.unit.node.test_card import MODE
from tests.unit.probe_builders import (
    FOUR,
    MBIT,
    a_link,
    every_pair,
    gate_faults,
    page_of,
    pairs,
    probed,
)

LIKE_MOST = Expectation()
ONE, TWO, FOUR_MEMBERS = (goodput_bit_s(number * 1000 * MBIT, 1500) for number in (1, 2, 4))


def bonded(host: str, mode: str = "802.3ad", speeds: Sequence[int] = (1000, 1000)) -> HostLink:
    """Return a host's link over a bond of members with these speeds, in Mbit/s."""
    aggregator = 1 if mode == "802.3ad" else None
    members = [
        BondMember(f"eth{number}", "up", speed, "full", aggregator)
        for number, speed in enumerate(speeds)
    ]
    bond = Bond(
        MODE.get(mode, mode),
        aggregator,
        tuple(members),
        status="up",
        active_member="eth0" if mode == "active-backup" else None,
        partner="02:00:00:00:00:09" if aggregator else None,
    )
    is_alone = mode in {"active-backup", "broadcast"}
    speed = speeds[0] if is_alone else sum(speeds)
    return a_link(host, speed_mbit_s=speed, driver="bond", bus=None, bond=bond)


def faults(
    links: Sequence[HostLink],
    bit_s: float,
    expected: Expectation = LIKE_MOST,
    slow: Mapping[tuple[str, str], float] | None = None,
) -> list[str]:
    hosts = [link.host for link in links]
    goodput = every_pair(hosts, bit_s) | dict(slow or {})
    paths = every_pair(hosts, 1500)
    measured = [*pairs(PATH_MTU, paths), *pairs(MESH_GOODPUT, goodput)]
    return gate_faults(probed(links, measured), expected)


@pytest.mark.parametrize(
    ("mode", "bit_s", "is_slow"),
    [
        *((mode, ONE, False) for mode in ("802.3ad", "xor", "tlb", "alb")),
        *((mode, TWO, False) for mode in ("802.3ad", "xor", "tlb", "alb")),
        *((mode, 0.8 * ONE, True) for mode in ("802.3ad", "xor", "tlb", "alb")),
        ("round-robin", ONE, True),
        ("round-robin", TWO, False),
        ("balance-rr", TWO, False),
        ("active-backup", ONE, False),
        ("active-backup", 0.8 * ONE, True),
        ("broadcast", ONE, False),
    ],
)
@pytest.mark.parametrize("is_expected", [True, False])
def test_one_member_is_expected_of_a_connection_unless_the_mode_spreads_it(
    mode: str, bit_s: float, *, is_slow: bool, is_expected: bool
) -> None:
    links = [bonded(host, mode) for host in FOUR]
    expected = Expectation(links[0].rate_bit_s) if is_expected else LIKE_MOST
    found = faults(links, bit_s, expected)
    assert len(found) == (len(FOUR) if is_slow else 0)
    assert all("slow" in each for each in found)


def test_several_connections_may_take_the_same_member() -> None:
    links = [bonded(host) for host in FOUR]
    assert faults(links, TWO, slow={("node1", "node2"): ONE}) == []
    [line] = faults(links, TWO, slow={("node1", "node2"): 0.8 * ONE})
    assert line == (
        "node1 -> node2: slow, 753.2 Mbit/s, expected 941.5 Mbit/s "
        "(a connection takes one member of a bond)"
    )


def test_a_bond_at_one_end_limits_the_pairs_of_that_host_alone() -> None:
    links = [a_link(host, speed_mbit_s=10000) for host in FOUR[:3]]
    links.append(bonded("node4", speeds=(5000, 5000)))
    ten, five = (goodput_bit_s(rate * MBIT, 1500) for rate in (10_000, 5000))
    to_bond = {pair: five for pair in every_pair(FOUR, 0) if "node4" in pair}
    assert faults(links, ten, slow=to_bond) == []
    lines = faults(links, ten, slow={**to_bond, ("node1", "node2"): five})
    assert [line.partition(":")[0] for line in lines] == ["node1 -> node2"]


def test_a_slower_host_behind_bonds_is_still_slow() -> None:
    links = [*(bonded(host) for host in FOUR[:3]), a_link("node4", speed_mbit_s=100)]
    slow = {pair: 94.0 * MBIT for pair in every_pair(FOUR, 0) if "node4" in pair}
    found = faults(links, ONE, slow=slow)
    assert any(line.startswith("node4: slow, 94.0 Mbit/s") for line in found)
    assert "node4 eth0: 100mbit, expected 2gbit" in found


@pytest.mark.parametrize(
    ("connections", "bit_s"),
    [(1, ONE), (2, TWO), (3, 3 * ONE), (4, FOUR_MEMBERS), (9, FOUR_MEMBERS)],
)
def test_no_more_members_are_expected_than_there_are_connections(
    connections: int, bit_s: float
) -> None:
    link = bonded("a", speeds=(1000,) * 4)
    assert max_goodput_bit_s(link, link, connections) == pytest.approx(bit_s)
    single = a_link("b", speed_mbit_s=1000)
    assert max_goodput_bit_s(link, single, connections) == pytest.approx(ONE)


def test_a_member_outside_the_active_aggregator_is_not_in_use() -> None:
    apart = BondMember("eth2", "up", 1000, "full", 2)
    bond = bonded("a").bond
    assert bond is not None
    joined = Bond(bond.mode, 1, (*bond.members, apart))
    assert joined.sharing_mbit_s == [1000, 1000]
    assert Bond(bond.mode, 1, (bond.members[0], apart)).sharing_mbit_s == []


def test_a_remark_says_what_bonds_are_expected_to_carry() -> None:
    links = [bonded(host) for host in FOUR]
    recorded = probed(links, pairs(MESH_GOODPUT, every_pair(FOUR, ONE)))
    [_, remark] = mesh_findings(recorded)
    assert not remark.is_fault
    assert remark.text == (
        "bonds give each connection one of their members: 941.5 Mbit/s is expected of every pair. More "
        "needs several connections (--streams 2), which may still take the same member"
    )
    assert "100.0%" in page_of("mesh", recorded)


def test_a_remark_says_on_what_balance_rr_depends() -> None:
    links = [bonded(host, "round-robin") for host in FOUR]
    recorded = probed(links, pairs(MESH_GOODPUT, every_pair(FOUR, TWO)))
    [_, remark] = mesh_findings(recorded)
    assert str(remark) == (
        "balance-rr spreads a connection over all members, if the switches do so, too"
    )
    assert not remark.is_fault


@pytest.mark.parametrize(("bit_s", "is_proven"), [(TWO, True), (ONE, False)])
def test_the_rate_of_a_team_is_proven_by_several_connections_alone(
    bit_s: float, *, is_proven: bool
) -> None:
    links = [replace(bonded(host, "team"), driver="team", speed_mbit_s=None) for host in FOUR]
    found = faults(links, bit_s, Expectation(2000 * MBIT))
    assert len(found) == (0 if is_proven else len(FOUR))
    assert all(
        line.endswith("a connection takes one of its ports: probe with --streams") for line in found
    )


class TestSlowPorts:
    def test_explain_the_goodput_of_their_hosts(self) -> None:
        port = SlowPort("eth0", "USB port 1-4", 480)
        in_port = a_link(
            "node4", speed_mbit_s=2500, carried_mbit_s=480, bus="usb", slow_ports=(port,)
        )
        links = [a_link(host, speed_mbit_s=2500) for host in FOUR[:3]]
        paths = every_pair(FOUR, 330.0 * MBIT)
        found = faults(
            [*links, in_port],
            goodput_bit_s(2500 * MBIT, 1500),
            slow={pair: 330.0 * MBIT for pair in paths if "node4" in pair},
        )
        assert found[0] == (
            "node4 eth0: its card is in USB port 1-4, which carries 480mbit, less than the card: use a "
            "faster port"
        )
        assert "node4 eth0: 480mbit, expected 2.5gbit" in found

    def test_of_all_hosts_are_faults_and_the_goodput_is_none(self) -> None:
        port = SlowPort("eth0", "USB port 1-4", 480)
        links = [
            a_link(host, speed_mbit_s=2500, carried_mbit_s=480, bus="usb", slow_ports=(port,))
            for host in FOUR
        ]
        found = faults(links, 330 * MBIT)
        assert len(found) == len(FOUR)
        assert all("USB port 1-4" in each for each in found)


def test_records_without_the_kind_of_a_link_show_infiniband_by_its_mtu() -> None:
    link = a_link("a", speed_mbit_s=40000, mtu_bytes=65520, driver="mlx4_core")
    assert link.rate_bit_s == 32 * 10**9
    ethernet = a_link("a", speed_mbit_s=40000, mtu_bytes=9000, driver="mlx4_core")
    assert ethernet.rate_bit_s == 40 * 10**9
