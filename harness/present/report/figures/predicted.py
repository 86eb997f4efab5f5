"""What was predicted before it was measured, beside what was measured."""

from functools import partial

from harness.analysis.predict.score import ScoredTime
from harness.present.data_table import DataTable
from harness.present.prediction import outcome_text
from harness.present.quantities import change, time_text
from harness.present.report.figure import Evidence, Figure, Section


@partial(Section, 20, "prediction", "Predicted before it was measured")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if nothing was predicted."""
    if not evidence.scores:
        return None
    return Figure(
        numbers=DataTable.of(
            _numbers(score.after.name, time) for score in evidence.scores for time in score.times
        ),
        remarks=tuple(map(outcome_text, evidence.scores)),
    )


def _numbers(configuration: str, time: ScoredTime) -> dict[str, str]:
    predicted = time.predicted
    return {
        "configuration": configuration,
        "workload": predicted.workload,
        "before": time_text(predicted.baseline_s),
        "expected": time_text(predicted.expected_s),
        "at least": time_text(predicted.interval_95.low_s),
        "at most": time_text(predicted.interval_95.high_s),
        "measured": time_text(time.actual_s),
        "error": change(time.error),
    }
