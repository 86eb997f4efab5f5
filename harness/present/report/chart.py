"""What a figure of the page consists of, and how its pictures are drawn as SVG.

All pictures have one style, in the colours of the page that contains them. Altair describes a chart, and
vl-convert draws it without a browser and without a network.
"""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import altair as alt

from harness import __version__
from harness.present.data_table import DataTable
from harness.terminal import shorten, visible

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


FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
TEXT_PX = 12

INK, SOFT, FAINT, PAPER, ALARM = (
    f"var(--{name})" for name in ("ink", "soft", "faint", "paper", "alarm")
)

FAILED = "\N{MULTIPLICATION SIGN}"
"""Drawn in place of a value whose measurement failed."""

AnyChart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart


def svg(chart: AnyChart) -> str:
    """Return the chart as one SVG element. Its text is escaped, and it refers to nothing outside."""
    styled = chart.configure(
        aria=False,  # the figure has one alternative text for all its pictures
        background="transparent",
        font=FONT,
        padding=2,
        axis=alt.AxisConfig(
            domain=False,
            ticks=False,
            gridColor=FAINT,
            labelColor=INK,
            labelFontSize=TEXT_PX,
            labelPadding=6,
            titleColor=SOFT,
            titleFontSize=TEXT_PX,
            titleFontWeight="normal",
            titlePadding=8,
        ),
        text=alt.MarkConfig(color=INK, fontSize=TEXT_PX),
        title=alt.TitleConfig(color=SOFT, fontSize=TEXT_PX, fontWeight="normal"),
        view=alt.ViewConfig(stroke=None),
    )
    text = io.StringIO()
    styled.save(text, format="svg")
    return text.getvalue()


SVG_BEGINNING = "<!-- clusterlift "


def standalone(picture: str) -> str:
    """Return the SVG of a page as a file of its own, in the colours that the page has in daylight."""
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    colours: dict[str, str] = {}
    for name, colour in re.findall(r"--([\w-]+): (#\w{6})", style):
        colours.setdefault(name, colour)
    coloured = re.sub(r"var\(--([\w-]+)\)", lambda match: colours.get(match[1], match[0]), picture)
    paper = f'<rect width="100%" height="100%" fill="{colours["paper"]}"/>'
    return f"{SVG_BEGINNING}{__version__} -->\n" + re.sub(
        "(<svg[^>]*>)", rf"\1{paper}", coloured, count=1
    )


def is_standalone(file: Path) -> bool:
    """Return whether the file has what `standalone` returned. Raises OSError."""
    with file.open("rb") as picture:
        return picture.read(len(SVG_BEGINNING)) == SVG_BEGINNING.encode()


def data(rows: Sequence[Mapping[str, Any]]) -> alt.InlineData:
    """Return the data of a chart: one mapping per row."""
    return alt.InlineData([dict(row) for row in rows])


def line_chart(
    rows: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y, width_px: int, height_px: int
) -> str:
    """Draw lines with a mark at each point. The keys `colour` and `shape` of a row choose its mark."""
    lines = alt.Chart(data(rows)).encode(x=x, y=y, color=alt.Color("colour:N", scale=None))
    marks = lines.mark_point(filled=True, size=42, opacity=1)
    return svg(
        alt.layer(
            lines.mark_line(strokeWidth=2), marks.encode(shape=alt.Shape("shape:N", scale=None))
        ).properties(width=width_px, height=height_px)
    )


def labels(names: Iterable[str], width: int) -> dict[str, str]:
    """Shorten each name to about `width` characters. Different names get different labels."""
    chosen: dict[str, str] = {}
    for name in names:
        if name not in chosen:
            label = shorten(visible(name), width) or "(empty)"
            chosen[name] = _make_unique(label, set(chosen.values()))
    return chosen


def _make_unique(label: str, used: set[str]) -> str:
    number, unique = 2, label
    while unique in used:
        unique, number = f"{label} #{number}", number + 1
    return unique
