"""What Spark's driver does for a query is known by its events."""

import pytest

from harness.model.planning import Planning, median_planning, planning_of_executions


@pytest.mark.parametrize(
    ("executed_s", "planning_s"),
    [([1.75], 0.25), ([1.5, 2.0], 0.25), ([2.1], 0.0), ([], None)],
)
def test_planning_is_the_time_before_executions(
    executed_s: list[float], planning_s: float | None
) -> None:
    assert planning_of_executions(2.0, executed_s) == planning_s


def test_medians_are_of_what_is_known() -> None:
    found = median_planning([Planning(0.1, 0.2, 0.3), Planning(0.3, None, 0.5), Planning(0.2)])
    assert found == Planning(0.2, 0.2, 0.4)
    assert median_planning([]) == Planning()
