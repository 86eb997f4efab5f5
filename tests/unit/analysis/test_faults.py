"""Faults of paths and of bonds, each in one line that names its cause."""

from collections.abc import Sequence

import pytest

from harness.analysis.network.path_mtu import path_mtu_findings
from harness.model.interface import Bond, BondMember
from harness.model.network_metrics import PATH_MTU, VANISHED_PACKET
from harness.model.probe import Measurement
from harness.probes.link import bond_faults
from tests.unit.probe_builders import a_link, every_pair, pairs, probed

LACP = "IEEE 802.3ad Dynamic link aggregation"


class TestPaths:
    def faults(self, measured: Sequence[Measurement]) -> list[str]:
        recorded = probed([a_link("a", mtu_bytes=9000), a_link("b")], measured)
        return [str(finding) for finding in path_mtu_findings(recorded) if finding.is_fault]

    def test_a_black_hole_is_named_with_its_pair(self) -> None:
        measured = [
            *pairs(PATH_MTU, every_pair("ab", 1500)),
            *pairs(VANISHED_PACKET, {("a", "b"): 1501}),
        ]
        text = (
            "a -> b: a path MTU black hole: packets larger than 1500 bytes vanish without an error "
            "(a's MTU is 9000, b's MTU is 1500)"
        )
        assert self.faults(measured) == [text]

    def test_a_path_that_refuses_larger_packets_is_not_a_black_hole(self) -> None:
        [line] = self.faults(pairs(PATH_MTU, {("a", "b"): 1400}))
        assert line.startswith(
            "a -> b: the path carries at most 1400 bytes and refuses larger packets"
        )

    def test_a_path_that_carries_what_its_sender_sends_has_none(self) -> None:
        measured = pairs(PATH_MTU, {("b", "a"): 1500, ("a", "b"): 9000})
        assert self.faults(measured) == []

    @pytest.mark.parametrize(
        ("back", "mtu_bytes", "texts"),
        [
            (1500, 1500, ["every path has the MTU of its sender's link"]),
            ("b: no route to host", 1500, []),
            (1500, None, []),
        ],
    )
    def test_that_every_path_is_as_it_should_be_is_said_of_what_is_known(
        self, back: float | str, mtu_bytes: int | None, texts: list[str]
    ) -> None:
        measured = pairs(PATH_MTU, {("a", "b"): 1500, ("b", "a"): back})
        recorded = probed([a_link("a"), a_link("b", mtu_bytes=mtu_bytes)], measured)
        assert [finding.text for finding in path_mtu_findings(recorded)] == texts


def bond(mode: str, active: int | None, *aggregators: int | None, status: str = "up") -> Bond:
    """Return a bond with a member for each aggregator; `status` is that of the last member."""
    members = [
        BondMember(f"eth{number}", "up", 1000, "full", aggregator)
        for number, aggregator in enumerate(aggregators[:-1], 1)
    ]
    last = BondMember(f"eth{len(aggregators)}", status, 1000, "full", aggregators[-1])
    return Bond(mode, active, (*members, last))


class TestBonds:
    @pytest.mark.parametrize(
        ("made", "start"),
        [
            (bond(LACP, 1, 1, 2), "member eth2 is in aggregator 2, but traffic uses aggregator 1"),
            (
                bond(LACP, None, 1, 2),
                "its members are in several aggregators: eth1 in 1, eth2 in 2",
            ),
            (
                bond("fault-tolerance (active-backup)", None, 1, 1, status="down"),
                "member eth2 is down",
            ),
        ],
    )
    def test_a_fault_is_named_with_the_member(self, made: Bond, start: str) -> None:
        [fault] = bond_faults(made)
        assert fault.startswith(start)

    @pytest.mark.parametrize(
        "made", [bond(LACP, 1, 1, 1), bond("load balancing (round-robin)", None, None)]
    )
    def test_a_complete_bond_has_none(self, made: Bond) -> None:
        assert list(bond_faults(made)) == []
