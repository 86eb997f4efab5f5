"""What a figure consists of: pictures, the text that stands for them, and the numbers behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_SHAPES = {"circle": "●", "square": "■", "triangle-up": "▲", "diamond": "◆", "triangle-down": "▼"}
COLOURS = 8


@dataclass(frozen=True)
class Series:
    """How a configuration is drawn: by colour, and by shape for readers who do not see colours.

    `colour` is a CSS variable of the page, `shape` is Vega's name, `glyph` is the same shape as a character.
    """

    colour: str
    shape: str
    glyph: str

    @property
    def mark(self) -> dict[str, str]:
        """Return the keys of a chart's data row that choose the mark."""
        return {"colour": self.colour, "shape": self.shape}


def series_of(names: Iterable[str]) -> Mapping[str, Series]:
    """Return a series for each name. The first is the baseline's; no other has the same colour."""
    return {name: _series(number) for number, name in enumerate(names)}


def _series(number: int) -> Series:
    colour = 0 if number == 0 else 1 + (number - 1) % (COLOURS - 1)
    shape, glyph = list(_SHAPES.items())[number % len(_SHAPES)]
    return Series(f"var(--series-{colour})", shape, glyph)


@dataclass(frozen=True)
class Picture:
    """An SVG element. `narrow` is the version for a phone; it is empty if `wide` fits on one."""

    wide: str
    narrow: str = ""
    heading: str = ""


@dataclass(frozen=True)
class Quantity:
    """A number as text and in full precision; None if it is missing, which sorts last."""

    text: str
    value: float | None


@dataclass(frozen=True)
class DataTable:
    """Headings, and rows with as many cells."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str | Quantity, ...], ...]


@dataclass(frozen=True)
class Figure:
    """One figure of the page.

    `anchor` is the target of links, `alternative` the text for readers who cannot see the pictures, `keys`
    the legend. Below the pictures, `remarks` are the sentences of one paragraph and `lines` a list.
    """

    anchor: str
    title: str
    alternative: str
    pictures: tuple[Picture, ...]
    numbers: DataTable
    keys: Mapping[str, Series] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
