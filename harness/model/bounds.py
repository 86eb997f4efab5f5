"""What values a field of a record may have: annotations of its type, which `records/rules.py` checks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated


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
    """The least number of characters of a text, or of items of an array."""

    least: int

    def why_not(self, value: str | list[object]) -> str | None:
        """Return what the value breaks; None if nothing."""
        return f"of length >= {self.least}" if len(value) < self.least else None


Name = Annotated[str, Length(1)]
Count = Annotated[int, Range(ge=0)]
Number = Annotated[int, Range(ge=1)]
"""Of a round, or of an execution."""
Quantity = Annotated[float, Range(ge=0, le=1e15)]
"""Whatever a probe measures."""
Timestamp = Annotated[str, datetime]
"""A text in the form of RFC 3339."""
