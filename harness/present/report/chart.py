"""How pictures are drawn as SVG: all in one style, in the colours of the page that contains them.

A picture is described by a specification of Vega-Lite, as plain mappings and lists, and vl-convert draws it
without a browser and without a network. The functions here write the parts that many pictures share.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from typing import Any

import vl_convert

from harness.base.words import label, unique_name

Spec = dict[str, Any]
"""A specification of Vega-Lite, or a part of one."""
Rows = Sequence[Mapping[str, Any]]
"""The data of a picture: the fields of each mark, by name."""

_SHAPES = {"circle": "●", "square": "■", "triangle-up": "▲", "diamond": "◆", "triangle-down": "▼"}
COLOURS = 8


@dataclass(frozen=True)
class Style:
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


def series_of(names: Iterable[str]) -> dict[str, Style]:
    """Return a series for each name. The first is the baseline's. No other has the same colour."""
    found = {}
    colours = chain([0], cycle(range(1, COLOURS)))
    for name, colour, (shape, glyph) in zip(names, colours, cycle(_SHAPES.items())):
        found[name] = Style(f"var(--series-{colour})", shape, glyph)
    return found


FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
TEXT_PX = 12

INK = "var(--ink)"
SOFT = "var(--soft)"
FAINT = "var(--faint)"
PAPER = "var(--paper)"
ALARM = "var(--alarm)"
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


def quantity(field: str, **options: Any) -> Spec:
    """Return the encoding of a field of numbers; without a title, unless the options name one."""
    return {"field": field, "type": "quantitative", "title": None, **options}


def scale(low: float, high: float) -> Spec:
    """Return a scale with exactly these ends; without it, a scale includes all numbers."""
    return {"domain": (low, high), "nice": False}


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
        layer["data"] = {"values": rows}
    return layer


def layered(rows: Rows, *layers: Spec, px: tuple[int, int], title: str = "") -> Spec:
    """Return a picture of layers upon each other. `px` are the width and the height of its plot.

    A layer with rows of its own is left out if it has none.
    """
    width, height = px
    drawn = [layer for layer in layers if "data" not in layer or layer["data"]["values"]]
    spec = {"data": {"values": rows}, "layer": drawn, "width": width, "height": height}
    if title:
        spec["title"] = {"text": title, "frame": "bounds"}
    return spec


def svg(spec: Spec) -> str:
    """Return the picture as one SVG element. Its text is escaped, and it refers to nothing outside."""
    return vl_convert.vegalite_to_svg({**spec, "config": _STYLE}, allowed_base_urls=[])


def labels(names: Iterable[str], width: int) -> dict[str, str]:
    """Shorten each name to about `width` characters. Different names get different labels."""
    chosen: dict[str, str] = {}
    for name in names:
        if name not in chosen:
            chosen[name] = unique_name(label(name, width) or "(empty)", chosen.values())
    return chosen
