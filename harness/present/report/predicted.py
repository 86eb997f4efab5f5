"""The predictions that were made before their outcome was measured, beside it."""

from __future__ import annotations

from collections.abc import Iterable

from harness.analysis.outcomes import Scored
from harness.present.data_table import DataTable, Quantity
from harness.present.prediction import outcome_text
from harness.present.quantities import change, time_text

HEADINGS = ("configuration", "workload", "expected", "at least", "at most", "measured", "error")


def prediction_table(scored: Iterable[Scored]) -> DataTable:
    """Return a row for each predicted time; `at least` and `at most` are the ends of the 95 % interval."""
    return DataTable(
        HEADINGS,
        tuple(
            (
                score.after.name,
                time.predicted.workload,
                *(
                    Quantity(time_text(seconds), seconds)
                    for seconds in (
                        time.predicted.expected_s,
                        time.predicted.interval_95.low_s,
                        time.predicted.interval_95.high_s,
                        time.actual_s,
                    )
                ),
                Quantity(change(time.error), time.error),
            )
            for _, score in scored
            for time in score.times
        ),
    )


def prediction_remarks(scored: Iterable[Scored]) -> list[str]:
    """Return a sentence on each prediction."""
    return [outcome_text(*each) for each in scored]
