"""How many outcomes are inside of predicted intervals, for each level; all is well on the diagonal."""

from collections.abc import Mapping, Sequence

import altair as alt

from harness.present.report import chart
from harness.present.report.chart import series_of

SIZE_PX = 300


def draw(calibrations: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Return the picture as SVG: a line for each kind of prediction, by its name."""
    keys = series_of(calibrations)
    rows = [
        {"level": level, "inside": inside, "kind": name, **keys[name].mark}
        for name, points in calibrations.items()
        for level, inside in points
    ]
    scale = alt.Scale(domain=[0, 1])
    x = alt.X("level:Q", scale=scale, axis=_axis("level of the interval"))
    y = alt.Y("inside:Q", scale=scale, axis=_axis("outcomes that are inside"))
    diagonal = alt.Chart(chart.data([{"level": 0, "inside": 0}, {"level": 1, "inside": 1}]))
    lines = alt.Chart(chart.data(rows)).encode(x=x, y=y, color=alt.Color("colour:N", scale=None))
    marks = lines.mark_point(filled=True, size=36, opacity=1)
    legend = [f"{keys[name].glyph} {name}" for name in calibrations]
    title = ["Above the diagonal: intervals wider than necessary; below: too narrow.", *legend]
    return chart.svg(
        alt.layer(
            diagonal.mark_line(color=chart.SOFT, strokeDash=[5, 4]).encode(x=x, y=y),
            lines.mark_line(strokeWidth=1.5),
            marks.encode(shape=alt.Shape("shape:N", scale=None)),
        ).properties(width=SIZE_PX, height=SIZE_PX, title=alt.TitleParams(title, anchor="start"))
    )


def _axis(title: str) -> alt.Axis:
    return alt.Axis(format=".0%", title=title, tickCount=5)
