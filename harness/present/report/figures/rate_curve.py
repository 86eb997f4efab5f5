"""Time against link rate: a panel for each workload, with its limit and where it stops gaining."""

from collections.abc import Sequence

import altair as alt

from harness.analysis.predict.rate_curve import RateCurve
from harness.present.report import chart
from harness.terminal import shorten, visible

WIDTH_PX, HEIGHT_PX, COLUMNS = 250, 150, 3
_COLOUR = "var(--series-1)"
_NAME_WIDTH = 30
_MBIT = 1e6


def draw(curves: Sequence[RateCurve]) -> str:
    """Return the picture as SVG, with a legend in words."""
    grid = alt.concat(*map(_panel, curves), columns=COLUMNS, spacing=22)
    legend = alt.TitleParams(
        [
            "Line and band: the time to expect and its 95 % interval. Dot: measured. Rings: asked about.",
            "Dashed: the time over an infinitely fast network. Dotted: where the line is within 5 % of that.",
        ],
        anchor="start",
    )
    return chart.svg(alt.vconcat(grid, title=legend))


def _panel(curve: RateCurve) -> chart.AnyChart:
    (_, present), last = curve.points[0], curve.points[-1][1]
    rows = [
        {
            "rate": bit_s / _MBIT,
            "s": time.expected_s,
            "low": time.interval_95.low_s,
            "high": time.interval_95.high_s,
        }
        for bit_s, time in curve.points
    ]
    x = alt.X(
        "rate:Q",
        scale=alt.Scale(type="log", domain=[rows[0]["rate"], rows[-1]["rate"]], nice=False),
        axis=alt.Axis(tickCount=4, format="~s", labelFlush=False, title="Mbit/s", grid=False),
    )
    highest = max(row["high"] for row in rows)
    y = alt.Y(
        "s:Q",
        scale=alt.Scale(domain=[0, 1.05 * highest], nice=False),
        axis=alt.Axis(tickCount=4, title="s"),
    )
    line = alt.Chart(chart.data(rows)).encode(x=x)
    layers: list[alt.Chart] = [
        line.mark_area(color=_COLOUR, opacity=0.2).encode(y=alt.Y("low:Q"), y2="high:Q"),
        alt.Chart(chart.data([{"s": last.limit_s}]))
        .mark_rule(color=chart.INK, strokeDash=[5, 4])
        .encode(y=y),
    ]
    if present.useful_up_to_bit_s and present.useful_up_to_bit_s / _MBIT < rows[-1]["rate"]:
        layers.append(
            alt.Chart(chart.data([{"rate": present.useful_up_to_bit_s / _MBIT}]))
            .mark_rule(color=chart.SOFT, strokeDash=[1, 3], strokeWidth=1.5)
            .encode(x=x)
        )
    layers.append(line.mark_line(color=_COLOUR, strokeWidth=2).encode(y=y))
    measured = [{"rate": rows[0]["rate"], "s": present.baseline_s}]
    asked = [{"rate": bit_s / _MBIT, "s": time.expected_s} for bit_s, time in curve.asked]
    for marks, filled in ((measured, True), (asked, False)):
        fill = _COLOUR if filled else chart.PAPER
        layers.append(
            alt.Chart(chart.data(marks))
            .mark_point(fill=fill, stroke=_COLOUR, size=50, opacity=1)
            .encode(x=x, y=y)
        )
    title = alt.TitleParams(shorten(visible(curve.workload), _NAME_WIDTH), anchor="start")
    return alt.layer(*layers).properties(width=WIDTH_PX, height=HEIGHT_PX, title=title)
