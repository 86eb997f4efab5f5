"""A trial has a duration or an error, never both."""

import pytest

from harness.model.run import Phase, Status, Trial


@pytest.mark.parametrize(
    ("status", "wall_s", "error", "message"),
    [
        (Status.OK, None, None, "a trial has a time if, and only if, it is ok"),
        (Status.OK, 1.0, "but", "a trial has an error if, and only if, it failed"),
        (Status.FAILED, 1.0, "boom", "a trial has a time if, and only if, it is ok"),
        (Status.FAILED, None, None, "a trial has an error if, and only if, it failed"),
    ],
)
def test_a_contradictory_trial_cannot_be_made(
    status: Status, wall_s: float | None, error: str | None, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Trial("w", Phase.MEASURED, 1, status, "", wall_s=wall_s, error=error)
