"""The bytes that went over nodes' interfaces, from the kernel's files and by subtraction."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.interface import INBOUND_DEVICE
from harness.model.task_metrics import NodeBytes
from harness.node.snapshot import NodeReading, NodesSnapshot, Traffic
from harness.node.traffic import interface_traffic, wire_bytes

HEADING = (
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop "
    "fifo colls carrier compressed\n"
)


INTERFACES: dict[str, tuple[dict[str, Traffic], list[str], dict[str, list[str]], dict[str, Traffic]]] = {
    "with hardware; bonds and VLANs of them, and bridges for containers, do not count": (
        {
            "lo": (9, 9), "eth0": (100, 10), "eth1": (200, 20), "bond0": (300, 30),
            "docker0": (5, 5), "veth1": (5, 5), "eth0.7": (50, 5),
        },
        ["eth0", "eth1"], {"bond0": ["eth0", "eth1"]}, {"eth0": (100, 10), "eth1": (200, 20)},
    ),
    "of a cloud, which sends through the function of a card where it can": (
        {"lo": (9, 9), "eth0": (300, 30), "enP1s1": (290, 29)},
        ["eth0", "enP1s1"], {"eth0": ["enP1s1"]}, {"eth0": (300, 30)},
    ),
    "of a container, without the device that its received bytes pass once more": (
        {"lo": (9, 9), "eth0": (100, 10), "ifb0": (90, 90)}, [], {}, {"eth0": (100, 10)},
    ),
    "that we limit: it received what passed the limit": (
        {"lo": (9, 9), "eth0": (100, 10), "tunl0": (0, 0), INBOUND_DEVICE: (90, 90)},
        [], {}, {"eth0": (90, 10), "tunl0": (0, 0)},
    ),
    "of a container, without those that consist of others": (
        {"net1": (100, 10), "br0": (100, 10)}, [], {"br0": ["net1"]}, {"net1": (100, 10)},
    ),
}  # fmt: skip
"""What the kernel counts, which interfaces have hardware, what they consist of, and what counts."""


class TestInterfaces:
    @pytest.mark.parametrize("case", INTERFACES)
    def test_every_byte_counts_once(self, tmp_path: Path, case: str) -> None:
        traffic, hardware, above, counted = INTERFACES[case]
        lines = [f"{name:>6}: {received} 7 0 0 0 0 0 0 {sent} 9 0 0 0 0 0 0\n"
                 for name, (received, sent) in traffic.items()]  # fmt: skip
        (tmp_path / "proc/self/net").mkdir(parents=True)
        (tmp_path / "proc/self/net/dev").write_text(HEADING + "".join(lines))
        net = tmp_path / "sys/class/net"
        for name in traffic:
            (net / name).mkdir(parents=True)
        for name in hardware:
            (net / name / "device").mkdir()
        for name, device in ((n, device) for n in above for device in above[n]):
            (net / name / f"lower_{device}").mkdir()
            (net / device / f"upper_{name}").mkdir()
        assert interface_traffic(tmp_path) == counted

    def test_without_files_in_sysfs_all_but_the_loopback_count(self, tmp_path: Path) -> None:
        net = tmp_path / "proc/self/net/dev"
        net.parent.mkdir(parents=True)
        net.write_text(f"{HEADING}lo:1 0 0 0 0 0 0 0 1 0\neth0:12345678901 0 0 0 0 0 0 0 2 0\n")
        assert interface_traffic(tmp_path) == {"eth0": (12345678901, 2)}


def node(identity: str, **traffic: Traffic) -> NodeReading:
    return NodeReading(f"host-{identity}", traffic=traffic)


def traffic_snapshot(
    *nodes: NodeReading, executors: Mapping[str, tuple[str, str | None]] | None = None
) -> NodesSnapshot:
    return NodesSnapshot({node.host.removeprefix("host-"): node for node in nodes}, executors or {})


class TestWireBytes:
    def test_are_the_difference_summed_over_each_nodes_interfaces(self) -> None:
        before = traffic_snapshot(node("a", eth0=(100, 10), eth1=(5, 5)), node("b", eth0=(0, 0)))
        after = traffic_snapshot(node("a", eth0=(150, 40), eth1=(6, 7)), node("b", eth0=(3, 4)))
        assert wire_bytes(before, after).nodes == (
            NodeBytes("host-a", 51, 32),
            NodeBytes("host-b", 3, 4),
        )

    @pytest.mark.parametrize(
        "now", [node("a", eth0=(99, 10)), node("a", eth0=(100, 9)), node("a"), node("a", e=(1, 1))]
    )
    def test_are_unknown_where_a_counter_was_reset(self, now: NodeReading) -> None:
        executors = {"1": ("h1", "a")}
        before = traffic_snapshot(node("a", eth0=(100, 10)), executors=executors)
        found = wire_bytes(before, traffic_snapshot(now, executors=executors))
        assert (found.nodes, found.unread) == ((), ("h1",))

    def test_of_a_node_without_interfaces_are_unknown_and_not_0(self) -> None:
        assert wire_bytes(traffic_snapshot(node("a")), traffic_snapshot(node("a"))).nodes == ()

    def test_of_a_host_whose_executor_did_not_answer_are_unread(self) -> None:
        here = node("a", eth0=(1, 1))
        without_answer = traffic_snapshot(here, executors={"1": ("h1", "a"), "2": ("h2", None)})
        gone = traffic_snapshot(here, executors={"1": ("h1", "a"), "3": ("h3", "c")})
        assert wire_bytes(without_answer, gone).unread == ("h2", "h3")

    @given(
        st.dictionaries(st.sampled_from("abc"), st.tuples(st.integers(0, 99), st.integers(0, 99))),
        st.dictionaries(st.sampled_from("abc"), st.tuples(st.integers(0, 99), st.integers(0, 99))),
    )
    def test_are_never_negative(
        self, first: dict[str, Traffic], second: dict[str, Traffic]
    ) -> None:
        before = traffic_snapshot(*(node(name, eth0=traffic) for name, traffic in first.items()))
        after = traffic_snapshot(*(node(name, eth0=traffic) for name, traffic in second.items()))
        for traffic in wire_bytes(before, after).nodes:
            assert traffic.received_bytes >= 0
            assert traffic.sent_bytes >= 0
