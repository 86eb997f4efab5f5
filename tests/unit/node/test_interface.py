"""A host's description of its link, and the throughput that the link allows."""

import json
from dataclasses import replace

import pytest

from harness.base.errors import ToolError
from harness.model.interface import HostLink, counter_growth, max_goodput_bit_s
from harness.node.interface import parse_link
from tests.unit.probe_builders import MBIT, a_link, output


class TestParseLink:
    def test_reads_all_facts_of_a_usb_card(self) -> None:
        link = parse_link("node1", "enx00e04c680001", output("link-usb.txt"))
        assert (link.speed_mbit_s, link.duplex, link.mtu_bytes) == (2500, "full", 1500)
        assert (link.driver, link.bus, link.kind, link.state) == ("r8152", "usb", None, "up")
        assert (link.queue, link.shaped_bit_s) == ("fq_codel", None)
        assert link.offloads is not None
        assert link.offloads["tcp-segmentation-offload"]
        assert not link.offloads["large-receive-offload"]
        assert link.sysctls == {"net.core.default_qdisc": "fq_codel"}

    @pytest.mark.parametrize("part", ["driver", "offloads", "bond", "files"])
    def test_a_missing_part_is_unknown_and_the_rest_is_read(self, part: str) -> None:
        before, heading, after = output("link-usb.txt").partition(f"== {part}\n")
        rest = after[after.find("== ") :] if "== " in after else ""
        without = before + heading + rest
        link = parse_link("node1", "enx00e04c680001", without)
        assert link.mtu_bytes == 1500
        unknown = {
            "driver": link.driver,
            "offloads": link.offloads,
            "bond": link.bond,
            "files": link.speed_mbit_s,
        }
        assert unknown[part] is None

    def test_without_ip_the_kernels_files_describe_the_link(self) -> None:
        link = parse_link("node1", "enp1s0", self.files(driver="../../bus/pci/drivers/igb"))
        assert (link.speed_mbit_s, link.duplex, link.mtu_bytes) == (1000, "full", 9000)
        assert (link.driver, link.state, link.kind) == ("igb", "up", None)
        assert link.counters == {"rx_errors": 3, "tx_drops": 0}

    def test_without_ip_a_virtual_link_has_no_speed(self) -> None:
        virtual = "/sys/devices/virtual/net/enp1s0/mtu:9000"
        link = parse_link("node1", "enp1s0", self.files(virtual))
        assert (link.driver, link.speed_mbit_s, link.mtu_bytes) == ("virtual", None, 9000)

    def files(self, *more: str, driver: str = "") -> str:
        values = {"speed": 1000, "duplex": "full", "mtu": 9000, "operstate": "up"}
        values |= {"statistics/rx_errors": 3, "statistics/tx_dropped": 0}
        lines = [f"/sys/class/net/enp1s0/{name}:{value}" for name, value in values.items()]
        parts = {"device": "", "driver": driver, "files": "\n".join([*lines, *more])}
        return "".join(f"== {name}\n{text}\n" for name, text in parts.items())

    @pytest.mark.parametrize(
        ("kernel", "flags", "state"),
        [
            ("UNKNOWN", ["UP", "LOWER_UP"], None),
            ("UNKNOWN", ["NO-CARRIER", "UP"], "down"),
            *((name.upper(), [], name) for name in ("dormant", "lowerlayerdown", "notpresent")),
        ],
    )
    def test_only_a_card_without_a_state_of_its_own_may_be_up(
        self, kernel: str, flags: list[str], state: str | None
    ) -> None:
        row = {"ifname": "eth0", "operstate": kernel, "flags": flags}
        link = parse_link("node1", "eth0", f"== device\n{json.dumps([row])}\n")
        assert (link.state, link.is_up) == (state, state is None)

    def test_without_the_device_is_an_error(self) -> None:
        with pytest.raises(ToolError, match="there is no device eth0"):
            parse_link("node1", "eth0", "== device\n\n== queue\n")


class TestCounters:
    """What a card below a bridge counts, the bridge does not; a bond counts what its members do."""

    def described(self, device: str, kind: str, errors: int | None) -> str:
        row = {"ifname": device, "mtu": 1500, "operstate": "UP", "linkinfo": {"info_kind": kind}}
        if errors is not None:
            row["stats64"] = {
                "rx": {"errors": errors, "dropped": 1},
                "tx": {"errors": 0, "dropped": 0},
            }
        return f"== device\n{json.dumps([row])}\n\n"

    @pytest.mark.parametrize(
        ("kind", "lower", "errors"),
        [
            ("bridge", [5, 0], 7),
            ("vlan", [5], 7),
            ("bridge", [5, None], None),
            ("bridge", [], 2),
        ],
    )
    def test_are_those_of_the_devices_below_too(
        self, kind: str, lower: list[int | None], errors: int | None
    ) -> None:
        text = self.described("top", kind, 2)
        for number, own in enumerate(lower):
            text += f"== below top card{number}\n{self.described(f'card{number}', 'veth', own)}"
        counters = parse_link("node1", "top", text).counters
        assert (counters and counters["rx_errors"]) == errors

    @pytest.mark.parametrize(
        "part",
        [
            "== bond\nBonding Mode: load balancing (round-robin)\n\n",
            "== driver\n../../../bus/vmbus/drivers/hv_netvsc\n\n",
        ],
    )
    def test_of_a_bond_and_of_a_card_above_another_are_its_own(self, part: str) -> None:
        text = f"{self.described('top', 'None', 7)}{part}"
        for name in ("eth1", "eth2"):
            text += f"== below top {name}\n{self.described(name, 'veth', 3)}"
        counters = parse_link("node1", "top", text).counters
        assert counters is not None
        assert counters["rx_errors"] == 7


class TestTheory:
    def test_depends_on_the_slower_link_and_the_smaller_mtu(self) -> None:
        fast = a_link("node1", speed_mbit_s=2500, mtu_bytes=9000)
        assert max_goodput_bit_s(fast, a_link("node2")) == pytest.approx(941.5 * MBIT, rel=1e-3)
        assert max_goodput_bit_s(fast, fast) == pytest.approx(2475 * MBIT, rel=1e-3)

    @pytest.mark.parametrize("field", ["speed_mbit_s", "mtu_bytes"])
    def test_is_unknown_if_a_rate_or_mtu_is(self, field: str) -> None:
        known, unknown = a_link("node1"), a_link("node2", **{field: None})
        assert max_goodput_bit_s(known, unknown) is None
        assert max_goodput_bit_s(unknown, known) is None
        assert max_goodput_bit_s(known, None) is None


class TestGrowth:
    BEFORE = a_link("node1", counters={"rx_errors": 5, "tx_errors": 1, "rx_drops": 7})

    def later(self, **counters: int) -> HostLink:
        return replace(self.BEFORE, counters=counters)

    def test_adds_up_both_directions(self) -> None:
        after = self.later(rx_errors=8, tx_errors=1, rx_drops=9)
        assert counter_growth(self.BEFORE, after, "errors") == 3
        assert counter_growth(self.BEFORE, after, "drops") == 2

    def test_is_unknown_if_counters_were_reset_or_are_missing(self) -> None:
        assert counter_growth(self.BEFORE, self.later(rx_errors=0, tx_errors=0), "errors") is None
        assert counter_growth(self.BEFORE, self.later(rx_drops=9), "errors") is None
        assert counter_growth(self.BEFORE, replace(self.BEFORE, counters=None), "errors") is None
        assert counter_growth(self.BEFORE, replace(self.BEFORE, device="eth1"), "errors") is None
