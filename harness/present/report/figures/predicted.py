"""What was predicted before it was measured, beside what was measured."""

from collections.abc import Sequence

import altair as alt

from harness.analysis.predict.outcomes import Scored
from harness.analysis.predict.score import ScoredTime
from harness.present.data_table import DataTable, Quantity
from harness.present.prediction import outcome_text
from harness.present.quantities import change, time_text
from harness.present.report import chart
from harness.present.report.chart import Figure, Picture, labels

_COLOUR = "var(--series-1)"
_WIDE_PX, _NARROW_PX, _LINE_PX = 560, 150, 24
_NAME_WIDTH, _NARROW_NAME_WIDTH = 32, 18
LEGEND = (
    "Bars: the 95 % interval of the prediction, and within it the 80 % interval. Lines across them: the "
    "time that was expected. Dots: what was measured. All as a part of the time before."
)


def figure(predictions: Sequence[Scored]) -> Figure | None:
    """Return the figure; None if nothing was predicted."""
    if not predictions:
        return None
    times = [(score.after.name, time) for _, score in predictions for time in score.times]
    return Figure(
        anchor="prediction",
        title="Predicted before it was measured",
        alternative="Bars with dots: predicted intervals, and what was measured. "
        + "; ".join(
            f"{time.predicted.workload} in {name}: expected {time_text(time.predicted.expected_s)}, "
            f"measured {time_text(time.actual_s)}"
            for name, time in times
        ),
        pictures=tuple(
            Picture(
                _draw(score.times, _WIDE_PX, _NAME_WIDTH),
                _draw(score.times, _NARROW_PX, _NARROW_NAME_WIDTH),
                heading=score.after.name if len(predictions) > 1 else "",
            )
            for _, score in predictions
        ),
        numbers=DataTable(
            ("configuration", "workload", "expected", "at least", "at most", "measured", "error"),
            tuple(_numbers(name, time) for name, time in times),
        ),
        remarks=(LEGEND, *(outcome_text(*each) for each in predictions)),
    )


def _numbers(configuration: str, time: ScoredTime) -> tuple[str | Quantity, ...]:
    """Return a row of the table; `at least` and `at most` are the ends of the 95 % interval."""
    ends = time.predicted.interval_95
    seconds = (time.predicted.expected_s, ends.low_s, ends.high_s, time.actual_s)
    return (
        configuration,
        time.predicted.workload,
        *(Quantity(time_text(each), each) for each in seconds),
        Quantity(change(time.error), time.error),
    )


def _draw(times: Sequence[ScoredTime], width_px: int, name_width: int) -> str:
    names = labels((time.predicted.workload for time in times), name_width)
    rows = [
        {
            "workload": names[time.predicted.workload],
            "expected": time.predicted.expected_s / time.predicted.baseline_s,
            "measured": time.actual_s / time.predicted.baseline_s,
            **{
                f"{end}_{level}": seconds / time.predicted.baseline_s
                for level, bounds in (
                    (80, time.predicted.interval_80),
                    (95, time.predicted.interval_95),
                )
                for end, seconds in (("low", bounds.low_s), ("high", bounds.high_s))
            },
        }
        for time in times
    ]
    y = alt.Y("workload:N", sort=list(names.values()), title=None)
    axis = alt.Axis(format=".0%", title="time, as a part of that before", tickCount=width_px // 90)
    scale = alt.Scale(zero=True)
    lines = alt.Chart(chart.data(rows)).encode(y=y)
    before = alt.Chart(chart.data([{"x": 1}])).mark_rule(color=chart.SOFT)
    layers = [
        before.encode(x=alt.X("x:Q", scale=scale, axis=axis)),
        *(
            lines.mark_bar(color=_COLOUR, opacity=0.25, height=_LINE_PX * 0.5).encode(
                x=f"low_{level}:Q", x2=f"high_{level}:Q"
            )
            for level in (95, 80)
        ),
        lines.mark_tick(color=_COLOUR, thickness=2, size=_LINE_PX * 0.5).encode(x="expected:Q"),
        lines.mark_point(filled=True, color=chart.INK, size=55, opacity=1).encode(x="measured:Q"),
    ]
    return chart.svg(alt.layer(*layers).properties(width=width_px, height=_LINE_PX * len(rows)))
