"""How many outcomes are inside of predicted intervals, for each level; all is well on the diagonal."""

from collections.abc import Sequence

import altair as alt

from harness.present.report import chart

SIZE_PX = 300


def draw(calibration: Sequence[tuple[float, float]]) -> str:
    """Return the picture as SVG: the part of the outcomes that are inside, by the level of the interval."""
    [key] = chart.series_of(["predictions"]).values()
    rows = [{"level": level, "inside": inside, **key.mark} for level, inside in calibration]
    scale = alt.Scale(domain=[0, 1])
    x = alt.X("level:Q", scale=scale, axis=_axis("level of the interval"))
    y = alt.Y("inside:Q", scale=scale, axis=_axis("outcomes that are inside"))
    diagonal = alt.Chart(chart.data([{"level": 0, "inside": 0}, {"level": 1, "inside": 1}]))
    line = alt.Chart(chart.data(rows)).encode(x=x, y=y, color=alt.Color("colour:N", scale=None))
    title = "Above the diagonal: intervals wider than necessary; below: too narrow."
    return chart.svg(
        alt.layer(
            diagonal.mark_line(color=chart.SOFT, strokeDash=[5, 4]).encode(x=x, y=y),
            line.mark_line(strokeWidth=1.5),
            line.mark_point(filled=True, size=36, opacity=1),
        ).properties(width=SIZE_PX, height=SIZE_PX, title=alt.TitleParams(title, anchor="start"))
    )


def _axis(title: str) -> alt.Axis:
    return alt.Axis(format=".0%", title=title, tickCount=5)
