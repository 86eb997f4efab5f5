"""Rates of disks: how they are written."""

from __future__ import annotations

import re

from harness.base.errors import BadInput
from harness.model.link import UNITS

MIN_BYTES_S = 10**6
MAX_BYTES_S = 10**11


def parse_disk_rate(option: str, text: str) -> int:
    """Return the bytes a second of `50MB/s` or `1.5GB/s`. Raise BadInput that names the option."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*([mg])b/s", text.strip().lower(), re.ASCII)
    if match is None:
        raise BadInput(f"{option} {text!r} is not the rate of a disk; write for example 50MB/s")
    bytes_s = round(float(match[1]) * UNITS[match[2]])
    if not MIN_BYTES_S <= bytes_s <= MAX_BYTES_S:
        bounds = f"{disk_rate_text(MIN_BYTES_S)} and {disk_rate_text(MAX_BYTES_S)}"
        raise BadInput(f"{option} {text!r} is not between {bounds}")
    return bytes_s


def disk_rate_text(bytes_s: float) -> str:
    """Return a rate as `parse_disk_rate` reads it: `50MB/s`."""
    return f"{bytes_s / UNITS['m']:g}MB/s"
