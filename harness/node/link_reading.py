"""What a host counts of an interface and of those below it, what its kernel logs, and what has changed.

The command needs a shell, sed and grep. What it cannot read is said to be unread.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from harness.base.words import count_of, first_line, shorten, visible
from harness.model.interface import DEVICE_NAME, MAX_SPEED_MBIT_S
from harness.model.link import rate_text
from harness.model.soak import LinkEventKind
from harness.node.interface import BELOW, LOWER_DEVICES
from harness.node.iproute2 import MAX_TEXT, count, device_directory, known, positive, read_files
from harness.node.kernel_log import SUBJECT, TROUBLE, KernelLog, kernel_trouble, newest_moment
from harness.node.pause_frames import pause_frames

_SCRIPT = LOWER_DEVICES + (files(__package__) / "link_reading.sh").read_text()
_HEADING = re.compile("^== (host|cards|newest|kernel log|no log)$", re.MULTILINE)
_NO_STATISTICS = "== no statistics\n"
_NO_DEVICES = "== no devices"
_BOOT = "/proc/sys/kernel/random/boot_id"
_MAX_NAMES = 100
_DEVICE = re.compile(DEVICE_NAME)
_CHANGES_SPEED = (LinkEventKind.SPEED, LinkEventKind.CARRIER, LinkEventKind.REPLUGGED)
_FAILURES = re.compile(r"^Slave Interface: (\S+)\nLink Failure Count: (\d+)$", re.MULTILINE)
_COUNTS_NOTHING = re.compile("no stats available|not supported", re.IGNORECASE)
"""What ethtool says of interfaces that have no counters of their own, such as bridges."""

Event = tuple[LinkEventKind, str, int]
"""What happened, in words, and how often or to how many packets."""


@dataclass(frozen=True)
class DeviceReading:
    """What a host counted of an interface; None means unknown.

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
    """What a host counted of a link's own device and of those below it, and what it logged.

    - `lower`: those below, by name; each comes after all that are above it.
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


def link_command(device: str) -> list[str]:
    """Return the command that prints a reading."""
    return ["sh", "-c", _SCRIPT, device, TROUBLE, SUBJECT]


def read_link(device: str, printed: str) -> LinkReading | None:
    """Return the reading that the command printed; None without the interface."""
    counted, parts = _parts(printed)
    own, *others = re.split(f"^{BELOW}(.*)$", counted, flags=re.MULTILINE)
    texts = {device: own}  # in an order in which each comes after all that are above it
    below: dict[str, list[str]] = {}
    for heading, text in zip(others[::2], others[1::2], strict=True):
        upper, _, name = heading.partition(" ")
        if _DEVICE.fullmatch(name):
            texts[name] = texts.pop(name, text)
            below.setdefault(upper, []).append(name)
    devices = {name: _read_device(name, text) for name, text in texts.items()}
    own_reading = devices[device]
    is_there = own_reading.index is not None or own_reading.errors is not None
    if not is_there and _NO_DEVICES not in parts["host"]:
        return None
    unread = dict(_unread_counters(device, devices, texts))
    log = None
    said = first_line(parts["no log"])
    if "kernel log" not in parts:
        said = "the answer ends before it"
    if said:
        unread[LinkEventKind.KERNEL] = _why_not("dmesg", said)
    if first_line(parts["newest"]) or not said:
        cards = parts["cards"].split()[:_MAX_NAMES]
        trouble = tuple(kernel_trouble(parts["kernel log"], cards))
        log = KernelLog(trouble, newest_moment(parts["newest"]))
    return LinkReading(
        **vars(own_reading),
        device=device,
        lower={name: reading for name, reading in devices.items() if name != device},
        below=below,
        boot=known(read_files(parts["host"]).get(_BOOT)),
        log=log,
        unread=unread,
    )


def _parts(printed: str) -> tuple[str, dict[str, str]]:
    """Return what comes before the first heading of a part, and what follows each heading."""
    parts: dict[str, str] = defaultdict(str)
    before, *rest = re.split(_HEADING, printed)
    for heading, text in zip(rest[::2], rest[1::2], strict=True):
        parts[heading] = text.removeprefix("\n")
    return before, parts


def _read_device(device: str, text: str) -> DeviceReading:
    directory = device_directory(device)
    values = read_files(text)

    def counted(*names: str) -> int | None:
        numbers = [count(values.get(f"{directory}/{name}")) for name in names]
        found = [number for number in numbers if number is not None]
        return sum(found) if len(found) == len(names) else None

    return DeviceReading(
        counted("statistics/rx_errors", "statistics/tx_errors"),
        counted("statistics/rx_dropped", "statistics/tx_dropped"),
        counted("carrier_changes"),
        positive(values.get(f"{directory}/speed"), MAX_SPEED_MBIT_S),
        known(values.get(f"{directory}/duplex")),
        counted("ifindex"),
        counted("device/../devnum"),
        pause_frames(text.partition(_NO_STATISTICS)[0]),
        {
            member: int(digits)
            for member, digits in _FAILURES.findall(text)
            if count(digits) is not None
        },
    )


def _unread_counters(
    device: str, devices: Mapping[str, DeviceReading], texts: Mapping[str, str]
) -> Iterator[tuple[LinkEventKind, str]]:
    """Yield the counters that cannot be read, of any of the devices, and why."""
    for name, reading in reversed(list(devices.items())):
        of = "" if name == device else f" of {name}"
        if reading.errors is None or reading.drops is None:
            yield LinkEventKind.ERRORS, f"its kernel shows none{of}"
        if reading.carrier_changes is None:
            yield LinkEventKind.CARRIER, f"its kernel shows none{of}"
        said = first_line(texts[name].partition(_NO_STATISTICS)[2])
        if said and not _COUNTS_NOTHING.search(said):
            yield LinkEventKind.PAUSE, _why_not("ethtool", said)


def _why_not(program: str, said: str) -> str:
    if re.search("permi(tted|ssion)|denied", said, re.IGNORECASE):
        return "root can"
    if re.search("not found|No such file", said):
        return f"{program} is not installed"
    return shorten(visible(said), MAX_TEXT)


def link_events(before: LinkReading, after: LinkReading) -> Iterator[Event]:
    """Yield what happened between two readings.

    What happens to an interface also shows in those above it. It is reported once: of the lowest one.
    """
    if _was_restarted(before, after):
        yield LinkEventKind.LOST, "it was restarted", 1
        return  # all that it counts began anew
    seen: dict[str, Counter[LinkEventKind]] = {}
    for name, reading in reversed(list(after.devices.items())):
        counted = Counter[LinkEventKind]()
        for lower in after.below.get(name, ()):
            counted += seen.get(lower, Counter())
        if name in before.devices:
            prefix = "" if name == after.device else f"{name}: "
            for kind, text, number in list(_device_events(before.devices[name], reading, counted)):
                yield kind, f"{prefix}{text}", number
                counted[kind] += number
        seen[name] = counted
    for name in before.lower:
        if name not in after.lower:
            yield LinkEventKind.REPLUGGED, f"{name} is no longer below {after.device}", 1
    if before.log and after.log:
        for line in after.log.since(before.log):
            yield LinkEventKind.KERNEL, line, 1


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
        yield LinkEventKind.REPLUGGED, text, 1
        return  # its counters began anew
    changes = _grown(before.carrier_changes, after.carrier_changes) - lower[LinkEventKind.CARRIER]
    if changes > 0:
        times = count_of(changes, "time")
        yield (
            LinkEventKind.CARRIER,
            f"the link was interrupted: its carrier changed {times}",
            changes,
        )
    for member, failures in after.failures.items():
        failed = _grown(before.failures.get(member), failures) - lower[LinkEventKind.CARRIER]
        if failed > 0:
            text = f"the bond saw its member {member} fail {count_of(failed, 'time')}"
            yield LinkEventKind.CARRIER, text, failed
    speeds = [_speed_text(before), _speed_text(after)]
    is_explained = any(lower[kind] for kind in _CHANGES_SPEED)
    if all(speeds) and speeds[0] != speeds[1] and not is_explained:
        yield LinkEventKind.SPEED, f"renegotiated from {speeds[0]} to {speeds[1]}", 1
    for kind, grown, noun, what in (
        (LinkEventKind.ERRORS, _grown(before.errors, after.errors), "packet", "with errors"),
        (LinkEventKind.DROPS, _grown(before.drops, after.drops), "packet", "dropped"),
        (LinkEventKind.PAUSE, _grown(before.pauses, after.pauses), "pause frame", "counted"),
    ):
        number = grown - lower[kind]
        if number > 0:
            yield kind, f"{count_of(number, noun)} {what}", number


def _grown(before: int | None, after: int | None) -> int:
    return 0 if before is None or after is None else after - before


def _speed_text(reading: DeviceReading) -> str:
    if reading.speed_mbit_s is None:
        return ""
    duplex = f" {reading.duplex} duplex" if reading.duplex else ""
    return f"{rate_text(reading.speed_mbit_s * 10**6)}{duplex}"
