"""Faults of paths and of bonds, each in one line that names its cause."""

import re
from collections.abc import Sequence

import pytest

from harness.model.network_metrics import PATH_MTU, VANISHED_PACKET
from harness.model.probe import Measurement
from harness.node.bond import read_bond
from harness.present import text as text_page
from harness.probes.link import bond_faults, link_sections
from harness.probes.path_mtu import path_mtu_findings
from tests.unit.builders import known
from tests.unit.probe_builders import a_link, every_pair, output, pairs, probed


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


SOUND = output("link-bond.txt").replace("ID: 2", "ID: 1").replace("churned", "none")
_, BONDS = output("bonds-typed.txt").split("\n\n", 1)


class TestBonds:
    @pytest.mark.parametrize("case", BONDS.strip().split("\n\n"))
    def test_a_fault_is_named_with_its_reason(self, case: str) -> None:
        fault, *texts = case.splitlines()
        old, new = (text[1:].replace("|", "\n").strip("$") for text in texts)
        assert old in SOUND
        assert faults(SOUND) == []
        assert [found.split(" (")[0] for found in faults(SOUND.replace(old, new, 1))] == [fault]

    @pytest.mark.parametrize(
        ("ids", "found"),
        [
            ((1, 2), ["its members are in several aggregators: enp1s0 in 1, enp2s0 in 2"]),
            ((1, 1), []),
            (("N/A", "N/A"), ["no aggregator is active"]),
        ],
    )
    def test_what_only_root_can_read_is_no_fault(
        self, ids: tuple[object, ...], found: list[str]
    ) -> None:
        head, *members = re.sub(r"Active Agg[^/]*?\n\n", "\n", SOUND).split("Slave Interface")
        numbered = [
            member.replace("ID: 1", f"ID: {number}")
            for member, number in zip(members, ids, strict=True)
        ]
        text = "Slave Interface".join([head, *numbered])
        assert [fault.split(" (")[0] for fault in faults(text)] == found
        page = text_page.render(link_sections(probed([a_link("a", bond=read_bond(text))])))
        assert "; its active aggregator is unknown: only root can read it" in page


def faults(text: str) -> list[str]:
    bond = known(read_bond(text))
    return list(bond_faults(bond))
