"""Small files of /sys and /proc, many at once, by `grep -s . FILE...`: what cannot be read is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.node.iproute import COUNTED, Device

_OF_A_DEVICE = (
    *("speed", "duplex", "mtu", "operstate"),
    *(f"statistics/{way}_{name}" for way in ("rx", "tx") for name in COUNTED),
)
VIRTUAL = "virtual"
_DRIVER = re.compile(r"bus/([\w-]+)/drivers/([\w.-]+)$")


def read_files(text: str) -> dict[str, str]:
    """Value by path, with its blanks made one; of a file with several lines the first."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        path, colon, value = line.partition(":")
        if colon and path.startswith("/"):
            found.setdefault(path, " ".join(value.split()))
    return found


def whole_number(files: Mapping[str, str], path: str) -> int | None:
    """A number greater than 0; None of what says -1, as of a speed that is not known."""
    text = files.get(path, "")
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None


def place_of(device: str) -> str:
    """The directory of a device."""
    return f"/sys/class/net/{device}"


def files_of(device: str) -> list[str]:
    """What a device can be known by; the last is there only of one that is no hardware."""
    return [*(f"{place_of(device)}/{name}" for name in _OF_A_DEVICE), _virtual(device)]


def read_device(device: str, files: Mapping[str, str]) -> Device | None:
    """A device by its files; None if they were not there."""
    place = place_of(device)
    if f"{place}/mtu" not in files:
        return None
    state = files.get(f"{place}/operstate")
    counters = {
        f"{way}_{name}": int(files[file])
        for way in ("rx", "tx")
        for key, name in COUNTED.items()
        if files.get(file := f"{place}/statistics/{way}_{key}", "").isdecimal()
    }
    return Device(
        name=device,
        mtu_bytes=whole_number(files, f"{place}/mtu"),
        state=None if state == "unknown" else state,
        kind=VIRTUAL if _virtual(device) in files else None,
        counters=counters or None,
    )


def read_driver(text: str) -> tuple[str | None, str | None]:
    """Driver and bus of the link `device/driver`, such as `r8152` and `usb`."""
    match = _DRIVER.search(text.strip())
    return (match[2], match[1]) if match else (None, None)


def _virtual(device: str) -> str:
    return f"/sys/devices/virtual/net/{device}/mtu"
