"""What a text says of links and of data: a configuration's name, or a fact that a user declared.

A name is free text, so only what can hardly mean anything else is taken for a claim: `1g`, `100mbit`
and `25gbe`, `mtu9000` and `jumbo`, `rs`, `rs:6+3` and `2x`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.rate import USUAL_MTU

_BARE_GBIT_S = frozenset({1, 2, 2.5, 5, 10, 20, 25, 40, 50, 100, 200, 400, 800})
"""Rates of Ethernet, and of two bonded: without a unit, `4g` is rather an executor's memory."""

# Of text in lower case.
_RATE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?([mg])(bit/s|bit|bps|b/s|be|)(?![\w/])")
_OF_MEMORY = re.compile(r"(mem|memory|heap|ram|exec|executor|driver|data|size|cache)[-_ =:]?$")
_MTU = re.compile(r"mtu[-_ =:]?(\d{3,5})(?!\d)")
_JUMBO = re.compile(r"(?<![a-z])(?<!no[-_ ])(?<!non[-_ ])(?<!without[-_ ])jumbo")
_CODED = re.compile(r"(?<![a-z0-9])(rs|xor)(?:[-_: ]?(\d+\+\d+|6-3|3-2|10-4|2-1))?(?![a-z0-9])")
_COPIES = re.compile(r"(?<![\w.])(?:([1-3])x|replicat(?:ed|ion)[-_: ]?(\d{1,2}))(?!\w)")
_COUNTED = re.compile(r"[-_ ]?(\d|node|nic|link|core|cpu|exec|mem|disk|ssd)")
"""Behind `2x`: that many of something else than copies."""


@dataclass(frozen=True)
class Rate:
    """A link's rate."""

    mbit_s: float

    def is_met_by(self, mbit_s: float) -> bool:
        """Whether it is that."""
        return mbit_s == self.mbit_s

    def __str__(self) -> str:
        return f"{self.mbit_s:g} Mbit/s"


@dataclass(frozen=True)
class Mtu:
    """A link's MTU; None: any that is larger than usual."""

    mtu_bytes: int | None

    def is_met_by(self, mtu_bytes: int) -> bool:
        """Whether it is that, or large."""
        wanted = self.mtu_bytes
        return mtu_bytes > USUAL_MTU if wanted is None else mtu_bytes == wanted

    def __str__(self) -> str:
        return "jumbo frames" if self.mtu_bytes is None else f"MTU {self.mtu_bytes}"


@dataclass(frozen=True)
class LayoutForm:
    """How data lies, as far as it is said: `rs`, `rs:6+3`, `replicated:2`."""

    form: str

    def is_met_by(self, layout: str) -> bool:
        """Whether the layout is this, or says more of the same."""
        return layout == self.form or layout.startswith(f"{self.form}:")

    def __str__(self) -> str:
        return self.form


def rates(text: str) -> tuple[Rate, ...]:
    """Every rate that a text says."""
    found, text = [], text.lower()
    for match in _RATE.finditer(text):
        number, is_giga, unit = float(match[1]), match[2] == "g", match[3]
        is_rate = unit or (is_giga and number in _BARE_GBIT_S)
        if is_rate and not _OF_MEMORY.search(text[: match.start()]):
            found.append(Rate(number * 1000 if is_giga else number))
    return tuple(found)


def mtus(text: str) -> tuple[Mtu, ...]:
    """Every MTU that a text says."""
    said = tuple(Mtu(int(match[1])) for match in _MTU.finditer(text.lower()))
    return said or ((Mtu(None),) if _JUMBO.search(text.lower()) else ())


def layouts(text: str) -> tuple[LayoutForm, ...]:
    """Every layout that a text says."""
    text = text.lower()
    coded = [
        f"{match[1]}:{match[2].replace('-', '+')}" if match[2] else match[1]
        for match in _CODED.finditer(text)
    ]
    copies = [
        f"replicated:{match[1] or match[2]}"
        for match in _COPIES.finditer(text)
        if not _COUNTED.match(text, match.end())
    ]
    return tuple(map(LayoutForm, [*coded, *copies]))
