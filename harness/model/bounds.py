"""What values a field of a record may have: annotations of its type, which `records/rules.py` checks."""

import re
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, get_type_hints

from harness.words import shorten


@dataclass(frozen=True)
class Range:
    """The limits of a number; None: without a limit."""

    ge: float | None = None
    le: float | None = None
    gt: float | None = None

    def why_not(self, value: float) -> str | None:
        """Return what the value breaks, such as `>= 1`; None if nothing."""
        if self.ge is not None and value < self.ge:
            return f">= {self.ge}"
        if self.gt is not None and value <= self.gt:
            return f"> {self.gt}"
        return f"<= {self.le}" if self.le is not None and value > self.le else None


@dataclass(frozen=True)
class Length:
    """The least and the greatest number of characters of a text, or of items of an array or object."""

    least: int
    most: int | None = None

    def why_not(self, value: Sized) -> str | None:
        """Return what the value breaks; None if nothing."""
        if self.most is not None and len(value) > self.most:
            return f"of length <= {self.most}"
        return f"of length >= {self.least}" if len(value) < self.least else None


@dataclass(frozen=True)
class Pattern:
    """A regular expression that a text matches, and what such a text is."""

    regex: str
    meaning: str

    def why_not(self, value: str) -> str | None:
        """Return what the value breaks; None if nothing."""
        return None if re.fullmatch(self.regex, value) else f"that is {self.meaning}"


@dataclass(frozen=True)
class Closed:
    """An object that has no other keys than those of a TypedDict."""

    shape: type

    def why_not(self, value: Mapping[str, object]) -> str | None:
        """Return what the value breaks; None if nothing."""
        unknown = min(value.keys() - get_type_hints(self.shape).keys(), default=None)
        return None if unknown is None else f"without the unknown key {shorten(repr(unknown), 60)}"


Name = Annotated[str, Length(1)]
Count = Annotated[int, Range(ge=0)]
Number = Annotated[int, Range(ge=1)]
"""Of a round, or of an execution."""
MIN_MTU_BYTES, MAX_MTU_BYTES = 68, 10**6
"""RFC 791: what every link carries. Interfaces of today have up to 65,536."""
MAX_SECONDS = 1e9
"""30 years: nothing that is recorded lasted longer."""
ANY_QUANTITY = Range(ge=0, le=1e15)
BY_UNIT: Mapping[str, Range] = {
    "%": Range(ge=0, le=100),
    "bit/s": Range(ge=0, le=1e13),
    "bytes": Range(ge=MIN_MTU_BYTES, le=MAX_MTU_BYTES),
    "µs": Range(ge=0, le=1e6 * MAX_SECONDS),
    "1/s": Range(ge=0, le=1e9),
    "instructions/byte": Range(ge=0, le=1e9),
    "cycles/byte": Range(ge=0, le=1e9),
}
"""What a value of a unit is between, unless its metric declares other limits. Others are ANY_QUANTITY."""
Percent = Annotated[float, BY_UNIT["%"]]
BitRate = Annotated[float, BY_UNIT["bit/s"]]
"""Of one interface, or of one transfer."""
Share = Annotated[float, Range(ge=0, le=1)]
Timestamp = Annotated[str, datetime]
"""A text in the form of RFC 3339."""
