"""The pictures that commands write into files of their own, by the name that the command gives."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.analysis.predict.rate_curve import RateCurve
from harness.present.report import chart
from harness.present.report.figures import packets, scaling
from harness.words import shorten, visible

_NAME_WIDTH = 30
_MBIT = 1e6


def draw_rate_curves(curves: Sequence[RateCurve]) -> str:
    """Draw time against link rate: a panel for each workload, with its limit and where it stops gaining."""
    return chart.captioned(
        map(_rate_curve, curves),
        "Line and band: the time to expect and its 95 % interval. Dot: measured. Rings: asked about.",
        "Dashed: the time over an infinitely fast network. Dotted: where the line is within 5 % of that.",
    )


def _rate_curve(curve: RateCurve) -> chart.Spec:
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
    slowest, fastest = rows[0]["rate"], rows[-1]["rate"]
    x = {
        "x": chart.quantity(
            "rate",
            ends=(slowest, fastest),
            scale={"type": "log"},
            axis={"tickCount": 4, "format": "~s", "labelFlush": False, "grid": False},
            title="Mbit/s",
        )
    }
    y = {
        "y": chart.quantity(
            "s", ends=(0, 1.05 * max(row["high"] for row in rows)), axis={"tickCount": 4}, title="s"
        )
    }
    useful = (present.useful_up_to_bit_s or 0) / _MBIT
    stops = [{"rate": useful}] if 0 < useful < fastest else []
    measured = [{"rate": slowest, "s": present.baseline_s}]
    asked = [{"rate": bit_s / _MBIT, "s": time.expected_s} for bit_s, time in curve.asked]
    dot: dict[str, Any] = {"stroke": chart.BLUE, "size": 50, "opacity": 1}
    band = {**x, "y": {**y["y"], "field": "low"}, "y2": {"field": "high"}}
    return chart.layered(
        rows,
        chart.mark("area", band, color=chart.BLUE, opacity=0.2),
        chart.mark("rule", y, rows=[{"s": last.limit_s}], color=chart.INK, strokeDash=chart.DASHES),
        chart.mark("rule", x, rows=stops, color=chart.SOFT, strokeDash=[1, 3], strokeWidth=1.5),
        chart.mark("line", {**x, **y}, color=chart.BLUE, strokeWidth=2),
        chart.mark("point", {**x, **y}, rows=measured, fill=chart.BLUE, **dot),
        chart.mark("point", {**x, **y}, rows=asked, fill=chart.PAPER, **dot),
        px=(250, 150),
        title=shorten(visible(curve.workload), _NAME_WIDTH),
    )


PICTURES: Mapping[str, Callable[[Any], str]] = {
    "packets": packets.draw,
    "rate_curve": draw_rate_curves,
    "scaling": scaling.draw,
}
