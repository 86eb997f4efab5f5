"""Charts as SVG: one look for all of them, in the colours of the page that they stand in.

Altair says what is drawn; vl-convert draws it, without a browser and without a network.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import altair as alt

from harness.terminal import shorten, visible

FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
TEXT_PX = 12

INK, SOFT, FAINT, PAPER, ALARM = (
    f"var(--{name})" for name in ("ink", "soft", "faint", "paper", "alarm")
)

TIMES = "\N{MULTIPLICATION SIGN}"
"""In place of something that failed."""

AnyChart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart


def svg(chart: AnyChart) -> str:
    """The chart as one SVG element; text in it is escaped, and it refers to nothing outside."""
    styled = chart.configure(
        aria=False,  # words stand for the whole picture
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
    drawn = io.StringIO()
    styled.save(drawn, format="svg")
    return drawn.getvalue()


def rows(values: Sequence[Mapping[str, Any]]) -> alt.InlineData:
    """What a chart shows, a mapping a row."""
    return alt.InlineData([dict(row) for row in values])


# MERGED from harness.present.report.series: 'How configurations are told apart: by colour, and by shape for those who do not see colours.'
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


# MERGED from harness.present.report.figure: 'A figure: pictures, the words that stand for them, and the numbers behind them.'
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


# MERGED from harness.present.report.labels: 'Names that others chose, made to fit a picture and still to differ.'
def labels(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name with at most about `width` characters for it; different names stay different."""
    chosen: dict[str, str] = {}
    for name in names:
        if name not in chosen:
            chosen[name] = _unlike(set(chosen.values()), shorten(visible(name), width) or "(empty)")
    return chosen


def _unlike(taken: set[str], label: str) -> str:
    number, unlike = 2, label
    while unlike in taken:
        unlike, number = f"{label} #{number}", number + 1
    return unlike


# MERGED from harness.present.report.tone: 'How something may be coloured; its words say the same.'
class Tone(StrEnum):
    """Less time, more time, neither, or something that puts the numbers in doubt."""

    GAIN = "gain"
    LOSS = "loss"
    LEVEL = "level"
    ALARM = "alarm"
