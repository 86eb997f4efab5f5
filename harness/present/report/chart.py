"""Charts as SVG: one look for all of them, in the colours of the page that they stand in.

Altair says what is drawn; vl-convert draws it, without a browser and without a network.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

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
