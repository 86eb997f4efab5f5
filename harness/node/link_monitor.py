"""What a host reports about one of its interfaces once a second: the command, and how to read its output.

The command needs a shell, grep and sleep; what other programs would add is left out where they are missing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.model.interface import MAX_SPEED_MBIT_S
from harness.model.link import rate_text
from harness.model.soak import LinkEventKind, LinkSeconds
from harness.node.kernel import (
    count,
    device_directory,
    known,
    positive,
    read_files,
    snmp_counter,
)
from harness.node.processor_ticks import ProcessorTicks, ticks_of_each_processor
from harness.words import count_of

READING_BYTES = 2**17
"""More than a reading has on a host of 512 processors."""
MAX_KERNEL_LOG_BYTES = 2**22
"""More than a kernel keeps of its log on a large host."""
KERNEL_LOG = ("dmesg",)
"""The command that prints the kernel's log, with the kernel's clock."""
_CLOCK, _DONE = "== clock ", "== done"
_STATISTICS = ("rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped")
_FILES = ("carrier_changes", "ifindex", "speed", "duplex", "device/../devnum")

# $0 is the device. A file that cannot be read is left out: a link that is down has no speed.
_SCRIPT = """
cd /sys/class/net || exit 1
while :; do
  read -r clock _ </proc/uptime
  echo "== clock $clock"
  grep -s . /dev/null $1
  grep -s ^cpu /proc/stat
  grep -s ^Tcp: /proc/self/net/snmp
  ethtool -S "$0" 2>/dev/null | grep -i pause
  echo "== done"
  sleep 1
done
"""
_HWMON = "device/hwmon/hwmon*/temp1_input"
_THERMAL = "/sys/class/thermal/thermal_zone*/temp"
_MILLI = 1000
_DEGREES = re.compile(r"-?[0-9]{1,9}")
_COUNTER = re.compile(r"^([\w.\[\] ]*): (\d+)$", re.MULTILINE)
# Some cards also count for how many microseconds they paused, and how often that began.
_NO_FRAMES = re.compile("duration|transition|storm", re.IGNORECASE)

# Some kernels name the thread or the processor, too: `[  101.250000][  T512] usb 2-1: ...`.
_KERNEL_LINE = re.compile(r"^(?:<\d+>)?\[ *(\d+\.\d+)\](?:\[ *[TC]\d+\])? (.*)$", re.MULTILINE)
_KERNEL_TROUBLE = (
    r"NETDEV WATCHDOG|reset \S*[Ss]peed\S* USB device|USB disconnect|transmit queue .*timed out|"
    r"Detected Hardware Unit Hang|tx timeout|link (?:is )?(?:not ready|down)|carrier lost|Link is Down"
)
_TROUBLE = re.compile(_KERNEL_TROUBLE, re.IGNORECASE)
_MAX_LINE = 2000
"""Characters of a line that are searched; a kernel's lines have half as many."""


@dataclass(frozen=True)
class LinkReading:
    """What a host counted until a moment of its own clock; None means unknown.

    - `received_bytes`, `sent_bytes`, `errors`, `drops`, `pauses`: of the interface; packets or frames.
    - `retransmits`: TCP segments that the host sent again, over all of its interfaces.
    - `index`, `usb_number`: what the kernel gives an interface, or a USB device, when it is plugged in.
    """

    clock_s: float
    received_bytes: int
    sent_bytes: int
    errors: int
    drops: int
    carrier_changes: int | None
    speed_mbit_s: int | None
    duplex: str | None
    index: int | None
    usb_number: int | None
    pauses: int | None
    retransmits: int | None
    processors: tuple[ProcessorTicks, ...]
    temperature_c: float | None


def monitor_command(device: str) -> list[str]:
    """Return the command that prints a reading once a second, until it is ended."""
    files = [f"{device}/statistics/{name}" for name in _STATISTICS]
    files += [f"{device}/{name}" for name in (*_FILES, _HWMON)]
    # The shell expands the patterns, which match nothing on a host without sensors.
    return ["sh", "-c", _SCRIPT, device, " ".join([*files, _THERMAL])]


def read_monitor(
    device: str, printed: Iterable[tuple[float, str]]
) -> Iterator[tuple[float, LinkReading | None]]:
    """Yield when each complete reading arrived, and the reading; None for one without the interface.

    `printed` are the lines, and when each arrived.
    """
    clock_s, found = 0.0, list[str]()
    for moment_s, line in printed:
        if line.startswith(_CLOCK):
            found, clock_s = [], _seconds(line.removeprefix(_CLOCK))
        elif line == _DONE:
            yield moment_s, _reading(device, clock_s, found)
        else:
            found.append(line)


def _seconds(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,12}(\.\d{1,9})?", text) else 0.0


def _reading(device: str, clock_s: float, lines: list[str]) -> LinkReading | None:
    directory = device_directory(device)
    files = read_files("\n".join(_absolute(line, device) for line in lines))
    number = {
        name: counted
        for name in _STATISTICS
        if (counted := count(files.get(f"{directory}/statistics/{name}"))) is not None
    }
    if len(number) < len(_STATISTICS):
        return None
    pauses = [
        frames
        for name, digits in _COUNTER.findall("\n".join(lines))
        if "pause" in name.lower() and not _NO_FRAMES.search(name)
        if (frames := count(digits)) is not None
    ]
    return LinkReading(
        clock_s,
        number["rx_bytes"],
        number["tx_bytes"],
        number["rx_errors"] + number["tx_errors"],
        number["rx_dropped"] + number["tx_dropped"],
        count(files.get(f"{directory}/carrier_changes")),
        positive(files.get(f"{directory}/speed"), MAX_SPEED_MBIT_S),
        known(files.get(f"{directory}/duplex")),
        count(files.get(f"{directory}/ifindex")),
        count(files.get(f"{directory}/device/../devnum")),
        sum(pauses) if pauses else None,
        snmp_counter(lines, "Tcp", "RetransSegs"),
        tuple(ticks_of_each_processor(lines)),
        _temperature(files),
    )


def _absolute(line: str, device: str) -> str:
    return f"/sys/class/net/{line}" if line.startswith(f"{device}/") else line


def _temperature(files: Mapping[str, str]) -> float | None:
    """Return the hottest sensor of the card, or else of the host."""
    for part in ("/hwmon/", "/thermal/"):
        found = [
            int(value) / _MILLI
            for path, value in files.items()
            if part in path and _DEGREES.fullmatch(value)
        ]
        if found:
            return max(found)
    return None


def link_events(
    before: LinkReading, after: LinkReading
) -> Iterator[tuple[LinkEventKind, str, int]]:
    """Yield what happened between two readings, in words, and how often or to how many packets."""
    replugged = (before.index, before.usb_number) != (after.index, after.usb_number)
    if replugged:
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
    for happening, number, noun, what in (
        (LinkEventKind.ERRORS, after.errors - before.errors, "packet", "with errors"),
        (LinkEventKind.DROPS, after.drops - before.drops, "packet", "dropped"),
        (LinkEventKind.PAUSE, _grown(before.pauses, after.pauses), "pause frame", "counted"),
    ):
        if number > 0:
            yield happening, f"{count_of(number, noun)} {what}", number


def _grown(before: int | None, after: int | None) -> int:
    return 0 if before is None or after is None else after - before


def _speed_text(reading: LinkReading) -> str:
    if reading.speed_mbit_s is None:
        return ""
    duplex = f" {reading.duplex} duplex" if reading.duplex else ""
    return f"{rate_text(reading.speed_mbit_s * 10**6)}{duplex}"


def link_seconds(host: str, readings: Sequence[LinkReading], offset_s: float) -> LinkSeconds:
    """Return what happened between each two readings; `offset_s` takes the host's clock to the soak's."""
    rising: list[LinkReading] = []
    for reading in readings:
        if not rising or reading.clock_s > rising[-1].clock_s:
            rising.append(reading)
    pairs = list(pairwise(rising))
    temperatures = [after.temperature_c for _, after in pairs]
    return LinkSeconds(
        host,
        tuple(round(max(0.0, after.clock_s + offset_s), 1) for _, after in pairs),
        tuple(_rate(b, a, a.received_bytes - b.received_bytes) for b, a in pairs),
        tuple(_rate(b, a, a.sent_bytes - b.sent_bytes) for b, a in pairs),
        tuple(max(0, (a.retransmits or 0) - (b.retransmits or 0)) for b, a in pairs),
        tuple(_stolen_percent(b, a) for b, a in pairs),
        tuple(_busiest_percent(b, a) for b, a in pairs),
        tuple(t for t in temperatures if t is not None) if None not in temperatures else (),
    )


def _rate(before: LinkReading, after: LinkReading, grown_bytes: int) -> float:
    return float(round(8 * max(0, grown_bytes) / (after.clock_s - before.clock_s)))


def _shares(
    before: LinkReading, after: LinkReading, part: Callable[[ProcessorTicks], int]
) -> list[float]:
    """Return a part of the time of each processor that was online; what a hypervisor took may decrease."""
    pairs = zip(before.processors, after.processors, strict=False)
    found = [ticks for early, late in pairs if (ticks := late.since(early)).total > 0]
    return [min(max(0.0, part(ticks) / ticks.total), 1.0) for ticks in found]


def _stolen_percent(before: LinkReading, after: LinkReading) -> float:
    shares = _shares(before, after, lambda ticks: ticks.stolen)
    return round(100 * (sum(shares) / len(shares)), 1) if shares else 0.0


def _busiest_percent(before: LinkReading, after: LinkReading) -> float:
    return round(100 * max(_shares(before, after, lambda ticks: ticks.busy), default=0.0), 1)


def kernel_trouble(text: str, after_s: float, until_s: float) -> Iterator[tuple[float, str]]:
    """Yield the lines of the kernel's log about links in trouble, with their seconds since the boot."""
    for clock, line in _KERNEL_LINE.findall(text):
        if after_s < float(clock) <= until_s and _TROUBLE.search(line, 0, _MAX_LINE):
            yield float(clock), line.strip()
