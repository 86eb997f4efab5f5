"""What never became steady is known wherever its times are shown."""

import pytest

from harness.analysis.compare.comparison import overview
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.trials.counting import with_phases
from tests.unit.builders import a_run, ok, recorded

STEADY = (10, 10.1, 9.9, 10, 10.1, 9.9, 10)
ENDLESS = tuple(100 * 0.9**number for number in range(24))


@pytest.mark.parametrize(
    ("times_s", "warmup", "notes"),
    [
        (STEADY, "auto", ()),
        (ENDLESS, "auto", ("not known to be steady: its last 6 trials still became faster",)),
        (STEADY[:4], "auto", ("not known to be steady: fewer than 6 trials count",)),
        (ENDLESS, 1, ()),
    ],
    ids=["steady", "never steady", "cut off", "a fixed warm-up"],
)
def test_what_never_became_steady_is_a_note_of_its_cell(
    times_s: tuple[float, ...], warmup: object, notes: tuple[str, ...]
) -> None:
    trials = with_phases([ok("w", s, number) for number, s in enumerate(times_s, 1)], 6)
    run = recorded(a_run(parameters={"warmup": warmup, "trials": 6}), trials)
    [row] = overview(ConfigurationRuns("1g", (run,))).rows
    assert row.cells[0].notes == notes
