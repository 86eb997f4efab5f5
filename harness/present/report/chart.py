"""How pictures are drawn as SVG: all in one style, in the colours of the page that contains them.

A picture is described by a specification of Vega-Lite, as plain mappings and lists, and vl-convert draws it
without a browser and without a network. The functions here write the parts that many pictures share.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import vl_convert

from harness.base.words import shorten, unique_name, visible

Spec = dict[str, Any]
"""A specification of Vega-Lite, or a part of one."""
Rows = Iterable[Mapping[str, Any]]
"""The data of a picture: the fields of each mark, by name."""

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
        """Return the fields of a row that choose the mark: see COLOUR and SHAPE."""
        return {"colour": self.colour, "shape": self.shape}


def series_of(names: Iterable[str]) -> dict[str, Series]:
    """Return a series for each name. The first is the baseline's; no other has the same colour."""
    return {name: _series(number) for number, name in enumerate(names)}


def _series(number: int) -> Series:
    colour = 0 if number == 0 else 1 + (number - 1) % (COLOURS - 1)
    shape, glyph = list(_SHAPES.items())[number % len(_SHAPES)]
    return Series(f"var(--series-{colour})", shape, glyph)


FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
TEXT_PX = 12

INK, SOFT, FAINT, PAPER, ALARM = (
    f"var(--{name})" for name in ("ink", "soft", "faint", "paper", "alarm")
)
DASHES = [5, 4]

FAILED = "\N{MULTIPLICATION SIGN}"
"""Drawn in place of a value whose measurement failed."""

_STYLE: Spec = {
    "aria": False,  # the figure has one alternative text for all its pictures
    "background": "transparent",
    "font": FONT,
    "padding": 2,
    "axis": {
        "domain": False,
        "ticks": False,
        "gridColor": FAINT,
        "labelColor": INK,
        "labelFontSize": TEXT_PX,
        "labelPadding": 6,
        "titleColor": SOFT,
        "titleFontSize": TEXT_PX,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "text": {"color": INK, "fontSize": TEXT_PX},
    "title": {"color": SOFT, "fontSize": TEXT_PX, "fontWeight": "normal", "anchor": "start"},
    "view": {"stroke": None},
}


def quantity(
    field: str, *, ends: Sequence[float] = (), scale: Spec | None = None, **options: Any
) -> Spec:
    """Return the encoding of a field of numbers; without a title, unless the options name one.

    `ends` are the ends of the scale; without them, the scale includes all numbers.
    """
    scale = {"domain": ends, "nice": False, **(scale or {})} if ends else scale
    scaled = {} if scale is None else {"scale": scale}
    return {"field": field, "type": "quantitative", "title": None, **scaled, **options}


def category(field: str, **options: Any) -> Spec:
    """Return the encoding of a field of names; without a title, unless the options name one."""
    return {"field": field, "type": "nominal", "title": None, **options}


def as_is(field: str) -> Spec:
    """Return the encoding of a field whose values are colours, shapes, dashes or widths themselves."""
    return {"field": field, "type": "nominal", "scale": None}


COLOUR: Spec = {"color": as_is("colour")}
SHAPE: Spec = {"shape": as_is("shape")}


def mark(kind: str, encoding: Spec, *, rows: Rows | None = None, **style: Any) -> Spec:
    """Return a layer with a mark for each row; by default, the rows are the picture's."""
    layer: Spec = {"mark": {"type": kind, **style}, "encoding": encoding}
    if rows is not None:
        layer["data"] = _data(rows)
    return layer


def layered(rows: Rows, *layers: Spec, px: tuple[int, int], title: str = "") -> Spec:
    """Return a picture of layers upon each other; `px` are the width and the height of its plot.

    A layer with rows of its own is left out if it has none.
    """
    width, height = px
    titled = {"title": {"text": title, "frame": "bounds"}} if title else {}
    drawn = [layer for layer in layers if layer.get("data") != _data([])]
    return {"data": _data(rows), "layer": drawn, "width": width, "height": height, **titled}


def _data(rows: Rows) -> Spec:
    return {"values": list(rows)}


def svg(spec: Spec) -> str:
    """Return the picture as one SVG element. Its text is escaped, and it refers to nothing outside."""
    return vl_convert.vegalite_to_svg({**spec, "config": _STYLE}, allowed_base_urls=[])


def labels(names: Iterable[str], width: int) -> dict[str, str]:
    """Shorten each name to about `width` characters. Different names get different labels."""
    chosen: dict[str, str] = {}
    for name in names:
        if name not in chosen:
            label = shorten(visible(name), width) or "(empty)"
            chosen[name] = unique_name(label, chosen.values())
    return chosen
