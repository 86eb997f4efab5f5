"""A figure: pictures, the words that stand for them, and the numbers behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.present.report.series import Series


@dataclass(frozen=True)
class Picture:
    """An SVG element; `narrow` is the same for a phone, empty where `wide` fits one."""

    wide: str
    narrow: str = ""
    heading: str = ""


@dataclass(frozen=True)
class Quantity:
    """A number as it is written, and whole; None where there is none: that is sorted last."""

    text: str
    value: float | None


@dataclass(frozen=True)
class Numbers:
    """A table, a tuple a row."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str | Quantity, ...], ...]


@dataclass(frozen=True)
class Figure:
    """`anchor` is its name in the page's links, `alternative` what somebody hears who cannot see it.

    `keys` say what is drawn how; below it stand `remarks`, sentences of one paragraph, and `lines`.
    """

    anchor: str
    title: str
    alternative: str
    pictures: tuple[Picture, ...]
    numbers: Numbers
    keys: Mapping[str, Series] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
