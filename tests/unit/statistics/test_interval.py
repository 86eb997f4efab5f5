"""How far the ends of an interval are from a value."""

import pytest

from harness.statistics.interval import Interval


@pytest.mark.parametrize(
    ("low", "high", "value", "relative"),
    [
        (9.0, 10.5, 10.0, 0.1),
        (9.5, 12.0, 10.0, 0.2),
        (0.0, 0.0, 0.0, None),
        (1.0, 2.0, 5e-324, None),
    ],
)
def test_a_distance_is_relative_to_a_value_where_that_is_a_number(
    low: float, high: float, value: float, relative: float | None
) -> None:
    assert Interval(low, high).relative_distance(value) == relative
