"""How a file system stores the bytes of a file, in one text form.

    replicated:N         N whole copies of every block
    rs:D+P[:cell]        Reed-Solomon: D data and P parity stripes, in cells of `cell` bytes
    xor:2+1[:cell]       two data stripes, and their exclusive or as parity
    unknown              the file system does not say

A cell is a number of bytes, or of KiB or MiB with the suffix k or m: `rs:6+3:64k`.
"""

from __future__ import annotations  # for Python 3.8

import re
from dataclasses import dataclass, replace
from enum import Enum

FORMS = "replicated:N, rs:D+P[:cell], xor:2+1[:cell] or unknown"
_REPLICATED = re.compile(r"replicated:([1-9]\d{0,2})")
_STRIPED = re.compile(
    r"(?P<kind>rs|xor):(?P<data>[1-9]\d?)\+(?P<parity>[1-9]\d?)(:(?P<cell>[1-9]\d*)(?P<unit>[km]?))?"
)
_UNITS = {"": 1, "k": 2**10, "m": 2**20}


class LayoutKind(str, Enum):
    """The families of layouts."""

    REPLICATED = "replicated"
    REED_SOLOMON = "rs"
    XOR = "xor"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Layout:
    """A layout.

    `data` is the number of copies of a replicated layout, and of data stripes of a striped one.
    `cell_bytes` is None where any cell will do.
    """

    kind: LayoutKind
    data: int = 0
    parity: int = 0
    cell_bytes: int | None = None

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Read the text form. Raise ValueError, listing the forms, if the text has another form."""
        if text == LayoutKind.UNKNOWN:
            return cls(LayoutKind.UNKNOWN)
        replicated = _REPLICATED.fullmatch(text)
        if replicated:
            return cls(LayoutKind.REPLICATED, int(replicated[1]))
        striped = _STRIPED.fullmatch(text)
        if striped is None:
            raise ValueError(f"'{text}' is not a layout; the forms are {FORMS}")
        kind = LayoutKind(striped["kind"])
        data = int(striped["data"])
        parity = int(striped["parity"])
        if kind is LayoutKind.XOR and (data, parity) != (2, 1):
            raise ValueError(f"'{text}': the only xor layout is xor:2+1")
        cell_bytes = None
        if striped["cell"]:
            cell_bytes = int(striped["cell"]) * _UNITS[striped["unit"]]
        return cls(kind, data, parity, cell_bytes)

    @classmethod
    def recorded(cls, text: str) -> Layout:
        """Return the layout that a results file names; unknown if the text has another form."""
        try:
            return cls.parse(text)
        except ValueError:
            return cls(LayoutKind.UNKNOWN)

    def is_met_by(self, observed: Layout | None) -> bool:
        """Return whether `observed` is what this layout asks for; None never is."""
        if observed is None:
            return False
        cell = observed.cell_bytes if self.cell_bytes is None else self.cell_bytes
        return replace(self, cell_bytes=cell) == observed

    @property
    def nodes(self) -> int:
        """How many nodes are needed to keep every copy or stripe of a block on a node of its own."""
        return self.data + self.parity

    @property
    def stored_per_byte(self) -> float | None:
        """Bytes that a byte of a large file takes on all nodes together; None if unknown."""
        if self.kind is LayoutKind.UNKNOWN:
            return None
        if self.kind is LayoutKind.REPLICATED:
            return self.data
        return self.nodes / self.data

    def __str__(self) -> str:
        if self.kind is LayoutKind.UNKNOWN:
            return "unknown"
        if self.kind is LayoutKind.REPLICATED:
            return f"replicated:{self.data}"
        cell = "" if self.cell_bytes is None else f":{_bytes_text(self.cell_bytes)}"
        return f"{self.kind}:{self.data}+{self.parity}{cell}"


UNKNOWN = Layout(LayoutKind.UNKNOWN)
UNKNOWN_LAYOUT = str(UNKNOWN)
"""The recorded layout of files if the file system says no more about them."""


def layout_text(layout: Layout | None) -> str | None:
    """Return the text form of a layout; None for None."""
    if layout is None:
        return None
    return str(layout)


def striped_layout(kind: str, data: int, parity: int, cell_bytes: int) -> Layout:
    """Return the striped layout of this kind and size; UNKNOWN if no text form describes it."""
    return Layout.recorded(f"{kind}:{data}+{parity}:{cell_bytes}")


def _bytes_text(count: int) -> str:
    for unit in ("m", "k"):
        if count % _UNITS[unit] == 0:
            return f"{count // _UNITS[unit]}{unit}"
    return str(count)
