"""Counters of an interface and of those below it, the kernel's log about them, and what has changed.

A reading names what could not be read, with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.base.checked import MAX_TEXT, count, known, positive
from harness.base.words import count_of, first_line, shorten, visible
from harness.model.interface import MAX_SPEED_MBIT_S
from harness.model.link import rate_text
from harness.model.soak import LinkEventKind
from harness.node.bond import member_failures
from harness.node.device_files import device_directory
from harness.node.kernel_log import SUBJECT, TROUBLE, KernelLog, kernel_trouble, newest_moment
from harness.node.pause_frames import pause_frames
from harness.node.program import BOOT, Parts, first_lines, read_link_answer, section

_NO_DEVICES = "no devices"
_MAX_NAMES = 100
_CHANGES_SPEED = (LinkEventKind.SPEED, LinkEventKind.CARRIER, LinkEventKind.REPLUGGED)
_COUNTS_NOTHING = re.compile("no stats available|not supported", re.IGNORECASE)
"""Words of ethtool for interfaces that have no counters of their own, such as bridges."""


class Event(NamedTuple):
    """Something that happened, in words, and how often or to how many packets."""

    kind: LinkEventKind
    text: str
    number: int = 1


@dataclass(frozen=True)
class DeviceReading:
    """The counters of an interface; None means unknown.

    - `errors`, `drops`, `pauses`: packets or frames.
    - `index`, `usb_number`: what the kernel gives an interface, or a USB device, when it is plugged in.
    - `failures`: of a bond, how often it saw each member fail.
    """

    errors: int | None = None
    drops: int | None = None
    carrier_changes: int | None = None
    speed_mbit_s: int | None = None
    duplex: str | None = None
    index: int | None = None
    usb_number: int | None = None
    pauses: int | None = None
    failures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class LinkReading(DeviceReading):
    """The counters of a link's own device and of those below it, and the log of the host.

    - `lower`: those below, by name. Each comes after all that are above it.
    - `below`: the names of the devices just below each device.
    - `boot`: changes when the host starts.
    - `log`: None if it cannot be read.
    - `unread`: why something cannot be read.
    """

    device: str = ""
    lower: Mapping[str, DeviceReading] = field(default_factory=dict)
    below: Mapping[str, Sequence[str]] = field(default_factory=dict)
    boot: str | None = None
    log: KernelLog | None = None
    unread: Mapping[LinkEventKind, str] = field(default_factory=dict)

    @property
    def devices(self) -> Mapping[str, DeviceReading]:
        """All devices by name, the link's own first."""
        return {self.device: self, **self.lower}


def reading_command(device: str) -> list[str]:
    """Return the command that prints a reading."""
    return section("events", device, TROUBLE, SUBJECT)


def read_link(device: str, printed: str) -> LinkReading | None:
    """Return the reading that the command printed; None without the interface."""
    answer = read_link_answer(device, printed)
    devices = {name: _read_device(name, parts) for name, parts in answer.devices.items()}
    own = devices.pop(device)
    host = answer.host.get("host", "")
    is_there = own.index is not None or own.errors is not None
    if not is_there and _NO_DEVICES not in host.splitlines():
        return None
    unread: dict[LinkEventKind, str] = {}
    for name, reading in reversed(list(devices.items())):
        unread.update(_unread_counters(reading, answer.devices[name], f" of {name}"))
    unread.update(_unread_counters(own, answer.devices[device], ""))
    said = _why_no_log(answer.host)
    if said:
        unread[LinkEventKind.KERNEL] = _why_not("dmesg", said)
    return LinkReading(
        **vars(own),
        device=device,
        lower=devices,
        below=answer.below,
        boot=known(first_lines(host).get(BOOT)),
        log=_read_log(answer.host, said),
        unread=unread,
    )


def _read_device(device: str, parts: Parts) -> DeviceReading:
    directory = device_directory(device)
    files = first_lines(parts.get("files", ""))

    def counted(*names: str) -> int | None:
        total = 0
        for name in names:
            number = count(files.get(f"{directory}/{name}"))
            if number is None:
                return None
            total += number
        return total

    return DeviceReading(
        errors=counted("statistics/rx_errors", "statistics/tx_errors"),
        drops=counted("statistics/rx_dropped", "statistics/tx_dropped"),
        carrier_changes=counted("carrier_changes"),
        speed_mbit_s=positive(files.get(f"{directory}/speed"), MAX_SPEED_MBIT_S),
        duplex=known(files.get(f"{directory}/duplex")),
        index=counted("ifindex"),
        usb_number=counted("device/../devnum"),
        pauses=pause_frames(parts.get("statistics", "")),
        failures=member_failures(parts.get("bond", "")),
    )


def _unread_counters(
    reading: DeviceReading, parts: Parts, of: str
) -> Iterator[tuple[LinkEventKind, str]]:
    """Yield the counters of a device that cannot be read, and why."""
    if reading.errors is None or reading.drops is None:
        yield LinkEventKind.ERRORS, f"its kernel shows none{of}"
    if reading.carrier_changes is None:
        yield LinkEventKind.CARRIER, f"its kernel shows none{of}"
    said = first_line(parts.get("no statistics", ""))
    if said and not _COUNTS_NOTHING.search(said):
        yield LinkEventKind.PAUSE, _why_not("ethtool", said)


def _why_no_log(host: Parts) -> str:
    """Return the complaint about a log that was not read, or not wholly; empty if it was read."""
    if "kernel log" not in host:
        return "the answer ends before it"
    return first_line(host.get("no log", ""))


def _read_log(host: Parts, said: str) -> KernelLog | None:
    newest = host.get("newest", "")
    if said and not newest:
        return None
    cards = host.get("cards", "").split()[:_MAX_NAMES]
    trouble = kernel_trouble(host.get("kernel log", ""), cards)
    return KernelLog(tuple(trouble), newest_moment(newest))


def _why_not(program: str, said: str) -> str:
    if re.search("permi(tted|ssion)|denied", said, re.IGNORECASE):
        return "root can"
    if re.search("not found|No such file", said):
        return f"{program} is not installed"
    return shorten(visible(said), MAX_TEXT)


def link_events(before: LinkReading, after: LinkReading) -> Iterator[Event]:
    """Yield what happened between two readings.

    An event of an interface also shows in the interfaces above it. It is reported once, for the lowest one.
    """
    if _was_restarted(before, after):
        yield Event(LinkEventKind.LOST, "it was restarted")
        return  # all that it counts began anew
    seen: dict[str, Counter[LinkEventKind]] = {}
    for name, reading in reversed(list(after.devices.items())):
        counted: Counter[LinkEventKind] = Counter()
        for lower in after.below.get(name, ()):
            counted += seen.get(lower, Counter())
        if name in before.devices:
            prefix = "" if name == after.device else f"{name}: "
            for kind, text, number in list(_device_events(before.devices[name], reading, counted)):
                yield Event(kind, f"{prefix}{text}", number)
                counted[kind] += number
        seen[name] = counted
    for name in before.lower:
        if name not in after.lower:
            yield Event(LinkEventKind.REPLUGGED, f"{name} is no longer below {after.device}")
    if before.log and after.log:
        for line in after.log.since(before.log):
            yield Event(LinkEventKind.KERNEL, line)


def _was_restarted(before: LinkReading, after: LinkReading) -> bool:
    if before.boot and after.boot:
        return before.boot != after.boot
    return bool(before.log and after.log and before.log.has_passed(after.log.newest_s))


def _device_events(
    before: DeviceReading, after: DeviceReading, lower: Mapping[LinkEventKind, int]
) -> Iterator[Event]:
    """Yield what happened to an interface, beyond what was counted of those below it."""
    if (before.index, before.usb_number) != (after.index, after.usb_number):
        text = "the interface was removed and came back (as at a USB reset)"
        yield Event(LinkEventKind.REPLUGGED, text)
        return  # its counters began anew
    changes = _grown(before.carrier_changes, after.carrier_changes) - lower[LinkEventKind.CARRIER]
    if changes > 0:
        text = f"the link was interrupted: its carrier changed {count_of(changes, 'time')}"
        yield Event(LinkEventKind.CARRIER, text, changes)
    for member, failures in after.failures.items():
        failed = _grown(before.failures.get(member), failures) - lower[LinkEventKind.CARRIER]
        if failed > 0:
            text = f"the bond saw its member {member} fail {count_of(failed, 'time')}"
            yield Event(LinkEventKind.CARRIER, text, failed)
    speed_before = _speed_text(before)
    speed_after = _speed_text(after)
    is_explained = any(lower[kind] for kind in _CHANGES_SPEED)
    if speed_before and speed_after and speed_before != speed_after and not is_explained:
        text = f"renegotiated from {speed_before} to {speed_after}"
        yield Event(LinkEventKind.SPEED, text)
    for kind, grown, noun, what in (
        (LinkEventKind.ERRORS, _grown(before.errors, after.errors), "packet", "with errors"),
        (LinkEventKind.DROPS, _grown(before.drops, after.drops), "packet", "dropped"),
        (LinkEventKind.PAUSE, _grown(before.pauses, after.pauses), "pause frame", "counted"),
    ):
        number = grown - lower[kind]
        if number > 0:
            yield Event(kind, f"{count_of(number, noun)} {what}", number)


def _grown(before: int | None, after: int | None) -> int:
    if before is None or after is None:
        return 0
    return after - before


def _speed_text(reading: DeviceReading) -> str:
    if reading.speed_mbit_s is None:
        return ""
    duplex = f" {reading.duplex} duplex" if reading.duplex else ""
    return f"{rate_text(reading.speed_mbit_s * 10**6)}{duplex}"
