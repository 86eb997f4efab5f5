"""Small files of /sys and /proc, many at once, by `grep -s . FILE...`: what cannot be read is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping

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


def read_driver(text: str) -> tuple[str | None, str | None]:
    """Driver and bus of the link `device/driver`, such as `r8152` and `usb`."""
    match = _DRIVER.search(text.strip())
    return (match[2], match[1]) if match else (None, None)
