"""The link probe: what each host says of the interface that its peers are reached through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from harness.probes.leash import Ended, ask_all, understood
from harness.probes.reach import Host, HostTrouble
from harness.probes.tools import ToolFailed, bonding, ethtool, iproute, sysfs
from harness.probes.tools.bonding import Bond
from harness.rate import MADE_UP_SPEEDS, goodput_bit_s, wire_bit_s
from harness.record.environment import SYSCTLS

_MARK = "== "
# One connection asks for everything. $0 is the device, the rest are files.
_EVERYTHING = (
    'part() { echo "== $1"; shift; "$@" 2>/dev/null; echo; }; '
    'part device ip -j -d -s link show dev "$0"; part queue tc -j qdisc show dev "$0"; '
    'part driver readlink "/sys/class/net/$0/device/driver"; part offloads ethtool -k "$0"; '
    'part bond cat "/proc/net/bonding/$0"; part files grep -s . "$@" /dev/null; exit 0'
)


@dataclass(frozen=True)
class HostLink:
    """A host's interface, as the host itself knows it; what it does not know is None.

    `shaped_bit_s` is what tc limits it to, in frames on the wire; `kind` is that of a virtual
    interface; `counters` are packets since it came up.
    """

    host: str
    device: str
    speed_mbit_s: int | None = None
    duplex: str | None = None
    mtu_bytes: int | None = None
    state: str | None = None
    kind: str | None = None
    driver: str | None = None
    bus: str | None = None
    queue: str | None = None
    shaped_bit_s: int | None = None
    offloads: Mapping[str, bool] | None = None
    bond: Bond | None = None
    counters: Mapping[str, int] | None = None
    sysctls: Mapping[str, str] = field(default_factory=dict)

    @property
    def rate_bit_s(self) -> int | None:
        """The slower of what it is and what it is shaped to."""
        speed = None if self.speed_mbit_s is None else self.speed_mbit_s * 10**6
        return min((rate for rate in (speed, self.shaped_bit_s) if rate is not None), default=None)


def read_links(hosts: Sequence[Host]) -> list[HostLink | HostTrouble]:
    """Every host's, by the way to the next of them; a host alone is asked for its way out."""
    ways = ask_all(list(zip(hosts, map(_way, _peers(hosts)), strict=True)))
    devices = [understood(host, way, _device) for host, way in zip(hosts, ways, strict=True)]
    known = [
        (host, device)
        for host, device in zip(hosts, devices, strict=True)
        if isinstance(device, str)
    ]
    answers = iter(ask_all([(host, questions(device)) for host, device in known]))
    return [
        device
        if isinstance(device, HostTrouble)
        else understood(host, next(answers), partial(_link, host.name, device))
        for host, device in zip(hosts, devices, strict=True)
    ]


def theory_bit_s(sender: HostLink | None, receiver: HostLink | None) -> float | None:
    """What TCP can deliver from one to the other at best; None where a rate or an MTU is not known."""
    if sender is None or receiver is None:
        return None
    rates = [one.rate_bit_s for one in (sender, receiver) if one.rate_bit_s is not None]
    mtus = [one.mtu_bytes for one in (sender, receiver) if one.mtu_bytes is not None]
    if len(rates) < 2 or len(mtus) < 2:  # noqa: PLR2004  both ends
        return None
    return goodput_bit_s(min(rates), min(mtus))


def _peers(hosts: Sequence[Host]) -> list[Host | None]:
    if len(hosts) < 2:  # noqa: PLR2004  nobody to reach
        return [None for _ in hosts]
    return [*hosts[1:], hosts[0]]


def _way(peer: Host | None) -> list[str]:
    return iproute.default_route() if peer is None else iproute.route_to(peer.address)


def _device(way: Ended) -> str:
    return iproute.read_route(way.output)


def _link(host: str, device: str, answer: Ended) -> HostLink:
    return link_of(host, device, answer.output)


def questions(device: str) -> list[str]:
    """The argument vector that has a host say all it knows of a device; `link_of` reads the answer."""
    files = sysfs.files_of(device)
    files += map(_sysctl_file, SYSCTLS)
    return ["sh", "-c", _EVERYTHING, device, *files]


def link_of(host: str, device: str, text: str) -> HostLink:
    """The link in what a host answered, part by part. Raises ToolFailed without the device itself."""
    parts = _parts(text)
    files = sysfs.read_files(parts.get("files", ""))
    place = sysfs.place_of(device)
    known = _known_device(device, parts.get("device", ""), files)
    bond = bonding.read_bond(parts.get("bond", ""))
    driver, bus = sysfs.read_driver(parts.get("driver", ""))
    queue, counted_bit_s = _queue(parts.get("queue", ""))
    kind = "bond" if bond else driver or known.kind
    return HostLink(
        host=host,
        device=known.name,
        speed_mbit_s=None
        if kind in MADE_UP_SPEEDS
        else sysfs.whole_number(files, f"{place}/speed"),
        duplex=_known(files.get(f"{place}/duplex")),
        mtu_bytes=known.mtu_bytes,
        state=known.state,
        kind=known.kind,
        driver=kind,
        bus=bus,
        queue=queue,
        shaped_bit_s=_on_wire(counted_bit_s, known.mtu_bytes),
        offloads=ethtool.read_offloads(parts.get("offloads", "")),
        bond=bond,
        counters=known.counters,
        sysctls={name: files[file] for name in SYSCTLS if (file := _sysctl_file(name)) in files},
    )


def growth(before: HostLink, after: HostLink, way: str) -> int | None:
    """By how many packets the counters of `way`, errors or drops, grew; None where they were not told."""
    if before.counters is None or after.counters is None or before.device != after.device:
        return None
    names = [name for name in after.counters if name.endswith(way) and name in before.counters]
    grown = sum(after.counters[name] - before.counters[name] for name in names)
    return grown if names and grown >= 0 else None


def _known_device(device: str, text: str, files: Mapping[str, str]) -> iproute.Device:
    """As ip shows it, and else, where that is not installed, as the kernel's files do."""
    if not text.strip() and (told := sysfs.read_device(device, files)):
        return told
    return iproute.read_device(text)


def _parts(text: str) -> dict[str, str]:
    """The answer's parts by name; one whose program is missing is empty."""
    parts: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(_MARK):
            name = line.removeprefix(_MARK)
        else:
            parts.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in parts.items()}


def _queue(text: str) -> tuple[str | None, int | None]:
    try:
        return iproute.read_queue(text)
    except ToolFailed:
        return None, None


def _on_wire(counted_bit_s: int | None, mtu: int | None) -> int | None:
    """What tc counts of a frame is less than what it takes on the wire."""
    if counted_bit_s is None or mtu is None:
        return counted_bit_s
    return wire_bit_s(counted_bit_s, mtu)


def _known(text: str | None) -> str | None:
    return None if text is None or text == "unknown" else text


def _sysctl_file(name: str) -> str:
    return f"/proc/sys/{name.replace('.', '/')}"
