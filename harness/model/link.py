"""What a link carries: rates as tc writes them, and what of them is left for TCP's payload."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.model.errors import BadInput

UNITS = {"k": 10**3, "m": 10**6, "g": 10**9}
MIN_BIT_S, MAX_SHAPED_BIT_S, MAX_BIT_S = 10**6, 40 * 10**9, 10**12
SAME_RATE = 0.02
MIN_MTU, TYPICAL_MTU, MAX_MTU = 576, 1500, 9000

VIRTUAL_NIC_DRIVERS = frozenset(
    {"virtual", "veth", "virtio_net", "vmxnet3", "hv_netvsc", "xen_netfront", "ena", "gve"}
)
"""Drivers of virtual interfaces; the speed that they tell is none of a link's."""

# Bytes around an IP packet. The kernel counts the Ethernet header; the wire has, besides, preamble,
# checksum and the gap between frames.
COUNTED_BYTES = 14
ON_WIRE_BYTES = 38
# IP, TCP and its timestamps.
HEADERS_BYTES = 52


@dataclass(frozen=True)
class Link:
    """A node's link: its rate on the wire in bit/s, None if it is not shaped, and its MTU in bytes."""

    rate_bit_s: int | None
    mtu: int

    @property
    def counted_bit_s(self) -> int | None:
        """The rate as the kernel counts bytes."""
        if self.rate_bit_s is None:
            return None
        return round(self.rate_bit_s * (self.mtu + COUNTED_BYTES) / (self.mtu + ON_WIRE_BYTES))

    @property
    def rate(self) -> str:
        """The rate as it is read."""
        return "unshaped" if self.rate_bit_s is None else rate_text(self.rate_bit_s)

    def __str__(self) -> str:
        return f"{self.rate}, MTU {self.mtu}"


def goodput_bit_s(rate_bit_s: float, mtu: int) -> float:
    """What TCP can deliver over a link of that rate."""
    return rate_bit_s * (mtu - HEADERS_BYTES) / (mtu + ON_WIRE_BYTES)


def rate_of_goodput(bit_s: float, mtu: int) -> float:
    """The rate of a link over which TCP delivers so much at best."""
    return bit_s / goodput_bit_s(1, mtu)


def wire_bit_s(counted_bit_s: float, mtu: int) -> int:
    """The rate of a link that the kernel was told to shape to this; to five digits, as told."""
    exact = counted_bit_s * (mtu + ON_WIRE_BYTES) / (mtu + COUNTED_BYTES)
    return int(float(f"{exact:.5g}"))


def is_same_rate(bit_s: float, other_bit_s: float) -> bool:
    """Whether two rates differ by no more than rounding, and what tc does not count of a frame."""
    return abs(bit_s - other_bit_s) <= SAME_RATE * other_bit_s


def parse_rate(option: str, text: str, most_bit_s: int = MAX_SHAPED_BIT_S) -> int:
    """Bit/s of `100mbit` or `2.5gbit`. Raises BadInput that names the option."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg])bit(?:/s)?", text.strip().lower())
    if match is None:
        raise BadInput(f"{option} {text!r} is not a rate; write for example 100mbit or 2.5gbit")
    rate = round(float(match[1]) * UNITS[match[2]])
    if not MIN_BIT_S <= rate <= most_bit_s:
        raise BadInput(
            f"{option} {text!r} is not between {rate_text(MIN_BIT_S)} and {rate_text(most_bit_s)}"
        )
    return rate


def rate_text(bit_s: int) -> str:
    """`100mbit`, `2.5gbit`: as it is read."""
    unit, size = next((u, s) for u, s in reversed(UNITS.items()) if bit_s >= s or u == "k")
    return f"{bit_s / size:g}{unit}bit"


def carried_text(bit_s: float) -> str:
    """What was measured, as it is read: `94.1 Mbit/s`, `9.41 Gbit/s`."""
    if bit_s >= UNITS["g"]:
        return f"{bit_s / UNITS['g']:.2f} Gbit/s"
    return f"{bit_s / UNITS['m']:.1f} Mbit/s"
