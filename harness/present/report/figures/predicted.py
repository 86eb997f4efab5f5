"""What was predicted before it was measured, beside what was measured."""

from collections.abc import Sequence
from functools import partial

from harness.analysis.predict.score import ScoredTime
from harness.present.data_table import DataTable
from harness.present.prediction import outcome_text
from harness.present.quantities import change, time_text
from harness.present.report import chart
from harness.present.report.figure import Evidence, Figure, Section, alternative, picture

_WIDTH_PX, _LINE_PX, _NAME_WIDTH = 560, 24, 32
LEGEND = (
    "Bars: the 95 % interval of the prediction, and within it the 80 % interval. Lines across them: the "
    "time that was expected. Dots: what was measured. All as a part of the time before."
)


@partial(Section, 20, "prediction", "Predicted before it was measured")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if nothing was predicted."""
    scores = evidence.scores
    if not scores:
        return None
    times = [(score.after.name, time) for score in scores for time in score.times]
    return Figure(
        alternative=alternative(
            "Bars with dots: predicted intervals, and what was measured.",
            (
                (
                    f"{time.predicted.workload} in {name}",
                    f"expected {time_text(time.predicted.expected_s)}, measured {time_text(time.actual_s)}",
                )
                for name, time in times
            ),
        ),
        pictures=tuple(
            picture(_drawn(score.times), score.after.name if len(scores) > 1 else "")
            for score in scores
        ),
        numbers=DataTable.of(_numbers(name, time) for name, time in times),
        remarks=(LEGEND, *map(outcome_text, scores)),
    )


def _numbers(configuration: str, time: ScoredTime) -> dict[str, str]:
    """Return a row of the table; `at least` and `at most` are the ends of the 95 % interval."""
    predicted = time.predicted
    return {
        "configuration": configuration,
        "workload": predicted.workload,
        "expected": time_text(predicted.expected_s),
        "at least": time_text(predicted.interval_95.low_s),
        "at most": time_text(predicted.interval_95.high_s),
        "measured": time_text(time.actual_s),
        "error": change(time.error),
    }


def _drawn(times: Sequence[ScoredTime]) -> chart.Spec:
    names = chart.labels((time.predicted.workload for time in times), _NAME_WIDTH)
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
    y = {"y": chart.category("workload", sort=list(names.values()))}
    axis = {"format": ".0%", "tickCount": 6}
    x = chart.quantity("x", scale={"zero": True}, axis=axis, title="time, as a part of that before")
    bar_px = _LINE_PX * 0.5
    bars = (
        {**y, "x": {**x, "field": f"low_{level}"}, "x2": {"field": f"high_{level}"}}
        for level in (95, 80)
    )
    return chart.layered(
        rows,
        chart.mark("rule", {"x": x}, rows=[{"x": 1}], color=chart.SOFT),
        *(chart.mark("bar", bar, color=chart.BLUE, opacity=0.25, height=bar_px) for bar in bars),
        chart.mark(
            "tick",
            {**y, "x": {**x, "field": "expected"}},
            color=chart.BLUE,
            thickness=2,
            size=bar_px,
        ),
        chart.mark(
            "point",
            {**y, "x": {**x, "field": "measured"}},
            filled=True,
            color=chart.INK,
            size=55,
            opacity=1,
        ),
        px=(_WIDTH_PX, _LINE_PX * len(rows)),
    )
