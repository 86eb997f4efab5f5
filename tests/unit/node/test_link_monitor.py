"""What a host prints once a second becomes readings, and their differences become link events."""

from dataclasses import replace

import pytest

from harness.model.soak import LinkEventKind
from harness.node.link_monitor import (
    LinkReading,
    kernel_trouble,
    link_events,
    link_seconds,
    read_monitor,
)
from harness.node.processor_ticks import ProcessorTicks

PRINTED = """== clock 100.50
eth0/statistics/rx_bytes:1000
eth0/statistics/tx_bytes:2000
eth0/statistics/rx_errors:1
eth0/statistics/tx_errors:2
eth0/statistics/rx_dropped:3
eth0/statistics/tx_dropped:4
eth0/carrier_changes:2
eth0/ifindex:4
eth0/speed:2500
eth0/duplex:full
eth0/device/../devnum:7
eth0/device/hwmon/hwmon3/temp1_input:61500
/sys/class/thermal/thermal_zone0/temp:40000
cpu  30 0 30 120 10 0 0 10 0 0
cpu0 10 0 10 70 5 0 0 5 0 0
cpu1 20 0 20 50 5 0 0 5 0 0
Tcp: RtoAlgorithm RetransSegs
Tcp: 1 372
     rx_flow_control_pause: 5
     tx_pause: 6
== done
"""

PROCESSORS = (ProcessorTicks(10, 0, 10, 70, 5, 0, 0, 5), ProcessorTicks(20, 0, 20, 50, 5, 0, 0, 5))
READING = LinkReading(100.5, 1000, 2000, 3, 7, 2, 2500, "full", 4, 7, 11, 372, PROCESSORS, 61.5)

KERNEL = """[   99.100000] eth0: NETDEV WATCHDOG: CPU: 1: transmit queue 0 timed out
[  101.250000] usb 2-1: reset SuperSpeed USB device number 7 using xhci_hcd
[  101.500000] r8152 2-1:1.0 eth0: carrier on
[  103.000000] systemd[1]: Started something
[  150.000000] igb 0000:01:00.0 eth0: igb: eth0 NIC Link is Down
"""


def readings(text: str) -> list[LinkReading | None]:
    printed = [(1.0, line) for line in text.splitlines()]
    return [reading for _, reading in read_monitor("eth0", printed)]


class TestReading:
    def test_has_everything_that_the_host_reports(self) -> None:
        assert readings(PRINTED) == [READING]

    def test_without_sensors_pauses_and_speed_is_a_reading_too(self) -> None:
        rare = ("speed", "devnum", "temp", "pause", "Tcp:", "carrier_changes")
        lines = [line for line in PRINTED.splitlines() if not any(word in line for word in rare)]
        [found] = readings("\n".join(lines))
        assert found == replace(
            READING,
            speed_mbit_s=None,
            usb_number=None,
            temperature_c=None,
            pauses=None,
            retransmits=None,
            carrier_changes=None,
        )

    def test_the_time_of_pauses_is_no_number_of_them(self) -> None:
        text = PRINTED.replace(
            "tx_pause: 6",
            "rx_prio0_pause: 6\n     rx_prio0_pause_duration: 90000\n     rx_prio0_pause_transition: 3\n"
            "     tx_pause_storm_warning_events: 1",
        )
        assert readings(text) == [READING]

    def test_is_read_quickly_however_long_a_line_is(self) -> None:
        long = f"{'pause' * 200_000}\n"
        assert readings(PRINTED.replace("     tx_pause", f"{long}     tx_pause")) == [READING]

    def test_without_the_interface_is_none(self) -> None:
        assert readings("== clock 7.00\ncpu0 1 0 1 7 0 0 0 0\n== done\n") == [None]

    def test_that_is_cut_off_is_not_read(self) -> None:
        assert readings(PRINTED + PRINTED.partition("Tcp")[0]) == [READING]

    @pytest.mark.parametrize("text", ["", "== done", "== clock x\n== done", "cpu0 x y\n== done"])
    def test_of_other_text_is_none_at_most(self, text: str) -> None:
        assert readings(text) in ([], [None])


class TestHappenings:
    def after(self, **fields: object) -> list[tuple[LinkEventKind, str, int]]:
        return list(link_events(READING, replace(READING, **fields)))  # type: ignore[arg-type]  of the test

    def test_nothing_happens_if_only_bytes_and_clock_grow(self) -> None:
        assert self.after(clock_s=101.5, received_bytes=9000, retransmits=400) == []

    def test_an_interrupted_link(self) -> None:
        assert self.after(carrier_changes=4) == [
            (LinkEventKind.CARRIER, "the link was interrupted: its carrier changed 2 times", 2)
        ]

    def test_a_carrier_that_counts_back_was_not_interrupted(self) -> None:
        assert self.after(carrier_changes=1) == []

    def test_another_speed(self) -> None:
        assert self.after(speed_mbit_s=100, duplex="half") == [
            (
                LinkEventKind.SPEED,
                "renegotiated from 2.5gbit full duplex to 100mbit half duplex",
                1,
            )
        ]

    def test_an_unknown_speed_is_no_other_speed(self) -> None:
        assert self.after(speed_mbit_s=None, duplex=None) == []

    def test_errors_drops_and_pauses_are_counted(self) -> None:
        assert self.after(errors=4, drops=9, pauses=12) == [
            (LinkEventKind.ERRORS, "1 packet with errors", 1),
            (LinkEventKind.DROPS, "2 packets dropped", 2),
            (LinkEventKind.PAUSE, "1 pause frame counted", 1),
        ]

    @pytest.mark.parametrize("field", ["index", "usb_number"])
    def test_a_replugged_card_counts_from_0(self, field: str) -> None:
        [(happening, _, _)] = self.after(**{field: 99, "errors": 0, "carrier_changes": 1})
        assert happening is LinkEventKind.REPLUGGED


class TestSeconds:
    def test_a_busy_processor_is_so_all_the_time_at_most(self) -> None:
        """The kernel may count less waiting for disks than before."""
        busy = ProcessorTicks(110, 0, 10, 70, 4, 0, 0, 5)
        later = replace(READING, clock_s=101.5, processors=(busy, PROCESSORS[1]))
        seconds = link_seconds("n1", [READING, later], 0.0)
        assert (seconds.busiest_percent, seconds.stolen_percent) == ((100.0,), (0.0,))

    def test_a_clock_that_goes_back_is_waited_for(self) -> None:
        clocks = (1.0, 5.0, 3.0, 4.0, 6.0)
        readings = [replace(READING, clock_s=clock_s) for clock_s in clocks]
        assert link_seconds("n1", readings, 0.0).at_s == (5.0, 6.0)


@pytest.mark.parametrize("caller", ["", "[  T512]", "[    C1]"])
def test_the_kernel_s_log_names_trouble_with_links(caller: str) -> None:
    log = KERNEL.replace("] ", f"]{caller} ", 2)
    found = list(kernel_trouble(log, after_s=100, until_s=120))
    assert found == [
        (101.25, "usb 2-1: reset SuperSpeed USB device number 7 using xhci_hcd"),
    ]
    assert len(list(kernel_trouble(log, after_s=0, until_s=999))) == 3
    long = f"[  110.000000] {'transmit queue ' * 200_000}\n"
    assert list(kernel_trouble(long + log, after_s=100, until_s=120)) == found
