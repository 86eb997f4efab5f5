"""What a host prints of a link becomes a reading, and differences of readings become link events."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.child_process import finished
from harness.model.soak import LinkEventKind
from harness.node.kernel_log import KernelLog, LogLine
from harness.node.link_reading import (
    DeviceReading,
    LinkReading,
    link_events,
    read_link,
    reading_command,
)
from tests.programs import shell_program

HOST = """== host
/proc/sys/kernel/random/boot_id:5f9c2f4e-6a4b-4b5c-8d3e-0f1a2b3c4d5e
== cards
0000:03:00.0
eth0
igb
== newest
[  100.500000] igb 0000:03:00.0 eth0: NIC Link is Up
== kernel log
"""
PRINTED = f"""== files
/sys/class/net/eth0/statistics/rx_errors:1
/sys/class/net/eth0/statistics/tx_errors:2
/sys/class/net/eth0/statistics/rx_dropped:3
/sys/class/net/eth0/statistics/tx_dropped:4
/sys/class/net/eth0/carrier_changes:2
/sys/class/net/eth0/ifindex:4
/sys/class/net/eth0/speed:2500
/sys/class/net/eth0/duplex:full
/sys/class/net/eth0/device/../devnum:7
== statistics
     rx_flow_control_pause: 5
     tx_pause: 6
{HOST}"""

DEVICE = DeviceReading(3, 7, 2, 2500, "full", 4, 7, 11)
READING = LinkReading(
    **vars(DEVICE),
    device="eth0",
    boot="5f9c2f4e-6a4b-4b5c-8d3e-0f1a2b3c4d5e",
    log=KernelLog(newest_s=100.5),
)


def files(device: str, **values: int | str) -> str:
    """Return the lines of a device's files; names have `__` for a slash."""
    usual = {
        "statistics__rx_errors": 0,
        "statistics__tx_errors": 0,
        "statistics__rx_dropped": 0,
        "statistics__tx_dropped": 0,
        "carrier_changes": 1,
        "ifindex": sum(device.encode()),
    }
    both = {name.replace("__", "/"): value for name, value in {**usual, **values}.items()}
    lines = [f"/sys/class/net/{device}/{name}:{value}\n" for name, value in both.items()]
    return "".join(["== files\n", *lines])


class TestReading:
    def test_has_everything_that_the_host_reports(self) -> None:
        assert read_link("eth0", PRINTED) == READING

    def test_without_pauses_speed_and_bus_is_a_reading_too(self) -> None:
        rare = ("speed", "devnum", "pause")
        lines = [line for line in PRINTED.splitlines() if not any(word in line for word in rare)]
        assert read_link("eth0", "\n".join([*lines, ""])) == replace(
            READING, speed_mbit_s=None, usb_number=None, pauses=None
        )

    def test_is_read_quickly_however_long_a_line_is(self) -> None:
        long = f"{'pause' * 200_000}\n"
        text = PRINTED.replace("     tx_pause", f"{long}     tx_pause")
        assert read_link("eth0", text) == READING

    @pytest.mark.parametrize("text", ["", HOST, "x\n/a:b\n", "== below eth0 card\n"])
    def test_without_the_interface_is_none(self, text: str) -> None:
        assert read_link("eth0", text) is None

    @pytest.mark.parametrize("caller", ["", "[  T512]", "[    C1]"])
    def test_has_the_lines_of_the_kernels_log(self, caller: str) -> None:
        long = f"[  110.000000] {'transmit queue ' * 200_000}\n"
        line = f"[  101.250000]{caller} usb 2-1: USB disconnect, device number 7\n"
        reading = read_link("eth0", f"{PRINTED}{line}{long}")
        found = LogLine(101.25, "usb 2-1: USB disconnect, device number 7")
        assert reading == replace(READING, log=KernelLog((found,), 100.5))

    def test_has_the_devices_below_in_an_order_in_which_the_upper_come_first(self) -> None:
        chain = (("br0", "vlan10"), ("vlan10", "card"), ("br0", "vlan20"), ("vlan20", "card"))
        parts = [f"== below {upper} {lower}\n{files(lower)}" for upper, lower in chain]
        reading = read_link("br0", files("br0") + "".join(parts) + HOST)
        assert reading is not None
        assert [*reading.devices] == ["br0", "vlan10", "vlan20", "card"]
        assert reading.below == {
            "br0": ["vlan10", "vlan20"],
            "vlan10": ["card"],
            "vlan20": ["card"],
        }

    def test_has_how_often_a_bond_saw_each_member_fail(self) -> None:
        seen = {"eth1": 3, "eth2": 0}
        members = "".join(
            f"Slave Interface: {k}\nLink Failure Count: {v}\n" for k, v in seen.items()
        )
        reading = read_link("bond0", f"{files('bond0')}== bond\n{members}{HOST}")
        assert reading is not None
        assert reading.failures == seen


class TestUnread:
    """What cannot be looked at is known to be unknown, with the reason."""

    @pytest.mark.parametrize(
        ("said", "why"),
        [
            ("dmesg: read kernel buffer failed: Operation not permitted", "root can"),
            ("dmesg: klogctl: Operation not permitted", "root can"),
            ("dmesg: /dev/kmsg: Permission denied", "root can"),
            ("sh: 1: dmesg: not found\ndmesg ended with code 127", "dmesg is not installed"),
            ("dmesg ended with code 4", "dmesg ended with code 4"),
            ("grep: Invalid regular expression", "grep: Invalid regular expression"),
        ],
    )
    def test_is_a_log_that_dmesg_does_not_show(self, said: str, why: str) -> None:
        text = PRINTED.replace("[  100.500000] igb 0000:03:00.0 eth0: NIC Link is Up\n", "")
        reading = read_link("eth0", f"{text}== no log\n{said}\n")
        assert reading == replace(READING, log=None, unread={LinkEventKind.KERNEL: why})

    def test_is_a_log_before_which_the_answer_ends(self) -> None:
        reading = read_link("eth0", PRINTED.partition("== newest")[0])
        assert reading is not None
        assert reading.log is None
        assert LinkEventKind.KERNEL in reading.unread

    def test_is_what_dmesg_complains_of_while_it_shows_the_log(self) -> None:
        reading = read_link("eth0", f"{PRINTED}== no log\ndmesg: some lines are missing\n")
        assert reading == replace(
            READING, unread={LinkEventKind.KERNEL: "dmesg: some lines are missing"}
        )

    @pytest.mark.parametrize(
        ("said", "why"),
        [
            ("sh: 1: ethtool: not found", "ethtool is not installed"),
            ("ethtool: Operation not permitted", "root can"),
            ("no stats available", None),
            ("netlink error: Operation not supported", None),  # of interfaces that count nothing
        ],
    )
    def test_are_statistics_that_ethtool_does_not_show(self, said: str, why: str | None) -> None:
        reading = read_link("eth0", f"{files('eth0')}== no statistics\n{said}\n{HOST}")
        assert reading is not None
        assert reading.unread == ({} if why is None else {LinkEventKind.PAUSE: why})
        assert reading.pauses is None

    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("carrier_changes", LinkEventKind.CARRIER),
            ("statistics/tx_dropped", LinkEventKind.ERRORS),
        ],
    )
    def test_are_counters_that_the_kernel_does_not_show(
        self, name: str, kind: LinkEventKind
    ) -> None:
        text = "".join(line for line in files("eth0").splitlines(keepends=True) if name not in line)
        reading = read_link("eth0", text + HOST)
        assert reading is not None
        assert reading.unread == {kind: "its kernel shows none"}

    def test_are_those_of_a_device_below_that_was_not_asked(self) -> None:
        reading = read_link("br0", f"{files('br0')}== below br0 tap33\n{HOST}")
        assert reading is not None
        assert reading.unread[LinkEventKind.ERRORS] == "its kernel shows none of tap33"

    def test_are_all_counters_where_there_is_no_sysfs(self) -> None:
        reading = read_link("eth0", HOST.replace("== cards", "no devices\n== cards"))
        assert reading is not None
        assert {*reading.unread} == {LinkEventKind.CARRIER, LinkEventKind.ERRORS}


class TestCommand:
    """The script, with programs that a host might have in place of its own."""

    @pytest.fixture(autouse=True)
    def programs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def read(self) -> LinkReading:
        reading = read_link("lo", finished(reading_command("lo")).stdout)
        assert reading is not None
        return reading

    def test_says_why_the_log_cannot_be_read(self, tmp_path: Path) -> None:
        shell_program(tmp_path / "dmesg", "echo 'dmesg: Operation not permitted' >&2; exit 1")
        reading = self.read()
        assert reading.log is None
        assert reading.unread[LinkEventKind.KERNEL] == "root can"

    def test_says_that_a_program_is_missing(self, tmp_path: Path) -> None:
        for name in ("dmesg", "ethtool"):
            shell_program(tmp_path / name, f"echo 'sh: 1: {name}: not found' >&2; exit 127")
        assert self.read().unread == {
            LinkEventKind.KERNEL: "dmesg is not installed",
            LinkEventKind.PAUSE: "ethtool is not installed",
        }

    def test_reads_an_empty_log(self, tmp_path: Path) -> None:
        shell_program(tmp_path / "dmesg", "exit 0")
        reading = self.read()
        assert reading.log == KernelLog()
        assert LinkEventKind.KERNEL not in reading.unread

    def test_reads_the_newest_line_and_those_about_trouble(self, tmp_path: Path) -> None:
        lines = (
            "[  1.000000] r8152 2-1:1.0 eth1: Tx status -71\n[  9.500000] random: crng init done"
        )
        shell_program(tmp_path / "dmesg", f"cat <<'E'\n{lines}\nE")
        trouble = LogLine(1.0, "r8152 2-1:1.0 eth1: Tx status -71")
        assert self.read().log == KernelLog((trouble,), 9.5)

    def test_reads_pause_frames_without_the_word(self, tmp_path: Path) -> None:
        counters = "NIC statistics:\n     rx_flow_control_xon: 3\n     tx_flow_control_xoff: 4"
        shell_program(tmp_path / "ethtool", f"cat <<'E'\n{counters}\nE")
        assert self.read().pauses == 7


def happened(before: LinkReading, after: LinkReading) -> list[tuple[LinkEventKind, str, int]]:
    return list(link_events(before, after))


class TestEvents:
    def after(self, **fields: Any) -> list[tuple[LinkEventKind, str, int]]:
        return happened(READING, replace(READING, **fields))

    @pytest.mark.parametrize(
        "same", [{"carrier_changes": 1}, {"speed_mbit_s": None, "duplex": None}, {"log": None}]
    )
    def test_there_is_none_if_less_is_known(self, same: dict[str, object]) -> None:
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

    def test_have_the_new_lines_of_the_log(self) -> None:
        line = LogLine(101.0, "igb 0000:03:00.0 eth0: Reset adapter")
        assert self.after(log=KernelLog((line,), 101.0)) == [(LinkEventKind.KERNEL, line.text, 1)]

    @pytest.mark.parametrize("boot", ["another", None])
    def test_of_a_host_that_was_restarted_are_nothing_else(self, boot: str | None) -> None:
        line = LogLine(3.0, "igb 0000:03:00.0 eth0: Link is Down")
        log = KernelLog((line,), 20.0)
        assert self.after(boot=boot, log=log, errors=99) == [
            (LinkEventKind.LOST, "it was restarted", 1)
        ]


def linked(below: Mapping[str, list[str]], **changed: Mapping[str, Any]) -> LinkReading:
    """Return a reading of `top` and of what is below it; `changed` has fields by device."""
    lower = dict.fromkeys(name for names in below.values() for name in names)
    at_rest = DeviceReading(0, 0, 2, 1000, "full", 4, None, 0)
    devices = {name: replace(at_rest, **changed.get(name, {})) for name in ("top", *lower)}
    own = vars(devices.pop("top"))
    return LinkReading(**own, device="top", lower=devices, below=below)


BRIDGE = {"top": ["card", "tap0"]}
VLAN_ON_BOND = {"top": ["bond0"], "bond0": ["eth1", "eth2"]}
CARRIER, ERRORS, SPEED = LinkEventKind.CARRIER, LinkEventKind.ERRORS, LinkEventKind.SPEED
FLAP = "the link was interrupted: its carrier changed 2 times"


class TestEventsBelow:
    """What happens to a card below a bridge or bond is an event, and is reported once."""

    @pytest.mark.parametrize(
        ("below", "changed", "found"),
        [
            (BRIDGE, {"card": {"carrier_changes": 4}}, [(CARRIER, f"card: {FLAP}", 2)]),
            (BRIDGE, {"card": {"errors": 3}}, [(ERRORS, "card: 3 packets with errors", 3)]),
            (
                BRIDGE,
                {"card": {"speed_mbit_s": 100}, "top": {"speed_mbit_s": 100}},
                [(SPEED, "card: renegotiated from 1gbit full duplex to 100mbit full duplex", 1)],
            ),
            (
                BRIDGE,
                {"card": {"carrier_changes": 4}, "top": {"carrier_changes": 4}},
                [(CARRIER, f"card: {FLAP}", 2)],
            ),
            (
                BRIDGE,
                {"card": {"index": 9}},
                [(
                    LinkEventKind.REPLUGGED,
                    "card: the interface was removed and came back (as at a USB reset)",
                    1,
                )],
            ),
            (
                VLAN_ON_BOND,
                {
                    "eth1": {"carrier_changes": 4},
                    "bond0": {"failures": {"eth1": 1}, "speed_mbit_s": 2000},
                },
                [(CARRIER, f"eth1: {FLAP}", 2)],
            ),
            (
                VLAN_ON_BOND,
                {"bond0": {"failures": {"eth2": 1}}},  # ARP found no answer
                [(CARRIER, "bond0: the bond saw its member eth2 fail 1 time", 1)],
            ),
            (
                VLAN_ON_BOND,
                {"eth1": {"errors": 2}, "eth2": {"errors": 3}, "bond0": {"errors": 5}},
                [
                    (ERRORS, "eth2: 3 packets with errors", 3),
                    (ERRORS, "eth1: 2 packets with errors", 2),
                ],
            ),
            (
                VLAN_ON_BOND,
                {"eth1": {"drops": 2}, "bond0": {"drops": 7}},
                [
                    (LinkEventKind.DROPS, "eth1: 2 packets dropped", 2),
                    (LinkEventKind.DROPS, "bond0: 5 packets dropped", 5),
                ],
            ),
            (
                {"top": ["vlan7"], "vlan7": ["team0"], "team0": ["card"]},
                {name: {"carrier_changes": 4} for name in ("top", "vlan7", "team0", "card")},
                [(CARRIER, f"card: {FLAP}", 2)],
            ),
        ],
    )  # fmt: skip
    def test_is_of_the_lowest_device(
        self,
        below: Mapping[str, list[str]],
        changed: Mapping[str, Mapping[str, int]],
        found: list[tuple[LinkEventKind, str, int]],
    ) -> None:
        no_failures = {"bond0": {"failures": {"eth1": 0, "eth2": 0}}} if "bond0" in below else {}
        assert happened(linked(below, **no_failures), linked(below, **changed)) == found

    def test_is_also_that_it_vanished(self) -> None:
        [(kind, text, _)] = happened(linked(BRIDGE), linked({"top": ["tap0"]}))
        assert (kind, text) == (LinkEventKind.REPLUGGED, "card is no longer below top")

    def test_is_nothing_of_a_device_that_was_not_there_before(self) -> None:
        after = linked(BRIDGE, card={"carrier_changes": 9, "errors": 9})
        assert happened(linked({"top": ["tap0"]}), after) == []
