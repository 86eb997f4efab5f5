"""Where a series is steady: by hand, and in simulations with a fixed seed."""

from itertools import permutations
from random import Random

import pytest

from harness.statistics.steadiness import LEVEL, warm_from
from harness.trials.counting import DEFAULT_TRIALS
from tests.bench.warm_ups import WarmUp, simulate


@pytest.mark.parametrize(
    ("times_s", "trials", "start"),
    [
        ([10, 11, 9, 10.5, 9.5, 10], 6, 0),
        ([30, 20, 14, 10, 11, 9, 10.5, 9.5, 10, 10.2], 6, 3),  # all that follows is kept
        ([0.9**number for number in range(20)], 6, None),
        ([10 - 0.01 * number for number in range(6)], 6, 0),  # a drift below a percent
        ([10 - 0.10 * number for number in range(6)], 6, None),
        ([1.1**number for number in range(20)], 6, 0),  # no warm-up, though not steady
        ([10, 10.1, 40, 9.9, 10.2, 10], 6, 0),  # one outlier is no trend
        ([], 6, None),
        ([10] * 5, 6, None),
        ([2, 1], 1, 1),
        ([3, 2, 1], 2, None),
        ([20, 10, 10.1, 9.9, 10, 10.1, 9.9], 6, 1),  # it does not begin with its longest time
        ([10.1, 10, 10.09, 9.9, 10, 10.1, 9.9], 6, 0),
    ],
)
def test_the_warm_up_is_what_becomes_shorter(
    times_s: list[float], trials: int, start: int | None
) -> None:
    assert warm_from(times_s, trials) == start


@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_the_level_is_right_for_all_orders_of_a_few_times(n: int) -> None:
    """Each order of times without a trend is as likely as any other."""
    orders = list(permutations([1.5**number for number in range(n)]))
    alarms = [order for order in orders if warm_from(order, n) is None]
    trends = [order for order in alarms if order[0] != max(order)]
    longest_first = len(orders) / n
    assert len(alarms) - len(trends) == longest_first
    assert len(trends) <= LEVEL * (len(orders) - longest_first)
    if n >= DEFAULT_TRIALS:
        assert 0.25 <= len(alarms) / len(orders) <= 0.3


class TestSimulation:
    """Each figure has a wide margin; tests/bench/test_steadiness.py prints them all."""

    def test_a_workload_that_is_warm_is_seldom_extended(self) -> None:
        figures = simulate([WarmUp(noise=0.05)], runs=300)
        assert figures.extended <= 0.35
        assert figures.rounds <= 7.6
        assert abs(figures.bias) <= 0.005

    def test_what_is_endless_ends_at_the_limit(self) -> None:
        figures = simulate([WarmUp(height=10, rounds=20, noise=0.01)], runs=20)
        assert figures.limited >= 0.9


def test_random_times_are_found_quickly_however_many_there_are() -> None:
    random = Random(3)  # noqa: S311  noise, not a secret
    assert warm_from([random.random() for _ in range(20_000)], 6) is not None
