"""A prediction is void if its runs did other work, also by an option that is newer than the prediction."""

import pytest

from harness.analysis.predict.score import _newer_options

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
