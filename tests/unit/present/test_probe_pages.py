"""The pages that probes print, compared with golden files."""

from dataclasses import replace

from harness.analysis.network.gate import Expectation, expectation_faults
from harness.commands.gate import verdict
from harness.model.network_metrics import (
    ACROSS_RACKS,
    ALL_TO_ALL,
    BASELINE_ROUND_TRIP,
    BISECTION_PAIRS,
    BOTH_WAYS,
    BUFFER_DELAY,
    CYCLES,
    HALF_TO_HALF,
    HARDWARE_COUNTERS,
    HOST_CPU,
    IDLE,
    INCAST_BUSIEST,
    INCAST_GOODPUT,
    INCAST_RETRANSMITS,
    INCAST_ROUND_TRIP,
    INCAST_STOLEN,
    INSTRUCTIONS,
    IPERF_CPU,
    LOADED,
    MESH_GOODPUT,
    OVERSUBSCRIPTION,
    PACKET_COST,
    PACKET_CPU,
    PACKET_GOODPUT,
    PATH_GOODPUT,
    PATH_MTU,
    RDMA_DEVICES,
    RDMA_P99,
    RDMA_P999,
    RDMA_TYPICAL,
    RETRANSMITS,
    ROUND_TRIP,
    ROUND_TRIPS_PER_S,
    SLOWEST_FLOW,
    SOFTIRQ,
    STEP_HOST_DROPS,
    STEP_JITTER,
    STEP_LOSS,
    STEP_RECEIVED,
    STEP_ROUND_TRIP,
    STEP_SENT,
    TCP_EFFICIENCY,
    TRANSFER_ROUND_TRIP,
    TRANSFER_TIME_RATIO,
    VANISHED_PACKET,
    WITHIN_RACK,
    incast_case,
    outcast_case,
    step_case,
)
from harness.model.packet_case import PacketCase
from harness.model.probe import Measurement, ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.model.soak import SoakFlow
from harness.node.interface import parse_link
from harness.probes.kinds import findings, network_of, newest_probes
from harness.probes.search import drawn_rounds
from tests.campaigns.documents import soak_events
from tests.simulated_hosts import SimulatedNetwork, names, search
from tests.unit.builders import STARTED_AT, assert_golden
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
)

SET = PacketCase(8982, mtu_is_set=True)
HOSTILE = "n\x1b[31m1\nx"


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


def test_a_search_among_many_hosts_lists_the_worst_and_says_how_sure_it_is() -> None:
    slow, [(a, b), *_] = {"node00007": 0.5, "node00031": 0.8}, drawn_rounds(names(64), 6, seed=1)[0]
    network = SimulatedNetwork(
        sends=slow, receives=slow, down=["node00012"], paths={(a, b): 0.6}, deviation=0.01
    )
    assert_golden("probe-mesh-search.txt", page_of("mesh", search(network, 64)))


def test_a_search_in_a_network_that_is_down_claims_nothing() -> None:
    page = page_of("mesh", search(SimulatedNetwork(down=names(20)), 20))
    assert "most transfers failed, so nothing can be called typical" in page
    assert "no host and no" not in page


def test_of_very_many_latencies_the_longest_are_listed() -> None:
    measured = [
        measurement
        for number in range(101)
        for measurement in round_trips(f"node1 -> peer{number}", IDLE, number + 1)
    ]
    measured.append(ROUND_TRIP[50.0].failed("node1 -> node3", "node3: no route", IDLE))
    page = page_of("latency", probed(measurements=measured))
    assert "node1 -> peer100 " in page
    assert "node1 -> node3 " in page
    assert "node1 -> peer1 " not in page
    assert "and 82 better lines\n" in page


def test_links_of_all_kinds() -> None:
    links = [
        parse_link("node1", "enx00e04c680001", output("link-usb.txt")),
        parse_link("node2", "bond0", output("link-bond.txt")),
        parse_link("node3", "eth0", output("link-virtio.txt")),
        parse_link("worker-1", "eth0", output("link-veth.txt")),
    ]
    after = [
        replace(links[1], counters={"rx_errors": 5, "rx_drops": 12, "tx_drops": 4}),
        links[0],
    ]
    assert_golden("probe-link.txt", page_of("link", probed(links, after=after)))


def test_paths_with_a_black_hole_and_the_cost_of_packet_sizes() -> None:
    links = [a_link("node1", mtu_bytes=9000), a_link("node2"), a_link("node3")]
    names = ["node1", "node2", "node3"]
    paths = every_pair(names, 1500) | {("node2", "node3"): "node2 -> node3: pings are not answered"}
    sizes = [
        measured
        for size, goodput, cost in ((1500, 940, 0.31), (9000, 985, 0.12))
        for measured in (
            PACKET_GOODPUT.of("node1 -> node2", goodput * MBIT, f"packets of {size} bytes"),
            PACKET_COST.sender.of("node1 -> node2", cost, f"packets of {size} bytes"),
            PACKET_COST.receiver.of("node1 -> node2", 2 * cost, f"packets of {size} bytes"),
        )
    ]
    measured = [
        *pairs(PATH_MTU, paths),
        *pairs(VANISHED_PACKET, {("node1", "node2"): 1501, ("node1", "node3"): 1501}),
        *sizes,
        PACKET_GOODPUT.failed("node3 -> node1", "no", "packets of 9000 bytes"),
    ]
    assert_golden("probe-mtu.txt", page_of("mtu", probed(links, measured)))


def test_packets_both_ways_between_two_drivers_with_counters_on_one_side() -> None:
    links = [a_link("node1", driver="tg3"), a_link("node2", driver="forcedeth")]
    measured: list[Measurement] = [
        *pairs(PATH_MTU, every_pair(["node1", "node2"], 1500)),
        *pairs(PATH_MTU, every_pair(["node1", "node2"], 8982), str(SET)),
        HARDWARE_COUNTERS.failed("node2", "node2: perf is not installed"),
    ]
    for case, goodput in ((SET, 787), (replace(SET, both_ways=True), 405)):
        measured += [
            PACKET_GOODPUT.of("node1 -> node2", goodput * MBIT, str(case)),
            PACKET_CPU.sender.of("node1 -> node2", 5.97, str(case)),
            PACKET_CPU.receiver.of("node1 -> node2", 6.42, str(case)),
            PACKET_COST.sender.of("node1 -> node2", 0.15, str(case)),
            PACKET_COST.receiver.of("node1 -> node2", 0.16, str(case)),
            INSTRUCTIONS.sender.of("node1 -> node2", 1.25, str(case)),
            CYCLES.sender.of("node1 -> node2", 1.5, str(case)),
        ]
    measured.append(PACKET_GOODPUT.of("node2 -> node1", 387 * MBIT, measured[-1].case))
    assert_golden("probe-packets.txt", page_of("mtu", probed(links, measured)))


def test_latencies_idle_and_under_load_and_no_rdma() -> None:
    measured = [
        *round_trips("node1 -> node2", IDLE, 1),
        *round_trips("node1 -> node2", LOADED, 20),
        ROUND_TRIP[50.0].failed("node1 -> node3", "node3: no route", "idle"),
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


def test_racks_with_an_uplink_oversubscribed_in_one_direction() -> None:
    measured = [
        *(WITHIN_RACK.of("a", value * MBIT) for value in (935, 940, 941)),
        WITHIN_RACK.failed("b", "b1 -> b2: iperf3: no route"),
        *(ACROSS_RACKS.of("a -> b", value * MBIT) for value in (9400, 9410, 9420)),
        *(OVERSUBSCRIPTION.of("a -> b", value) for value in (3.9, 4.0, 4.1)),
        *(ACROSS_RACKS.of("b -> a", value * MBIT) for value in (37000, 37600)),
        *(OVERSUBSCRIPTION.of("b -> a", value) for value in (1.0, 1.0)),
        ACROSS_RACKS.of("c -> a", 9400 * MBIT),
    ]
    assert_golden("probe-racks.txt", page_of("racks", probed([a_link("a1")], measured)))


def flows(
    subject: str, case: str, mbit: float, slowest: float, retransmits: float, p99_us: float
) -> list[Measurement]:
    return [
        INCAST_GOODPUT.of(subject, mbit * MBIT, case),
        SLOWEST_FLOW.of(subject, slowest * MBIT, case),
        INCAST_RETRANSMITS.of(subject, retransmits, case),
        INCAST_ROUND_TRIP[50.0].of(subject, p99_us / 10, case),
        INCAST_ROUND_TRIP[99.0].of(subject, p99_us, case),
    ]


def idle_message(subject: str) -> list[Measurement]:
    return [metric.of(subject, 80, IDLE) for metric in INCAST_ROUND_TRIP.values()]


def test_an_incast_that_collapses_and_an_oversubscribed_bisection() -> None:
    measured = [
        INCAST_GOODPUT.failed("n8 -> n1", "n8 -> n1: pings are not answered; n8 is left out", IDLE),
        *idle_message("n1"),
        *flows("n1", incast_case(1), 941, 941, 0, 1200),
        *flows("n1", incast_case(2), 940, 465, 12, 2400),
        *flows("n1", incast_case(4), 710, 88, 5210, 204000),
        *flows("n1", incast_case(6), 87, 0.5, 9800, 412000),
        *flows("n1", outcast_case(1), 940, 940, 0, 1100),
        *flows("n1", outcast_case(2), 938, 460, 0, 1100),
        INCAST_GOODPUT.failed("n1", "n1 -> n4: iperf3: no route", outcast_case(4)),
        *flows("n1", outcast_case(6), 930, 140, 20, 3000),
        *flows("7 hosts", ALL_TO_ALL, 4800, 71.4, 31234, 52000),
        HALF_TO_HALF.of("n1,n3,n5 -> n2,n4,n6,n7", 705 * MBIT, BISECTION_PAIRS),
        HALF_TO_HALF.of("n2,n4,n6,n7 -> n1,n3,n5", 715 * MBIT, BISECTION_PAIRS),
    ]
    assert_golden("probe-incast.txt", page_of("incast", probed(measurements=measured)))


def test_an_incast_without_collapse_over_a_full_bisection() -> None:
    measured = [
        *idle_message("n1"),
        *(
            measurement
            for case in (incast_case, outcast_case)
            for number in (1, 2, 3)
            for measurement in flows("n1", case(number), 941, 940 / number, 0, 700)
        ),
        *flows("4 hosts", ALL_TO_ALL, 3760, 310, 0, 700),
        *(
            HALF_TO_HALF.of(halves, 1880 * MBIT, BISECTION_PAIRS)
            for halves in ("n1,n2 -> n3,n4", "n3,n4 -> n1,n2")
        ),
    ]
    assert_golden("probe-incast-sound.txt", page_of("incast", probed(measurements=measured)))


def test_a_hub_that_receives_slowly_at_any_number_of_flows_is_told() -> None:
    measured = [
        *(
            item
            for number in (1, 2)
            for item in flows("n1", incast_case(number), 47, 20, 9000, 900)
        ),
        *(item for number in (1, 2) for item in flows("n1", outcast_case(number), 94, 40, 0, 900)),
    ]
    page = page_of("incast", probed(measurements=measured))
    assert "incast is slow at any number of flows: 47.0 Mbit/s at best, outcast 94.0 Mbit/s" in page


def test_flows_that_carry_nothing_collapse_or_are_slow() -> None:
    one, two = incast_case(1), incast_case(2)
    measured = [*flows("n1", one, 941, 941, 0, 900), *flows("n1", two, 0, 0, 9000, 900)]
    page = page_of("incast", probed(measurements=measured))
    assert "fault: n1: incast: goodput collapses to 0.0 Mbit/s from 2 hosts, 0 % of" in page
    measured = [*flows("n1", one, 0, 0, 0, 900), *flows("n1", outcast_case(1), 94, 94, 0, 900)]
    page = page_of("incast", probed(measurements=measured))
    assert "incast is slow at any number of flows: 0.0 Mbit/s at best, outcast 94.0 Mbit/s" in page


def test_a_fall_is_not_blamed_on_the_network_alone_if_processors_may_have_been_the_limit() -> None:
    four, pairs_case = incast_case(4), BISECTION_PAIRS
    measured = [
        *flows("n1", incast_case(1), 941, 941, 0, 1200),
        *flows("n1", four, 710, 88, 5210, 204000),
        INCAST_BUSIEST.of("n1", 99.5, four),
        INCAST_STOLEN.of("n1", 1.0, four),
        HALF_TO_HALF.of("n1,n2 -> n3,n4", 800e6, pairs_case),
        INCAST_STOLEN.of("n1,n2 -> n3,n4", 30.0, pairs_case),
    ]
    page = " ".join(page_of("incast", probed(measurements=measured)).split())
    assert "a processor of n1 was busy all the time, which may have been the limit" in page
    assert ":1; a hypervisor took 30 % of a host's processors, which may have been" in page


def test_a_bisection_through_which_nothing_arrives_is_told() -> None:
    measured = [
        *flows("n1", incast_case(1), 941, 941, 0, 1200),
        HALF_TO_HALF.of("n1,n2 -> n3,n4", 0, BISECTION_PAIRS),
    ]
    page = " ".join(page_of("incast", probed(measurements=measured)).split())
    assert "n1, n2 to n3, n4; nothing arrived of what 2 pairs alone would carry" in page


def test_an_incast_of_which_nothing_was_measured_claims_nothing() -> None:
    assert page_of("incast", probed([])) == "nothing was measured\n"
    error = "n2 -> n1: pings are not answered; n2 is left out"
    alone = [INCAST_GOODPUT.failed("n2 -> n1", error, IDLE)]
    assert page_of("incast", probed(measurements=alone)) == f"fault: {error}\n"


def step(
    subject: str, percent: int, loss: float, p99_us: float, sent: float = 1
) -> list[Measurement]:
    case, rate = step_case(percent), percent * 10 * MBIT * sent
    return [
        STEP_SENT.of(subject, rate, case),
        STEP_RECEIVED.of(subject, rate * (1 - loss / 100), case),
        STEP_LOSS.of(subject, loss, case),
        STEP_JITTER.of(subject, 12, case),
        STEP_ROUND_TRIP[50.0].of(subject, p99_us / 3, case),
        STEP_ROUND_TRIP[99.0].of(subject, p99_us, case),
    ]


def expecting(network: RecordedProbes, **limits: str) -> RecordedProbes:
    given = {"rate_bit_s": "1000000000", "max_loss_percent": "0.1", "max_delay_ms": ""} | limits
    return replace(network, run=replace(network.run, parameters=given))


def test_paths_that_fail_steps_for_every_reason() -> None:
    sound, lossy, slow, starved, broken, strained = (f"n1 -> n{i}" for i in range(2, 8))
    measured = [
        PATH_GOODPUT.of(sound, 470 * MBIT),
        TRANSFER_TIME_RATIO.of(sound, 2.0),
        TCP_EFFICIENCY.of(sound, 99.975),
        BASELINE_ROUND_TRIP.of(sound, 25000),
        TRANSFER_ROUND_TRIP.of(sound, 32000),
        BUFFER_DELAY.of(sound, 28),
        PATH_GOODPUT.of(lossy, 940 * MBIT),
        BASELINE_ROUND_TRIP.failed(lossy, f"{lossy}: pings are not answered"),
        PATH_GOODPUT.failed(broken, f"{broken}: iperf3: no route"),
        *(item for percent in (25, 100) for item in step(sound, percent, 0.05, 900)),
        *(item for percent in (25, 100) for item in step(lossy, percent, percent / 100, 900)),
        *(item for percent in (25, 100) for item in step(slow, percent, 0, 60 * percent)),
        *(item for percent in (25, 100) for item in step(starved, percent, 0, 900, sent=0.8)),
        STEP_LOSS.failed(broken, f"{broken}: iperf3: no route", step_case(25)),
        *step(strained, 100, 3, 900),
        STEP_HOST_DROPS.of(strained, 4321, step_case(100)),
    ]
    network = expecting(probed(measurements=measured), max_delay_ms="5.0")
    assert_golden("probe-path.txt", page_of("path", network))
    faults = {finding.subject for finding in findings(network) if finding.is_fault}
    assert faults == {lossy, slow, starved, broken, strained}


def test_a_delay_is_judged_only_with_a_limit() -> None:
    network = expecting(probed(measurements=step("n1 -> n2", 100, 0, 10**6)))
    assert "note: every path passes every step\n" in page_of("path", network)
    delayed = findings(expecting(network, max_delay_ms="999"))
    assert [finding.subject for finding in delayed if finding.is_fault] == ["n1 -> n2"]


def test_paths_of_which_nothing_was_measured_claim_nothing() -> None:
    assert page_of("path", probed([])) == "nothing was measured\n"


def gate_page(*recorded: RecordedProbes) -> str:
    newest = newest_probes(recorded)
    network = network_of(newest)
    return verdict(newest, network, expectation_faults(network, Expectation(1000 * MBIT, 1500)))


def test_the_gate_without_and_with_faults() -> None:
    verdicts = (gate_page(recorded) for recorded in (healthy(), measured_mesh()))
    assert_golden("probe-gate.txt", "\n".join(verdicts))


def test_an_emulated_network_is_marked_first() -> None:
    network = probed([a_link("node1")], facts={"emulated": "4 nodes on one host"})
    assert gate_page(network).startswith("emulated: 4 nodes on one host\n")


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

    def test_hosts_are_in_the_order_of_the_numbers_in_their_names(self) -> None:
        flows = (SoakFlow(1, "n10", "n2", 1.0, 20.0, 9.4e8),)
        probed = RecordedProbes(ProbeRun("1g", (), {"probe": "soak"}), flows, Ending.COMPLETED)
        lines = page_of("soak", probed).splitlines()
        assert [line.split()[0] for line in lines if line.startswith("n")][:2] == ["n2", "n10"]

    def test_the_gate_counts_its_faults_and_says_how_long_it_was(self) -> None:
        run = ProbeRun("1g", ("n1", "n2"), {"probe": "soak"}, started_at=STARTED_AT)
        soaked = RecordedProbes(run, tuple(soak_events()), Ending.COMPLETED)
        assert gate_page(healthy()).splitlines()[-1].startswith("not soaked: ")
        lines = gate_page(healthy(), soaked).splitlines()
        assert lines[0] == "2 faults found"
        assert "- 0:00:01 n1: the link was interrupted" in lines
        assert lines[-1] == "soaked for 7 s of link time under load"
