"""The rate that a network card really carries: its port and the encoding of its signals take their part.

Everything is read from the parts that program.sh prints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.base.checked import positive
from harness.model.interface import MAX_SPEED_MBIT_S, HostLink, SlowPort
from harness.model.link import (
    EMULATED_DRIVERS,
    OFTEN_EMULATED_DRIVERS,
    infiniband_mbit_s,
    pcie_mbit_s,
    usb_mbit_s,
)
from harness.node.device_files import device_directory

_USB = "usb"
_PCI = "pci"
_INFINIBAND = re.compile('"link_type" ?: ?"infiniband"')
_INFINIBAND_NAME = re.compile(r"\((\d+X [A-Z0-9]+)\)")
_PCIE_SPEED = re.compile(r"(\d{1,3}(?:\.\d)?) GT/s")
_MAX_LANES = 64
_HYPERVISOR = re.compile(
    r"hypervisor|QEMU|KVM|VMware|VirtualBox|innotek|Xen|Bochs|Parallels|BHYVE|Virtual|OpenStack"
    r"|Google Compute Engine|Amazon EC2|Alibaba Cloud|oVirt|RHEV|Nutanix|dummy-virt",
    re.IGNORECASE,
)
"""Words of those that make virtual machines, in what such a machine says of its maker."""


@dataclass(frozen=True)
class _Port:
    """A port of USB or a PCIe link: its speed, and the bytes that it carries, times 8."""

    name: str
    speed_mbit_s: int
    carried_mbit_s: int


def with_card(link: HostLink, parts: Mapping[str, str], files: Mapping[str, str]) -> HostLink:
    """Return a link with what its card carries. A link without a card stays as it is."""
    if link.bus is None:
        return link
    is_virtual = _is_virtual_machine(parts)
    port = _port(link, parts.get("place", "").strip(), files)
    # A hypervisor also invents the slots of cards that it hands to a virtual machine.
    if port is not None and link.bus == _PCI and is_virtual:
        port = None
    link = replace(
        link,
        has_invented_speed=_is_emulated(link.driver, is_virtual=is_virtual),
        has_unknown_limit=link.has_unknown_limit or (link.bus == _USB and port is None),
    )
    speed_mbit_s = link.speed_mbit_s
    if speed_mbit_s is None:
        return link
    carried = [speed_mbit_s]
    if port is not None:
        carried.append(port.carried_mbit_s)
        if port.speed_mbit_s < speed_mbit_s:
            slow = SlowPort(link.device, port.name, port.carried_mbit_s)
            link = replace(link, slow_ports=(slow,))
    if _INFINIBAND.search(parts.get("device", "")):
        name = _INFINIBAND_NAME.search(parts.get("infiniband", ""))
        carried.append(infiniband_mbit_s(speed_mbit_s, name[1] if name else ""))
    return replace(link, carried_mbit_s=min(carried))


def _is_virtual_machine(parts: Mapping[str, str]) -> bool | None:
    """Return whether a hypervisor runs the machine; None if the machine was not asked."""
    if "maker" not in parts:
        return None
    return _HYPERVISOR.search(parts["maker"]) is not None


def _is_emulated(driver: str | None, *, is_virtual: bool | None) -> bool:
    """Whether a hypervisor emulates the card. If that is unknown, old cards count as emulated."""
    if is_virtual:
        return driver in EMULATED_DRIVERS
    return driver in OFTEN_EMULATED_DRIVERS and is_virtual is None


def _port(link: HostLink, place: str, files: Mapping[str, str]) -> _Port | None:
    """Return what a card is plugged into; None if it is unknown, or has no speed of its own.

    `place` is the path of the card among the kernel's devices, which ends in its number on the bus.
    """
    at = f"{device_directory(link.device)}/device"
    number = place.rpartition("/")[2]
    if link.bus == _USB:
        speed = positive(files.get(f"{at}/../speed"), MAX_SPEED_MBIT_S)
        if speed is None:
            return None
        name = f"USB port {number.partition(':')[0]}".strip()
        return _Port(name, speed, usb_mbit_s(speed))
    gigatransfers_s = _PCIE_SPEED.match(files.get(f"{at}/current_link_speed", ""))
    lanes = positive(files.get(f"{at}/current_link_width"), _MAX_LANES)
    if gigatransfers_s is None or lanes is None:
        return None
    carried = pcie_mbit_s(float(gigatransfers_s[1]), lanes)
    name = f"PCIe slot {number}".strip()
    return _Port(f"{name} ({gigatransfers_s[1]} GT/s x{lanes})", carried, carried)
