"""The pages that probes print, compared with golden files."""

from dataclasses import replace

from harness.analysis.ready.gate import Expectation, expectation_faults
from harness.commands.gate import gate_page
from harness.model.network_metrics import (
    ACROSS_RACKS,
    BOTH_WAYS,
    DISK_WRITE,
    HOST_CPU,
    IDLE,
    IPERF_CPU,
    LOADED,
    MESH_GOODPUT,
    OVERSUBSCRIPTION,
    PACKET_CPU,
    PACKET_GOODPUT,
    PATH_MTU,
    RDMA_DEVICES,
    RDMA_P99,
    RDMA_P999,
    RDMA_TYPICAL,
    RETRANSMITS,
    ROUND_TRIP,
    ROUND_TRIPS_PER_S,
    SOFTIRQ,
    VANISHED_PACKET,
    WITHIN_RACK,
    packet_case,
)
from harness.model.probe import Measurement, ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.model.soak import LinkEvent, LinkEventKind, SoakFlow
from harness.node.interface import parse_link
from harness.present import text
from harness.probes.disk import disk_measurements
from harness.probes.kind import kinds, network_of, newest_probes
from harness.probes.tools import fio
from tests.unit.builders import GOLDEN, STARTED_AT, assert_golden
from tests.unit.probe_builders import (
    FOUR,
    MBIT,
    a_link,
    every_pair,
    healthy,
    output,
    page_of,
    pairs,
    probed,
    soak_events,
)

HOSTILE = "n\x1b[31m1\nx"


def test_every_probe_has_a_golden_page() -> None:
    missing = [name for name in kinds() if not (GOLDEN / f"probe-{name}.txt").exists()]
    assert missing == ["all"], f"test the pages of {missing} here; `all` prints those of others"


def measured_mesh(hosts: tuple[str, ...] = FOUR) -> RecordedProbes:
    """A mesh with a slow host, a failed pair and a slow direction."""
    goodput = every_pair(hosts, 940 * MBIT)
    goodput |= {pair: 94 * MBIT for pair in goodput if hosts[-1] in pair}
    goodput[(hosts[0], hosts[1])] = f"{hosts[0]} -> {hosts[1]}: iperf3: no route"
    goodput[(hosts[2], hosts[0])] = 470 * MBIT
    both = every_pair(hosts, 900 * MBIT)
    return probed(
        [a_link(host, speed_mbit_s=None if host == hosts[1] else 1000) for host in hosts],
        [
            *pairs(MESH_GOODPUT, goodput),
            *pairs(MESH_GOODPUT, both, BOTH_WAYS),
            *pairs(RETRANSMITS, every_pair(hosts, 3)),
            *pairs(IPERF_CPU.sender, every_pair(hosts, 12.25)),
            *pairs(HOST_CPU.sender, every_pair(hosts, 7)),
            *pairs(SOFTIRQ.sender, every_pair(hosts, 1.5)),
            *pairs(HOST_CPU.receiver, every_pair(hosts, 11)),
        ],
    )


def round_trips(subject: str, case: str, factor: float) -> list[Measurement]:
    trips = [metric.of(subject, factor * rank, case) for rank, metric in ROUND_TRIP.items()]
    return [*trips, ROUND_TRIPS_PER_S.of(subject, 1e6 / factor / 50, case)]


def test_a_mesh() -> None:
    assert_golden("probe-mesh.txt", page_of("mesh", measured_mesh()))


def test_a_mesh_that_was_interrupted_before_its_first_pair_claims_nothing() -> None:
    page = page_of("mesh", probed([]))
    assert page == "nothing was measured\n"


def test_a_mesh_of_many_hosts_has_one_line_for_each() -> None:
    hosts = tuple(f"host{i}.my.company.com" for i in range(1, 13))
    assert_golden("probe-mesh-of-many.txt", page_of("mesh", measured_mesh(hosts)))


def test_of_very_many_latencies_the_longest_are_listed() -> None:
    measured = [
        measurement
        for number in range(101)
        for measurement in round_trips(f"node1 -> peer{number}", IDLE, number + 1)
    ]
    measured.append(ROUND_TRIP[50.0].failed(("node1", "node3"), "node3: no route", IDLE))
    page = page_of("latency", probed(measurements=measured))
    assert "node1 -> peer100 " in page
    assert "node1 -> node3 " in page
    assert "node1 -> peer1 " not in page
    assert "and 82 better lines\n" in page


def test_links_of_all_kinds() -> None:
    of_port = "/sys/class/net/enx00e04c680001/device/../speed:5000\n"
    links = [
        parse_link("node1", "enx00e04c680001", output("link-usb.txt") + of_port),
        parse_link("node2", "bond0", output("link-bond.txt")),
        parse_link("node3", "eth0", output("link-virtio.txt")),
        parse_link("worker-1", "eth0", output("link-veth.txt")),
    ]
    after = [replace(links[1], counters={"rx_errors": 5, "rx_drops": 12, "tx_drops": 4}), links[0]]
    assert_golden("probe-link.txt", page_of("link", probed(links, after=after)))


def test_paths_with_a_black_hole_and_packet_sizes() -> None:
    links = [a_link("node1", mtu_bytes=9000), a_link("node2"), a_link("node3")]
    names = ["node1", "node2", "node3"]
    paths = every_pair(names, 1500) | {("node2", "node3"): "node2 -> node3: pings are not answered"}
    sizes = [
        measured
        for size, goodput, percent in ((1500, 940, 31.0), (9000, 985, 12.0))
        for measured in (
            PACKET_GOODPUT.of(("node1", "node2"), goodput * MBIT, f"packets of {size} bytes"),
            PACKET_CPU.sender.of(("node1", "node2"), percent, f"packets of {size} bytes"),
            PACKET_CPU.receiver.of(("node1", "node2"), 2 * percent, f"packets of {size} bytes"),
        )
    ]
    measured = [
        *pairs(PATH_MTU, paths),
        *pairs(VANISHED_PACKET, {("node1", "node2"): 1501, ("node1", "node3"): 1501}),
        *sizes,
        PACKET_GOODPUT.failed(("node3", "node1"), "no", "packets of 9000 bytes"),
    ]
    assert_golden("probe-mtu.txt", page_of("mtu", probed(links, measured)))


def test_set_mtus_both_ways_and_the_largest_frames() -> None:
    links = [a_link("node1"), a_link("node2")]
    one_way, both_ways = (packet_case(8982, both_ways=b, mtu_is_set=True) for b in (False, True))
    measured: list[Measurement] = [
        *pairs(PATH_MTU, every_pair(["node1", "node2"], 1500)),
        *pairs(PATH_MTU, every_pair(["node1", "node2"], 8982), one_way),
    ]
    for subject, case, goodput in (
        ("node1 -> node2", one_way, 787),
        ("node1 -> node2", both_ways, 405),
        ("node2 -> node1", both_ways, 387),
    ):
        measured += [
            PACKET_GOODPUT.of(subject, goodput * MBIT, case),
            PACKET_CPU.sender.of(subject, 5.97, case),
            PACKET_CPU.receiver.of(subject, 6.42, case),
        ]
    assert_golden("probe-packets.txt", page_of("mtu", probed(links, measured)))


def test_latencies_idle_and_under_load_and_no_rdma() -> None:
    measured = [
        *round_trips("node1 -> node2", IDLE, 1),
        *round_trips("node1 -> node2", LOADED, 20),
        ROUND_TRIP[50.0].failed(("node1", "node3"), "node3: no route", "idle"),
        *(RDMA_DEVICES.of(host, 0) for host in FOUR[:3]),
    ]
    assert_golden("probe-latency.txt", page_of("latency", probed(measurements=measured)))


def test_latencies_of_rdma() -> None:
    measured = [
        *(RDMA_DEVICES.of(host, 1) for host in FOUR[:3]),
        *pairs(RDMA_TYPICAL, {("node1", "node2"): 1.47, ("node1", "node3"): "node3: no perftest"}),
        *pairs(RDMA_P99, {("node1", "node2"): 1.57}),
        *pairs(RDMA_P999, {("node1", "node2"): 3.93}),
    ]
    assert_golden("probe-rdma.txt", page_of("latency", probed(measurements=measured)))


def test_disks_and_a_slow_one() -> None:
    paces = fio.read_report(output("fio-3.33.json"))
    slow = {name: replace(each, bytes_s=each.bytes_s / 2) for name, each in paces.items()}
    measured = [
        *(each for host in FOUR[:3] for each in disk_measurements(host, "/data/1", paces)),
        *disk_measurements(FOUR[3], "/data/1", slow),
        DISK_WRITE.failed(FOUR[0], "node1: --directory: /data/2 cannot be written to", "/data/2"),
    ]
    assert_golden("probe-disk.txt", page_of("disk", probed(measurements=measured)))


def test_racks_with_an_uplink_oversubscribed_in_one_direction() -> None:
    measured = [
        *(WITHIN_RACK.of("a", value * MBIT) for value in (935, 940, 941)),
        WITHIN_RACK.failed("b", "b1 -> b2: iperf3: no route"),
        *(ACROSS_RACKS.of(("a", "b"), value * MBIT) for value in (9400, 9410, 9420)),
        *(OVERSUBSCRIPTION.of(("a", "b"), value) for value in (3.9, 4.0, 4.1)),
        *(ACROSS_RACKS.of(("b", "a"), value * MBIT) for value in (37000, 37600)),
        *(OVERSUBSCRIPTION.of(("b", "a"), value) for value in (1.0, 1.0)),
        ACROSS_RACKS.of(("c", "a"), 9400 * MBIT),
    ]
    assert_golden("probe-racks.txt", page_of("racks", probed([a_link("a1")], measured)))


def gate_of(*recorded: RecordedProbes) -> str:
    newest = newest_probes(recorded)
    network = network_of(newest)
    own = expectation_faults(network, Expectation(1000 * MBIT, 1500))
    return text.render([gate_page(newest, network, own)])


def test_the_gate_without_and_with_faults() -> None:
    verdicts = (gate_of(recorded) for recorded in (healthy(), measured_mesh()))
    assert_golden("probe-gate.txt", "\n".join(verdicts))


def test_an_emulated_network_is_marked_first() -> None:
    network = probed([a_link("node1")], facts={"emulated": "4 nodes on one host"})
    assert gate_of(network).startswith("emulated: 4 nodes on one host\n")


def test_control_characters_in_names_are_escaped() -> None:
    hosts = (HOSTILE, "b", "c")
    pages = page_of("mesh", measured_mesh(hosts)) + page_of("link", measured_mesh(hosts))
    assert "\x1b" not in pages
    assert r"\x1b[31m" in pages


class TestSoak:
    def test_names_what_failed_and_says_what_is_proved(self) -> None:
        run = ProbeRun("1g", ("n1", "n2"), {"probe": "soak"})
        probed = RecordedProbes(run, tuple(soak_events()), Ending.COMPLETED, "soak.jsonl")
        assert_golden("probe-soak.txt", page_of("soak", probed))

    def test_has_no_number_of_what_could_not_be_read(self) -> None:
        kind = LinkEventKind.CARRIER
        why = "its kernel shows none"
        unread = LinkEvent("n1", 1, 0.0, LinkEventKind.UNREAD, why, unread=kind)
        run = ProbeRun("1g", ("n1", "n2"), {"probe": "soak"})
        events = (unread, SoakFlow(1, "n1", "n2", 1.0, 5.0, 940e6, 3, None, 0.0, 12.5))
        page = page_of("soak", RecordedProbes(run, events, Ending.COMPLETED))
        rows = {line.split()[0]: line.split()[-1] for line in page.splitlines() if line}
        assert (rows["n1"], rows["n2"]) == ("?", "0")
        assert f"note: the carrier changes of n1 cannot be read ({why})" in page

    def test_hosts_are_in_the_order_of_the_numbers_in_their_names(self) -> None:
        flows = (SoakFlow(1, "n10", "n2", 1.0, 20.0, 9.4e8),)
        probed = RecordedProbes(ProbeRun("1g", (), {"probe": "soak"}), flows, Ending.COMPLETED)
        lines = page_of("soak", probed).splitlines()
        assert [line.split()[0] for line in lines if line.startswith("n")][:2] == ["n2", "n10"]

    def test_the_gate_counts_its_faults_and_says_how_long_it_was(self) -> None:
        run = ProbeRun("1g", ("n1", "n2"), {"probe": "soak"}, started_at=STARTED_AT)
        soaked = RecordedProbes(run, tuple(soak_events()), Ending.COMPLETED)
        assert gate_of(healthy()).splitlines()[-1].startswith("not soaked: ")
        lines = gate_of(healthy(), soaked).splitlines()
        assert lines[0] == "3 faults found"
        assert "fault: 0:00:15 n1: the link was interrupted" in lines
        assert lines[-1] == "soaked for 10 s of link time under load"
