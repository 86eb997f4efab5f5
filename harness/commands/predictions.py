"""The predictions that a table or a report is about."""

from collections.abc import Sequence

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.predict.outcomes import Scored, outcomes
from harness.model.errors import BadInput
from harness.terminal import say


def predictions_of(columns: Sequence[ConfigurationRuns]) -> list[Scored]:
    """Return the predictions for the first column that were made before another one was measured.

    If the ledger is damaged, say so and return none: the table does not need it.
    """
    before, *others = columns
    try:
        return list(outcomes(before, others).values())
    except BadInput as error:
        say(f"predictions for {before.name} are left out: {error}")
        return []
