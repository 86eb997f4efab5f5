"""How configurations are told apart: by colour, and by shape for those who do not see colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_SHAPES = {"circle": "●", "square": "■", "triangle-up": "▲", "diamond": "◆", "triangle-down": "▼"}
COLOURS = 8


@dataclass(frozen=True)
class Series:
    """`colour` is one of the page's, `shape` is Vega's name, `glyph` the same as a character."""

    colour: str
    shape: str
    glyph: str


def series_of(names: Iterable[str]) -> Mapping[str, Series]:
    """By name, in order: the baseline comes first, and no other has its colour."""
    return {name: _series(number) for number, name in enumerate(names)}


def _series(number: int) -> Series:
    colour = 0 if number == 0 else 1 + (number - 1) % (COLOURS - 1)
    shape, glyph = list(_SHAPES.items())[number % len(_SHAPES)]
    return Series(f"var(--series-{colour})", shape, glyph)
