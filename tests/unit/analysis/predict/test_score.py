"""What makes a prediction void, or its intervals too narrow, for the runs that were measured later."""

import pytest

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.predict.score import _newer_options, _notes
from harness.model.prediction import Bounds, PredictedTime, Prediction, Target
from harness.model.run import RecordedRun
from tests.unit.builders import column

NEWER = [
    ({}, {"--proof": "rounds"}, ["--proof: rounds now, trials was the condition"]),
    ({}, {"--proof": "trials"}, []),
    ({}, {}, []),
    ({"--proof": "rounds"}, {"--proof": "rounds"}, []),
    ({}, {"--streams": "4"}, ["--streams: 4 now, 1 was the condition"]),
]


@pytest.mark.parametrize(("then", "now", "reasons"), NEWER)
def test_an_option_that_a_prediction_lacks_had_its_value_of_then(
    then: dict[str, str], now: dict[str, str], reasons: list[str]
) -> None:
    assert list(_newer_options(then, now)) == reasons


def runs_on(configuration: str, *days: int) -> ConfigurationRuns:
    """A run on each of these days."""
    runs: list[RecordedRun] = []
    for day in days:
        started_at = f"2026-11-{day:02}T00:00:00.000Z"
        runs += column(configuration, {"w": [10.0]}, run_id=str(day), started_at=started_at).runs
    return ConfigurationRuns(configuration, tuple(runs))


ON_THE_TENTH = Prediction(
    made_at="2026-11-10T00:00:00.000Z",
    written_by="clusterlift",
    model="",
    baseline="1g",
    baseline_goodput_bit_s=0.94e9,
    target=Target(2_500_000_000, 1500, 2.35e9),
    times=(
        PredictedTime(
            workload="w",
            is_control=False,
            baseline_s=10.0,
            expected_s=8.0,
            interval_80=Bounds(7.0, 9.0),
            interval_95=Bounds(6.0, 10.0),
            limit_s=5.0,
            useful_up_to_bit_s=None,
            network_share=0.5,
            basis="bytes",
        ),
    ),
)


@pytest.mark.parametrize(
    ("before", "later", "after", "words"),
    [
        (
            [1, 2, 3],
            [],
            [20, 21],
            "2.5g has 2 runs, and 1g had 3: the intervals were predicted for 3",
        ),
        (
            [1, 2, 3],
            [12, 13],
            [20],
            "2.5g has 1 run, and 1g had 3: the intervals were predicted for 3",
        ),
        ([1, 2], [12, 13, 14, 15, 16], [20, 21, 22, 23], None),
        ([1, 2], [], [20, 21], None),
    ],
)
def test_intervals_are_for_as_many_runs_as_the_baseline_had_when_it_was_predicted(
    before: list[int], later: list[int], after: list[int], words: str | None
) -> None:
    notes = _notes(ON_THE_TENTH, runs_on("1g", *before, *later), runs_on("2.5g", *after))
    narrow = [note for note in notes if "too narrow" in note]
    assert [note[: len(words or "")] for note in narrow] == ([words] if words else [])
