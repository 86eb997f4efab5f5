"""What a host prints of a link becomes a reading, and differences of readings become link events."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from harness.child_process import finished
from harness.model.soak import LinkEventKind
from harness.node.link_reading import (
    LinkReading,
    kernel_trouble,
    link_command,
    link_events,
    read_link,
)
from tests.programs import shell_program
from tests.unit.probe_builders import output

PRINTED = """100.50 380.20
/sys/class/net/eth0/statistics/rx_errors:1
/sys/class/net/eth0/statistics/tx_errors:2
/sys/class/net/eth0/statistics/rx_dropped:3
/sys/class/net/eth0/statistics/tx_dropped:4
/sys/class/net/eth0/carrier_changes:2
/sys/class/net/eth0/ifindex:4
/sys/class/net/eth0/speed:2500
/sys/class/net/eth0/duplex:full
/sys/class/net/eth0/device/../devnum:7
     rx_flow_control_pause: 5
     tx_pause: 6
== kernel log
"""

READING = LinkReading(100.5, 3, 7, 2, 2500, "full", 4, 7, 11)

TROUBLE, _, ORDINARY = output("kernel-log-4.18-to-6.12.txt").partition("== ordinary\n")


class TestReading:
    def test_has_everything_that_the_host_reports(self) -> None:
        assert read_link("eth0", PRINTED) == READING

    def test_without_pauses_and_speed_is_a_reading_too(self) -> None:
        rare = ("speed", "devnum", "pause", "carrier_changes")
        lines = [line for line in PRINTED.splitlines() if not any(word in line for word in rare)]
        assert read_link("eth0", "\n".join([*lines, ""])) == replace(
            READING, speed_mbit_s=None, usb_number=None, pauses=None, carrier_changes=None
        )

    def test_the_time_of_pauses_is_no_number_of_them(self) -> None:
        text = PRINTED.replace(
            "tx_pause: 6",
            "rx_prio0_pause: 6\n     rx_prio0_pause_duration: 90000\n     rx_prio0_pause_transition: 3\n"
            "     tx_pause_storm_warning_events: 1",
        )
        assert read_link("eth0", text) == READING

    def test_is_read_quickly_however_long_a_line_is(self) -> None:
        long = f"{'pause' * 200_000}\n"
        text = PRINTED.replace("     tx_pause", f"{long}     tx_pause")
        assert read_link("eth0", text) == READING

    @pytest.mark.parametrize("text", ["", "7.00 9.00\n== kernel log\n", "x\n/a:b\n"])
    def test_without_the_interface_is_none(self, text: str) -> None:
        assert read_link("eth0", text) is None


class TestKernelLog:
    @pytest.mark.parametrize("line", TROUBLE.splitlines())
    def test_has_each_line_about_trouble(self, line: str) -> None:
        [(clock_s, text)] = kernel_trouble(line)
        assert f"[{clock_s:>12.6f}] {text}" == line

    @pytest.mark.parametrize("caller", ["", "[  T512]", "[    C1]"])
    def test_is_part_of_a_reading(self, caller: str) -> None:
        long = f"[  110.000000] {'transmit queue ' * 200_000}\n"
        line = f"[  101.250000]{caller} usb 2-1: USB disconnect, device number 7\n"
        reading = read_link("eth0", f"{PRINTED}{line}{long}")
        found = (101.25, "usb 2-1: USB disconnect, device number 7")
        assert reading == replace(READING, trouble=(found,))

    @pytest.mark.parametrize("line", ORDINARY.splitlines())
    def test_has_no_ordinary_line(self, line: str) -> None:
        assert list(kernel_trouble(line)) == []

    def test_is_searched_on_the_host_for_the_same_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shell_program(tmp_path / "dmesg", f"cat <<'E'\n{TROUBLE}{ORDINARY}E")
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        printed = finished(link_command("lo")).stdout.partition("== kernel log\n")[2]
        assert printed.startswith(TROUBLE)
        assert len(printed) < len(TROUBLE) + 200


class TestEvents:
    def after(self, **fields: object) -> list[tuple[LinkEventKind, str, int]]:
        return list(link_events(READING, replace(READING, **fields)))  # type: ignore[arg-type]  of the test

    @pytest.mark.parametrize(
        "same", [{"clock_s": 101.5}, {"carrier_changes": 1}, {"speed_mbit_s": None, "duplex": None}]
    )
    def test_there_is_none_if_only_the_clock_goes_on_or_less_is_known(
        self, same: dict[str, object]
    ) -> None:
        assert self.after(**same) == []

    def test_are_all_that_happened_to_the_link(self) -> None:
        fields = {"carrier_changes": 4, "speed_mbit_s": 100, "duplex": "half"}
        counted = {"errors": 4, "drops": 9, "pauses": 12}
        assert self.after(**fields, **counted) == [
            (LinkEventKind.CARRIER, "the link was interrupted: its carrier changed 2 times", 2),
            (
                LinkEventKind.SPEED,
                "renegotiated from 2.5gbit full duplex to 100mbit half duplex",
                1,
            ),
            (LinkEventKind.ERRORS, "1 packet with errors", 1),
            (LinkEventKind.DROPS, "2 packets dropped", 2),
            (LinkEventKind.PAUSE, "1 pause frame counted", 1),
        ]

    @pytest.mark.parametrize("field", ["index", "usb_number"])
    def test_a_replugged_card_counts_from_0(self, field: str) -> None:
        [(kind, _, _)] = self.after(**{field: 99, "errors": 0, "carrier_changes": 1})
        assert kind is LinkEventKind.REPLUGGED
