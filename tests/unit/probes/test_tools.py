"""The output of iperf3, sockperf, ping and others is read: several versions, errors, cut and garbled text."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import ToolError
from harness.node import interface, iproute2
from harness.node.bond import read_bond
from harness.node.program import first_lines
from harness.node.queues import read_queues
from harness.probes.tools import cpu, fio, iperf3, perftest, ping, sockperf
from harness.probes.tools.ping import Echo, PingReply
from tests.unit.probe_builders import output

IPERF3 = ("3.2", "3.12", "3.16", "3.17-no-retransmits")
SOCKPERF = ("3.7", "3.10")

ARRIVED = """PING 10.77.0.2 (10.77.0.2) 1472(1500) bytes of data.
1480 bytes from 10.77.0.2: icmp_seq=1 ttl=64 time=0.236 ms

--- 10.77.0.2 ping statistics ---
3 packets transmitted, 1 received, 66.6667% packet loss, time 401ms
rtt min/avg/max/mdev = 0.072/0.154/0.236/0.082 ms
"""
LOST = """PING 10.77.0.2 (10.77.0.2) 8972(9000) bytes of data.

--- 10.77.0.2 ping statistics ---
3 packets transmitted, 0 received, 100% packet loss, time 407ms

"""
TOO_LONG = """PING 10.77.0.2 (10.77.0.2) 1473(1501) bytes of data.

--- 10.77.0.2 ping statistics ---
3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 403ms

"""
TOO_LONG_ERRORS = "ping: local error: message too long, mtu=1500\n" * 3
REFUSED_BY_ROUTER = """PING 10.1.0.2 (10.1.0.2) 1472(1500) bytes of data.
From 10.0.0.254 icmp_seq=1 Frag needed and DF set (mtu = 1400)

--- 10.1.0.2 ping statistics ---
3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 403ms

"""
BUSYBOX = """PING 10.77.0.2 (10.77.0.2): 56 data bytes
64 bytes from 10.77.0.2: seq=0 ttl=64 time=0.091 ms

--- 10.77.0.2 ping statistics ---
3 packets transmitted, 3 packets received, 0% packet loss
"""
PERFTEST = """---------------------------------------------------------------------------------------
                    Send Latency Test
 Dual-port       : OFF          Device         : mlx5_0
---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    \
t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 64      1000          1.42           6.93         1.47     \t       1.49        \t0.09   \t\t1.57    \
\t\t3.93
---------------------------------------------------------------------------------------
"""


class TestIperf3:
    def test_a_server_serves_on_the_network_under_test_alone(self) -> None:
        assert " ".join(iperf3.server("10.0.0.1", 5201)).startswith(
            "iperf3 -s -1 -B 10.0.0.1 -p 5201"
        )

    @pytest.mark.parametrize("version", IPERF3)
    def test_reports_the_goodput_that_arrived(self, version: str) -> None:
        report = iperf3.read_report(output(f"iperf3-{version}.json"))
        assert report.goodput_bit_s == pytest.approx(95e6, rel=0.02)
        assert report.seconds == pytest.approx(3, rel=0.05)

    def test_reports_the_processor_time_of_both_hosts(self) -> None:
        report = iperf3.read_report(output("iperf3-3.12.json"))
        percent = json.loads(output("iperf3-3.12.json"))["end"]["cpu_utilization_percent"]
        assert report.sender_cpu_percent == percent["host_total"] > 0
        assert report.receiver_cpu_percent == percent["remote_total"] > 0

    def test_reports_no_retransmits_if_the_version_counts_none(self) -> None:
        assert iperf3.read_report(output("iperf3-3.12.json")).retransmits is not None
        assert iperf3.read_report(output("iperf3-3.17-no-retransmits.json")).retransmits is None

    @pytest.mark.parametrize(
        ("name", "error"),
        [
            ("3.12-refused", "iperf3: unable to connect to server: Connection refused"),
            ("3.12-terminated", "iperf3: the server has terminated"),
        ],
    )
    def test_an_error_in_the_report_is_raised(self, name: str, error: str) -> None:
        with pytest.raises(ToolError, match=error):
            iperf3.read_report(output(f"iperf3-{name}.json"))

    @pytest.mark.parametrize(
        ("received", "error"),
        [
            ({"bits_per_second": 0, "bytes": 0}, "nothing arrived"),
            # Before 3.7, iperf3 counted by the time of day.
            ({"seconds": -57.0}, "iperf3: the clock was set back while it ran: -57 s passed"),
        ],
    )
    def test_nothing_that_arrived_in_time_is_an_error_and_not_0(
        self, received: dict[str, float], error: str
    ) -> None:
        report = json.loads(output("iperf3-3.12.json"))
        report["end"]["sum_received"] |= received
        with pytest.raises(ToolError, match=error):
            iperf3.read_report(json.dumps(report))

    @pytest.mark.parametrize("text", ["", "{}", "[]", "null", "3", '{"end": {}}', "[" * 100_000])
    def test_output_without_a_report_is_an_error(self, text: str) -> None:
        with pytest.raises(ToolError):
            iperf3.read_report(text)


class TestSockperf:
    @pytest.mark.parametrize("version", SOCKPERF)
    def test_reports_round_trip_times_by_percentile(self, version: str) -> None:
        trips = sockperf.read_round_trips(output(f"sockperf-{version}.txt"))
        assert list(trips.microseconds) == [50, 90, 99, 99.9]
        assert trips.microseconds[99.9] == 327.737
        assert trips.per_second == pytest.approx(41670 / 1.55)

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            (output("sockperf-3.7-refused.txt"), "Can`t connect socket .*Connection refused"),
            ("sockperf: '-i' Invalid address: nosuch\nUsage: ...", "'-i' Invalid address"),
            ("", "no statistics"),
            (
                output("sockperf-3.7.txt").partition("sockperf: Test end")[0]
                + "sockperf: ERROR: A connection was forcibly closed by a peer (errno=0 Success)",
                "forcibly closed",
            ),
        ],
    )
    def test_an_error_is_raised(self, text: str, error: str) -> None:
        with pytest.raises(ToolError, match=error):
            sockperf.read_round_trips(text)


class TestPing:
    @pytest.mark.parametrize(
        ("printed", "echo"), [(ARRIVED, Echo.ARRIVED), (BUSYBOX, Echo.ARRIVED), (LOST, Echo.LOST)]
    )
    def test_one_packet_that_arrives_is_enough(self, printed: str, echo: Echo) -> None:
        warning = "Warning: time of day goes back (-12us), taking countermeasures"
        assert ping.read_answer(printed, warning) == PingReply(echo)

    @pytest.mark.parametrize(
        ("printed", "errors", "mtu", "is_from_sender"),
        [
            (TOO_LONG, TOO_LONG_ERRORS, 1500, True),
            (TOO_LONG, "ping: local error: message too long, mtu: 1400", 1400, True),
            (TOO_LONG, "ping: sendmsg: Message too long", None, True),
            (REFUSED_BY_ROUTER, "", 1400, False),
            # The sender refuses the second packet, because it remembers what a router said of the first.
            (REFUSED_BY_ROUTER, TOO_LONG_ERRORS, 1400, False),
            (TOO_LONG, "Packet too big", None, False),
            (TOO_LONG, f"Packet too big, mtu: {'9' * 5000}", None, False),
        ],
    )
    def test_a_refusal_may_name_the_mtu_and_is_of_the_sender_or_of_a_router(
        self,
        printed: str,
        errors: str,
        mtu: int | None,
        is_from_sender: bool,  # noqa: FBT001
    ) -> None:
        assert ping.read_answer(printed, errors) == PingReply(Echo.REFUSED, mtu, is_from_sender)

    @pytest.mark.parametrize(
        "error",
        ["ping: nosuch: Temporary failure in name resolution", "ping: unrecognized option: M"],
    )
    def test_a_packet_that_could_not_be_sent_is_an_error(self, error: str) -> None:
        with pytest.raises(ToolError, match=error):
            ping.read_answer("", f"{error}\nUsage: ping ...")

    def test_a_long_number_takes_no_longer_than_other_texts(self) -> None:
        """In quadratic time, this would take minutes."""
        with pytest.raises(ToolError, match="no summary"):
            ping.read_answer("1" * 200_000, "")

    @pytest.mark.parametrize(("address", "size"), [("10.0.0.1", "1472"), ("fd00::1", "1452")])
    def test_the_size_is_that_of_the_whole_packet(self, address: str, size: str) -> None:
        command = ping.command(address, 1500)
        assert command[command.index("-s") + 1] == size


class TestCpu:
    def test_is_the_difference_of_two_readings(self) -> None:
        found = cpu.read_meter(output("proc-stat.txt"))
        total, busy, softirq = 162 + 9 + 27 + 1, 162 + 9 + 1, 1
        assert found.busy_percent == pytest.approx(100 * busy / total)
        assert found.softirq_percent == pytest.approx(100 * softirq / total)
        assert found.stolen_percent == 0
        assert found.busiest_percent == pytest.approx(100 * 89 / 99)

    def test_of_a_busy_processor_is_known_also_if_its_idle_time_decreased(self) -> None:
        before = "cpu  100 0 0 50 9 0 0 0\ncpu0 100 0 0 50 9 0 0 0\n"
        after = "cpu  200 0 0 50 8 0 0 0\ncpu0 200 0 0 50 8 0 0 0\n"
        found = cpu.read_meter(before + after)
        assert (found.busy_percent, found.busiest_percent) == (100, 100)

    def test_what_a_hypervisor_took_is_of_all_processors(self) -> None:
        before = "cpu  0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n"
        after = "cpu  20 0 0 90 0 0 0 90\ncpu0 10 0 0 0 0 0 0 90\ncpu1 10 0 0 90 0 0 0 0\n"
        found = cpu.read_meter(before + after)
        assert found.stolen_percent == 45
        assert found.busiest_percent == 100

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8",
            "cpu  9 9 9 9 9 9 9 9\ncpu0 1\ncpu  1 1 1 1 1 1 1 1\ncpu0 1",
            "cpu  1 2 3 4\ncpu0 1\ncpu  2 3 4 5\ncpu0 1",
            "cpu  1 2 3 4 5 6 7 8\ncpu0 1\ncpu  1 2 3 4 5 6 7 8\ncpu0 1",
        ],
    )
    def test_incomplete_readings_are_an_error(self, text: str) -> None:
        with pytest.raises(ToolError):
            cpu.read_meter(text)


class TestPerftest:
    def test_latencies_are_read_from_their_columns(self) -> None:
        assert perftest.read_latency(PERFTEST) == perftest.RdmaLatency(1.47, 1.57, 3.93)

    @pytest.mark.parametrize("text", ["", "Unable to find the Infiniband/RoCE device"])
    def test_output_without_a_table_is_an_error(self, text: str) -> None:
        with pytest.raises(ToolError):
            perftest.read_latency(text)

    def test_columns_without_a_space_between_them_are_an_error(self) -> None:
        with pytest.raises(ToolError):
            perftest.read_latency(PERFTEST.replace("0.09   \t\t1.57", "2465.901216.65"))


class TestRoute:
    @pytest.mark.parametrize(
        ("route", "device"),
        [
            ('{"dst":"10.0.0.2","dev":"eth0","prefsrc":"10.0.0.1","flags":[],"cache":[]}', "eth0"),
            ('{"dst":"default","nhid":9,"nexthops":[{"dev":"eth1"},{"dev":"eth1"}]}', "eth1"),
            ('{"nexthops":[{"dev":"eth1","flags":["dead","linkdown"]},{"dev":"eth2"}]}', "eth2"),
            ('{"dev":"eth0","flags":["dead"]},{"dst":"default","dev":"wlan0"}', "wlan0"),
        ],
    )
    def test_leads_to_the_only_device(self, route: str, device: str) -> None:
        assert iproute2.read_route_device(f"[{route}]") == device

    @pytest.mark.parametrize(
        ("route", "reason"),
        [
            (
                '{"nexthops":[{"dev":"eth1"},{"dev":"eth2"}]}',
                "several routes lead there (eth1, eth2)",
            ),
            ('{"type":"blackhole","dst":"default","flags":[]}', "no route leads there"),
            ('{"nexthops":[]},{"nexthops":["eth0"]}', "no route leads there"),
        ],
    )
    def test_without_an_only_device_is_an_error(self, route: str, reason: str) -> None:
        with pytest.raises(ToolError, match=reason.replace("(", r"\(").replace(")", r"\)")):
            iproute2.read_route_device(f"[{route}]")

    def test_without_json_needs_the_version_that_prints_it(self) -> None:
        """As iproute2 4.15 prints it."""
        with pytest.raises(ToolError, match="needs iproute2 5"):
            iproute2.read_route_device("10.0.0.2 dev eth0 src 10.0.0.1 uid 0 \n    cache \n")

    @pytest.mark.parametrize(
        "printed",
        [
            '[{"local","dst":"127.0.0.1","dev":"lo"}]',
            '[{"dst":"10.0.0.2","dev":"eth0",}]',
            '[{"dst":"10.0.0.2","dev":"eth0"',
            '[{"options": {fh 800: ht divisor 1 }}]',
        ],
    )
    def test_that_is_broken_json_is_no_sign_of_an_old_version(self, printed: str) -> None:
        with pytest.raises(ToolError, match="broken JSON, a fault of this version of iproute2"):
            iproute2.read_route_device(printed)

    @pytest.mark.parametrize(
        "name", ["", "e;id>q;#", "-x", "a/b", "a b", "x" * 16, "e\x1b[2J", ["a"]]
    )
    def test_leads_to_no_device_that_a_program_could_misread(self, name: object) -> None:
        with pytest.raises(ToolError):
            iproute2.read_route_device(json.dumps([{"dev": name}]))


PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    **{
        f"iperf3 {version}": (iperf3.read_report, output(f"iperf3-{version}.json"))
        for version in IPERF3
    },
    **{
        f"sockperf {version}": (sockperf.read_round_trips, output(f"sockperf-{version}.txt"))
        for version in SOCKPERF
    },
    "fio": (fio.read_report, output("fio-3.33.json")),
    "ping": (lambda text: ping.read_answer(text, text), ARRIVED + TOO_LONG_ERRORS),
    "/proc/stat": (cpu.read_meter, output("proc-stat.txt")),
    "perftest": (perftest.read_latency, PERFTEST),
    "ip route": (
        iproute2.read_route_device,
        '[{"dst":"10.0.0.2","dev":"eth0","prefsrc":"10.0.0.1"}]',
    ),
    "ip address": (iproute2.read_addresses, '[{"addr_info":[{"local":"10.0.0.1"}]}]'),
    "ip link": (partial(iproute2.read_device, "node1"), output("link-veth.txt").split("\n")[1]),
    "tc qdisc": (
        lambda text: read_queues({"queue": text}, None),
        '[{"kind":"tbf","root":true,"options":{"rate":125000}}]',
    ),
    "link": (partial(interface.parse_link, "node1", "br0"), output("link-bridge-6.1.txt")),
    "ethtool": (interface.read_offloads, output("link-virtio.txt")),
    "bonding": (read_bond, output("link-bond.txt")),
    "files": (first_lines, output("link-usb.txt")),
}


def numbers(parsed: object) -> list[float]:
    """Return the measured values of a parser that measures."""
    match parsed:
        case iperf3.Report():
            return [parsed.goodput_bit_s]
        case sockperf.RoundTrips():
            return [*parsed.microseconds.values(), parsed.per_second]
        case dict():
            return [each.bytes_s for each in parsed.values() if isinstance(each, fio.Pace)]
        case perftest.RdmaLatency():
            return [parsed.typical_us, parsed.p99_us, parsed.p999_us]
        case _:
            return []


@settings(max_examples=10 * settings().max_examples)
@given(st.sampled_from(sorted(PARSERS)), st.data())
def test_cut_or_garbled_output_is_a_tool_error_or_has_positive_values(
    name: str, data: st.DataObject
) -> None:
    """No parser raises anything but ToolError, and none returns 0 for what it cannot read."""
    parse, whole = PARSERS[name]
    at = st.integers(0, len(whole))
    start, end = sorted((data.draw(at), data.draw(at)))
    kept = data.draw(st.sampled_from([whole[:start], whole[start:], whole[:start] + whole[end:]]))
    noise = data.draw(st.text(st.sampled_from('\n{}[]":, -0e9.xµ\x1b'), max_size=5))
    position = data.draw(st.integers(0, len(kept)))
    garbled = kept[:position] + noise + kept[position:]
    with suppress(ToolError):
        assert all(number > 0 for number in numbers(parse(garbled)))


@pytest.mark.parametrize(
    "name", [f"iperf3 {version}" for version in IPERF3] + ["sockperf 3.7", "perftest"]
)
def test_output_cut_anywhere_is_an_error(name: str) -> None:
    """A measurement is read from a complete report alone."""
    parse, whole = PARSERS[name]
    needed = whole.rstrip("-\n ")
    for end in range(0, len(needed) - 1, 7):
        with pytest.raises(ToolError):
            parse(whole[:end])


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        *(
            (
                output("fio-3.33.json").replace("fio-3.33", version).replace("bw_bytes", "no"),
                0,
                f"^{version} is too old: 3.4 or newer is needed$",
            )
            for version in ("fio-3.0", "fio-3.1", "fio-3.3-17-g1c2d", "fio-2.2.10")
        ),
        (output("fio-3.33.json").replace("clat_ns", "clat"), 0, "3.4 or newer is needed"),
        ("[]", 0, "fio printed no report"),
        ("", 137, "fio was ended by signal 9"),
        (output("fio-3.33.json"), 1, "fio failed, code 1"),
    ],
    ids=["3.0", "3.1", "of 3.3", "2.2", "without a part", "no object", "killed", "failed"],
)
def test_a_report_of_fio_that_shows_no_whole_measurement_says_why(
    text: str, code: int, message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        fio.read_report(text, code)


@pytest.mark.parametrize("version", ["fio-3.4", "fio-3.33", "fio-4.0", "fio-master"])
def test_a_report_of_fio_is_read_between_what_it_remarks(version: str) -> None:
    report = output("fio-3.33.json").replace("fio-3.33", version)
    remarked = (
        f"fio: this platform {{ }} is strange\n{report}\nfio: file hash not empty on exit {{\n"
    )
    assert fio.read_report(remarked) == fio.read_report(output("fio-3.33.json"))


def test_fio_is_read_behind_the_line_that_nothing_showed_what_is_below_a_directory() -> None:
    report = output("fio-3.33.json")
    unknown = f"{fio.NOT_LOOKED_AT}\n{report}"
    assert fio.may_be_in_memory(unknown)
    assert not fio.may_be_in_memory(report)
    assert fio.read_report(unknown) == fio.read_report(report)
    with pytest.raises(ToolError, match="fio printed no report"):
        fio.read_report(fio.NOT_LOOKED_AT)
