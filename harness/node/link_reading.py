"""What a host counts of one of its interfaces: the command, how to read its output, and what has changed.

The command needs a shell and grep; what other programs would add is left out where they are missing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.model.interface import MAX_SPEED_MBIT_S
from harness.model.link import rate_text
from harness.model.soak import LinkEventKind
from harness.node.kernel import (
    count,
    device_directory,
    known,
    positive,
    read_files,
)
from harness.words import count_of

_STATISTICS = ("rx_errors", "tx_errors", "rx_dropped", "tx_dropped")
_FILES = ("carrier_changes", "ifindex", "speed", "duplex", "device/../devnum")
_KERNEL_LOG = "== kernel log"

# What kernels from 4.18 on say of a link, card or bus in trouble, as their drivers word it. grep reads it on
# the host and Python here, so it has only what both have, and no character that a shell would change.
_TROUBLE = (
    "NETDEV WATCHDOG|transmit.* timed out|tx[ _](timeout|timed out|hang)|unit hang|completed on time|"
    "keep alive watchdog|malicious driver|rtl_[a-z_]+cond|reset .*USB device|"
    "reset(ting)? (the )?adapter|(initiating|starting|trigger) reset|reset (issued|event)|"
    "device reset completed|health compromised|firmware.* (crash|assert|fatal|not responding)|"
    "failed to (read|write) reg|USB disconnect|not accepting address|device descriptor read.* error|"
    "over-current|unable to enumerate USB|cable is bad|disabled by hub|HC died|assume dead|"
    "(rx|tx|intr),? status -[0-9]|AER: .*Uncorrect|severity=Uncorrect|PCIe link lost|"
    "link (status )?(is |definitely )?(not ready|down)|carrier (lost|off)|lost carrier|"
    "link status is: 0|link change old [0-9]+ new 0|connection: disconnected|cable (unplugged|error)|"
    "downshift|over ?heated|high temperature|without any active interface|no 802.3ad response"
)
_ELSEWHERE = re.compile("SATA link down|veth", re.IGNORECASE)
"""Ports of disks without a disk, and cables of containers, which come and go."""

# $0 is the device. A file that cannot be read is left out: a link that is down has no speed.
_SCRIPT = f"""
cat /proc/uptime
grep -s . /dev/null "$@"
ethtool -S "$0" 2>/dev/null | grep -i pause
echo "{_KERNEL_LOG}"
dmesg 2>/dev/null | grep -iE "{_TROUBLE}" | tail -n 1000
exit 0
"""
_COUNTER = re.compile(r"^([\w.\[\] ]*): (\d+)$", re.MULTILINE)
# Some cards also count for how many microseconds they paused, and how often that began.
_NO_FRAMES = re.compile("duration|transition|storm", re.IGNORECASE)

# Some kernels name the thread or the processor, too: `[  101.250000][  T512] usb 2-1: ...`.
_KERNEL_LINE = re.compile(r"^(?:<\d+>)?\[ *(\d+\.\d+)\](?:\[ *[TC]\d+\])? (.*)$", re.MULTILINE)
_TROUBLE_IN_LINE = re.compile(_TROUBLE, re.IGNORECASE)
_MAX_LINE = 2000
"""Characters of a line that are searched; a kernel's lines have half as many."""


@dataclass(frozen=True)
class LinkReading:
    """What a host counted until a moment of its own clock, which is its uptime; None means unknown.

    - `errors`, `drops`, `pauses`: of the interface; packets or frames.
    - `index`, `usb_number`: what the kernel gives an interface, or a USB device, when it is plugged in.
    - `trouble`: lines of the kernel's log about links in trouble, with their moments.
    """

    clock_s: float
    errors: int
    drops: int
    carrier_changes: int | None
    speed_mbit_s: int | None
    duplex: str | None
    index: int | None
    usb_number: int | None
    pauses: int | None
    trouble: tuple[tuple[float, str], ...] = ()


def link_command(device: str) -> list[str]:
    """Return the command that prints a reading."""
    directory = device_directory(device)
    files = [f"{directory}/statistics/{name}" for name in _STATISTICS]
    return ["sh", "-c", _SCRIPT, device, *files, *(f"{directory}/{name}" for name in _FILES)]


def read_link(device: str, printed: str) -> LinkReading | None:
    """Return the reading that the command printed; None without the interface."""
    uptime, _, rest = printed.partition("\n")
    counters, _, log = rest.partition(f"{_KERNEL_LOG}\n")
    directory = device_directory(device)
    files = read_files(counters)
    number = {
        name: counted
        for name in _STATISTICS
        if (counted := count(files.get(f"{directory}/statistics/{name}"))) is not None
    }
    if len(number) < len(_STATISTICS):
        return None
    pauses = [
        frames
        for name, digits in _COUNTER.findall(counters)
        if "pause" in name.lower() and not _NO_FRAMES.search(name)
        if (frames := count(digits)) is not None
    ]
    return LinkReading(
        _seconds(uptime.split(" ")[0]),
        number["rx_errors"] + number["tx_errors"],
        number["rx_dropped"] + number["tx_dropped"],
        count(files.get(f"{directory}/carrier_changes")),
        positive(files.get(f"{directory}/speed"), MAX_SPEED_MBIT_S),
        known(files.get(f"{directory}/duplex")),
        count(files.get(f"{directory}/ifindex")),
        count(files.get(f"{directory}/device/../devnum")),
        sum(pauses) if pauses else None,
        tuple(kernel_trouble(log)),
    )


def _seconds(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,12}(\.\d{1,9})?", text) else 0.0


def kernel_trouble(log: str) -> Iterator[tuple[float, str]]:
    """Yield the lines of a kernel's log about links in trouble, each with its moment."""
    for clock, line in _KERNEL_LINE.findall(log):
        if _TROUBLE_IN_LINE.search(line, 0, _MAX_LINE) and not _ELSEWHERE.search(
            line, 0, _MAX_LINE
        ):
            yield float(clock), line.strip()


def link_events(
    before: LinkReading, after: LinkReading
) -> Iterator[tuple[LinkEventKind, str, int]]:
    """Yield what happened between two readings, in words, and how often or to how many packets."""
    if (before.index, before.usb_number) != (after.index, after.usb_number):
        yield (
            LinkEventKind.REPLUGGED,
            "the interface was removed and came back (as at a USB reset)",
            1,
        )
        return  # its counters began anew
    changes = _grown(before.carrier_changes, after.carrier_changes)
    if changes > 0:
        yield (
            LinkEventKind.CARRIER,
            f"the link was interrupted: its carrier changed {count_of(changes, 'time')}",
            changes,
        )
    speeds = [_speed_text(reading) for reading in (before, after)]
    if all(speeds) and speeds[0] != speeds[1]:
        yield LinkEventKind.SPEED, f"renegotiated from {speeds[0]} to {speeds[1]}", 1
    for kind, number, noun, what in (
        (LinkEventKind.ERRORS, after.errors - before.errors, "packet", "with errors"),
        (LinkEventKind.DROPS, after.drops - before.drops, "packet", "dropped"),
        (LinkEventKind.PAUSE, _grown(before.pauses, after.pauses), "pause frame", "counted"),
    ):
        if number > 0:
            yield kind, f"{count_of(number, noun)} {what}", number


def _grown(before: int | None, after: int | None) -> int:
    return 0 if before is None or after is None else after - before


def _speed_text(reading: LinkReading) -> str:
    if reading.speed_mbit_s is None:
        return ""
    duplex = f" {reading.duplex} duplex" if reading.duplex else ""
    return f"{rate_text(reading.speed_mbit_s * 10**6)}{duplex}"
