"""What a host says of its link; and what that means for what it can carry."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.analysis.acceptance import bond_faults
from harness.model.errors import ToolError
from harness.model.interface import Bond, BondMember, HostLink, growth, theory_bit_s
from harness.node.bonding import read_bond
from harness.node.interface import link_of
from tests.unit.probe_builders import MBIT, a_link, output

LACP = "IEEE 802.3ad Dynamic link aggregation"


def member(device: str, aggregator: int | None = 1, status: str = "up") -> BondMember:
    return BondMember(device, status, 1000, "full", aggregator)


class TestAHost:
    def test_a_usb_card_tells_everything(self) -> None:
        link = link_of("node1", "enx00e04c680001", output("link-usb.txt"))
        assert (link.speed_mbit_s, link.duplex, link.mtu_bytes) == (2500, "full", 1500)
        assert (link.driver, link.bus, link.kind, link.state) == ("r8152", "usb", None, "up")
        assert (link.queue, link.shaped_bit_s) == ("fq_codel", None)
        assert link.offloads is not None
        assert link.offloads["tcp-segmentation-offload"]
        assert not link.offloads["large-receive-offload"]
        assert link.sysctls == {"net.core.default_qdisc": "fq_codel"}

    def test_a_speed_that_is_not_known_is_unknown_and_not_minus_1(self) -> None:
        link = link_of("node1", "eth0", output("link-virtio.txt"))
        assert link.driver == "virtio_net"
        assert (link.speed_mbit_s, link.duplex, link.rate_bit_s) == (None, None, None)

    def test_the_made_up_speed_of_a_virtual_link_is_unknown_and_its_shape_counts(self) -> None:
        link = link_of("node1", "eth0", output("link-veth.txt"))
        assert (link.driver, link.kind, link.queue) == ("veth", "veth", "tbf")
        assert link.speed_mbit_s is None
        assert link.rate_bit_s == pytest.approx(100 * MBIT, rel=1e-4)

    def test_settings_of_several_numbers_have_one_blank_between_them(self) -> None:
        link = link_of("node1", "eth0", output("link-veth.txt"))
        assert link.sysctls["net.ipv4.tcp_rmem"] == "4096 131072 33554432"

    @pytest.mark.parametrize("part", ["queue", "driver", "offloads", "bond", "files"])
    def test_what_cannot_be_asked_is_unknown_and_the_rest_is_there(self, part: str) -> None:
        before, mark, after = output("link-usb.txt").partition(f"== {part}\n")
        without = before + mark + after[after.find("== ") :] if "== " in after else before + mark
        link = link_of("node1", "enx00e04c680001", without)
        assert link.mtu_bytes == 1500
        unknown = {
            "queue": link.queue,
            "driver": link.driver,
            "offloads": link.offloads,
            "bond": link.bond,
            "files": link.speed_mbit_s,
        }
        assert unknown[part] is None

    def test_one_without_ip_is_known_by_the_kernels_files(self) -> None:
        link = link_of("node1", "enp1s0", self.files(driver="../../bus/pci/drivers/igb"))
        assert (link.speed_mbit_s, link.duplex, link.mtu_bytes) == (1000, "full", 9000)
        assert (link.driver, link.state, link.kind) == ("igb", "up", None)
        assert link.counters == {"rx_errors": 3, "tx_drops": 0}

    def test_one_without_ip_whose_link_is_virtual_has_no_speed(self) -> None:
        virtual = "/sys/devices/virtual/net/enp1s0/mtu:9000"
        link = link_of("node1", "enp1s0", self.files(virtual))
        assert (link.driver, link.speed_mbit_s, link.mtu_bytes) == ("virtual", None, 9000)

    def files(self, *more: str, driver: str = "") -> str:
        told = {"speed": 1000, "duplex": "full", "mtu": 9000, "operstate": "up"}
        told |= {"statistics/rx_errors": 3, "statistics/tx_dropped": 0}
        lines = [f"/sys/class/net/enp1s0/{name}:{value}" for name, value in told.items()]
        parts = {"device": "", "driver": driver, "files": "\n".join([*lines, *more])}
        return "".join(f"== {name}\n{text}\n" for name, text in parts.items())

    def test_without_the_device_there_is_no_link(self) -> None:
        with pytest.raises(ToolError, match="ip link"):
            link_of("node1", "eth0", "== device\n\n== queue\n")


class TestBonds:
    def test_are_read_with_their_members(self) -> None:
        link = link_of("node1", "bond0", output("link-bond.txt"))
        assert link.bond == Bond(LACP, 1, (member("enp1s0", 1), member("enp2s0", 2)))
        assert link.kind == "bond"

    def test_a_half_formed_one_shows_in_its_aggregators(self) -> None:
        [fault] = bond_faults(Bond(LACP, 1, (member("enp1s0", 1), member("enp2s0", 2))))
        assert fault.startswith("member enp2s0 is in aggregator 2, but traffic uses aggregator 1")

    def test_whoever_is_not_root_sees_that_members_differ(self) -> None:
        [fault] = bond_faults(Bond(LACP, None, (member("enp1s0", 1), member("enp2s0", 2))))
        assert "several aggregators: enp1s0 in 1, enp2s0 in 2" in fault

    def test_a_member_that_is_down_is_named(self) -> None:
        bond = Bond("fault-tolerance (active-backup)", None, (member("a"), member("b", 1, "down")))
        assert list(bond_faults(bond)) == ["member b is down"]

    def test_a_whole_one_has_none(self) -> None:
        assert not list(bond_faults(Bond(LACP, 1, (member("a"), member("b")))))
        assert not list(
            bond_faults(Bond("load balancing (round-robin)", None, (member("a", None),)))
        )

    def test_other_text_is_no_bond(self) -> None:
        assert read_bond("") is None


class TestTheory:
    def test_the_slower_link_and_the_smaller_mtu_count(self) -> None:
        fast = a_link("node1", speed_mbit_s=2500, mtu_bytes=9000)
        assert theory_bit_s(fast, a_link("node2")) == pytest.approx(941.5 * MBIT, rel=1e-3)
        assert theory_bit_s(fast, fast) == pytest.approx(2475 * MBIT, rel=1e-3)

    @pytest.mark.parametrize("field", ["speed_mbit_s", "mtu_bytes"])
    def test_of_something_unknown_is_unknown(self, field: str) -> None:
        known, unknown = a_link("node1"), a_link("node2", **{field: None})
        assert theory_bit_s(known, unknown) is None
        assert theory_bit_s(unknown, known) is None
        assert theory_bit_s(known, None) is None

    def test_what_is_shaped_is_as_fast_as_its_shape(self) -> None:
        assert a_link("node1", shaped_bit_s=100 * MBIT).rate_bit_s == 100 * MBIT
        assert a_link("node1", shaped_bit_s=5000 * MBIT).rate_bit_s == 1000 * MBIT


class TestCounters:
    BEFORE = a_link("node1", counters={"rx_errors": 5, "tx_errors": 1, "rx_drops": 7})

    def later(self, **counters: int) -> HostLink:
        return replace(self.BEFORE, counters=counters)

    def test_grow_in_both_directions_together(self) -> None:
        after = self.later(rx_errors=8, tx_errors=1, rx_drops=9)
        assert growth(self.BEFORE, after, "errors") == 3
        assert growth(self.BEFORE, after, "drops") == 2

    def test_that_stayed_grew_by_0(self) -> None:
        assert growth(self.BEFORE, self.BEFORE, "errors") == 0

    def test_that_were_reset_or_are_not_told_are_unknown(self) -> None:
        assert growth(self.BEFORE, self.later(rx_errors=0, tx_errors=0), "errors") is None
        assert growth(self.BEFORE, self.later(rx_drops=9), "errors") is None
        assert growth(self.BEFORE, replace(self.BEFORE, counters=None), "errors") is None
        assert growth(self.BEFORE, replace(self.BEFORE, device="eth1"), "errors") is None
