"""Rates of links: how they are written, and how much of them is left for TCP's payload.

A frame takes more of the wire than its IP packet: preamble and start of frame (8 bytes), Ethernet header
(14), checksum (4) and the gap between frames (12), all in IEEE 802.3. The kernel and tc count the packet
and the Ethernet header. IPv4 (20), TCP (20) and TCP's timestamp option (12, RFC 7323) take their part of the
packet.
"""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.errors import BadInput

UNITS = {"k": 10**3, "m": 10**6, "g": 10**9}
MIN_BIT_S = 10**6
MAX_SHAPED_BIT_S = 40 * 10**9
MAX_BIT_S = 10**12
SAME_RATE_TOLERANCE = 0.02
MIN_MTU = 576
TYPICAL_MTU = 1500
MAX_MTU = 9000
MIN_IPV6_MTU = 1280
"""RFC 8200."""

VIRTUAL_NIC_DRIVERS = frozenset(
    {
        *("virtual", "veth", "tun", "virtio_net", "vmxnet", "vmxnet3", "hv_netvsc", "mana"),
        *("vif", "xen_netfront", "xen-netfront", "ibmveth", "ena", "gve"),
    }
)
"""Drivers of virtual interfaces without others below.

The speed that they report is not the speed of a link.
"""
OFTEN_EMULATED_DRIVERS = frozenset(
    {"e1000", "pcnet32", "8139cp", "8139too", "ne2k-pci", "ne2k_pci", "tulip"}
)
"""Drivers of cards that are 20 years old, and that every hypervisor emulates."""
EMULATED_DRIVERS = OFTEN_EMULATED_DRIVERS | {
    *("e1000e", "igb", "smsc911x", "sungem", "cdc_ether", "rndis_host"),
}
"""Drivers of cards that a virtual machine may have although none is there. Those that are handed to a virtual
machine (SR-IOV) mostly have others, and report the speed of the real port."""

IPOIB_CONNECTED_MTU = 65520
"""The MTU of IP over InfiniBand in connected mode."""
_8B_10B = 8 / 10
_INFINIBAND_LANES = (1, 2, 4, 8, 12)
_SDR_MBIT_S = 2500
_FDR_MBIT_S = 14000
"""The speeds of a lane that Linux reports. DDR has twice the speed of SDR, and QDR four times."""
_FDR = 14.0625 / 14 * 64 / 66
"""Linux rounds the 14.0625 Gbit/s of a lane. Of 66 bits, 64 are data."""
_USB_3_MBIT_S = 5000
_LAST_8B_10B_GT_S = 5.0

COUNTED_BYTES = 14
"""The bytes of a frame that the kernel counts beyond the IP packet."""
ON_WIRE_BYTES = 8 + 14 + 4 + 12
"""The bytes of a frame that the wire carries beyond the IP packet."""
HEADERS_BYTES = 20 + 20 + 12
"""The bytes of an IP packet that are not TCP payload."""


@dataclass(frozen=True)
class Link:
    """The link of a lab's node: its rate on the wire in bit/s, None if unshaped, and its MTU in bytes."""

    rate_bit_s: int | None
    mtu: int

    @property
    def counted_bit_s(self) -> int | None:
        """The rate in bytes as the kernel counts them, times 8; None if unshaped."""
        if self.rate_bit_s is None:
            return None
        return round(self.rate_bit_s * (self.mtu + COUNTED_BYTES) / (self.mtu + ON_WIRE_BYTES))

    @property
    def rate(self) -> str:
        """The rate for people: `100mbit`, or `unshaped`."""
        if self.rate_bit_s is None:
            return "unshaped"
        return rate_text(self.rate_bit_s)

    def __str__(self) -> str:
        return f"{self.rate}, MTU {self.mtu}"


def infiniband_mbit_s(speed_mbit_s: int, name: str = "") -> int:
    """Return the bytes that a port of InfiniBand carries, times 8, at the speed that Linux reports.

    The speeds of SDR, DDR, QDR and FDR are rates of signals. With 8b/10b, SDR, DDR and QDR have 80 % of it
    for data. The speeds of FDR10 and of faster links are rates of data. `name` is what the kernel calls it,
    such as `4X FDR10`, if that is known: FDR10 has the speed of QDR.
    """
    for lanes in _INFINIBAND_LANES:
        if speed_mbit_s == lanes * _FDR_MBIT_S:
            return round(_FDR * speed_mbit_s)
        is_encoded = speed_mbit_s in [lanes * faster * _SDR_MBIT_S for faster in (1, 2, 4)]
        if is_encoded and "FDR10" not in name:
            return round(_8B_10B * speed_mbit_s)
    return speed_mbit_s


def usb_mbit_s(speed_mbit_s: int) -> int:
    """Return the bytes that a port of USB carries, times 8: USB 3 of 5 Gbit/s encodes them by 8b/10b."""
    if speed_mbit_s == _USB_3_MBIT_S:
        return round(_8B_10B * speed_mbit_s)
    return speed_mbit_s


def pcie_mbit_s(gigatransfers_s: float, lanes: int) -> int:
    """Return the bytes that a PCIe link carries, times 8: by 8b/10b up to 5 GT/s, and then by 128b/130b."""
    coding = _8B_10B if gigatransfers_s <= _LAST_8B_10B_GT_S else 128 / 130
    return round(1000 * gigatransfers_s * lanes * coding)


def goodput_bit_s(rate_bit_s: float, mtu: int) -> float:
    """Return the most payload that TCP can deliver over a link of this rate."""
    return rate_bit_s * (mtu - HEADERS_BYTES) / (mtu + ON_WIRE_BYTES)


def rate_of_goodput(bit_s: float, mtu: int) -> float:
    """Return the rate of a link over which TCP delivers this much payload at most."""
    return bit_s / goodput_bit_s(1, mtu)


def wire_bit_s(counted_bit_s: float, mtu: int) -> int:
    """Return the rate on the wire of a link that tc limits to this rate, rounded to five digits."""
    exact = counted_bit_s * (mtu + ON_WIRE_BYTES) / (mtu + COUNTED_BYTES)
    return int(float(f"{exact:.5g}"))


def is_same_rate(bit_s: float, other_bit_s: float) -> bool:
    """Return whether two rates differ by rounding, or by what tc does not count of a frame, at most."""
    return abs(bit_s - other_bit_s) <= SAME_RATE_TOLERANCE * other_bit_s


def with_bond(rates: Mapping[str, int]) -> dict[str, int]:
    """Return the rates of a host's links; if several are alike, also what they carry `together`.

    They may be a bond: runs record the cards that lead to other machines, and not what they are members of.
    """
    found = dict(rates)
    if len(rates) > 1 and len(set(rates.values())) == 1:
        found["together"] = sum(rates.values())
    return found


def parse_rate(option: str, text: str, max_bit_s: int = MAX_SHAPED_BIT_S) -> int:
    """Return the bit/s of `100mbit` or `2.5gbit`. Raises BadInput that names the option."""
    form = r"(\d+(?:\.\d+)?)\s*([kmg])bit(?:/s)?"
    match = re.fullmatch(form, text.strip().lower(), re.ASCII)
    if match is None:
        raise BadInput(f"{option} {text!r} is not a rate; write for example 100mbit or 2.5gbit")
    rate = float(match[1]) * UNITS[match[2]]
    if not MIN_BIT_S <= rate <= max_bit_s:
        raise BadInput(
            f"{option} {text!r} is not between {rate_text(MIN_BIT_S)} and {rate_text(max_bit_s)}"
        )
    return round(rate)


def rate_text(bit_s: float, digits: int = 6) -> str:
    """Return the rate as tc writes it, with at most `digits` significant digits: `100mbit`, `2.5gbit`."""
    bit_s = float(f"{bit_s:.{digits}g}")
    for unit in ("g", "m"):
        if bit_s >= UNITS[unit]:
            return f"{bit_s / UNITS[unit]:g}{unit}bit"
    return f"{bit_s / UNITS['k']:g}kbit"


def throughput_text(bit_s: float) -> str:
    """Return a measured throughput for people: `94.1 Mbit/s`, `9.41 Gbit/s`."""
    if bit_s >= UNITS["g"] - UNITS["m"] / 20:  # 999.95 Mbit/s, which would be 1000.0
        return f"{bit_s / UNITS['g']:.2f} Gbit/s"
    return f"{bit_s / UNITS['m']:.1f} Mbit/s"
