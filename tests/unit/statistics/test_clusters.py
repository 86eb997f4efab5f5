"""Shares of samples that were taken in clusters: what an interval may claim."""

from random import Random

import pytest

from harness.statistics.clusters import share_of_clusters


def test_a_single_cluster_tells_nothing_of_others() -> None:
    assert share_of_clusters([3], [10]) == (0.3, None)


@pytest.mark.parametrize(
    ("hits", "sizes"),
    [([int(number % 4 == 0) for number in range(400)], [1] * 400), ([5] * 20, [20] * 20)],
)
def test_independent_samples_have_the_interval_of_a_proportion(
    hits: list[int], sizes: list[int]
) -> None:
    """So have clusters that agree by chance: they know no more."""
    share, interval = share_of_clusters(hits, sizes)
    assert share == 0.25
    # 1.96 standard errors of a quarter of 400 are 0.0424; Student's t of 20 clusters is 2.09.
    assert interval == pytest.approx((0.25 - 0.0426, 0.25 + 0.0426), abs=0.003)


def test_samples_of_one_cluster_that_repeat_each_other_do_not_narrow_it() -> None:
    _, once = share_of_clusters([1, 0, 1, 0, 1], [1] * 5)
    _, often = share_of_clusters([50, 0, 50, 0, 50], [50] * 5)
    assert once == pytest.approx(often)


@pytest.mark.parametrize("alike", [1.0, 5.0, 1000.0])
def test_its_interval_has_the_truth_in_95_of_100_cases(alike: float) -> None:
    """Tasks differ in how often they are at a place: much (1), or not at all (1000)."""
    random = Random(7)  # noqa: S311  noise, not a secret
    inside = 0
    for _ in range(400):
        sizes = [random.randint(5, 40) for _ in range(24)]
        chances = [random.betavariate(0.3 * alike, 0.7 * alike) for _ in sizes]
        hits = [
            sum(random.random() < chance for _ in range(size))
            for chance, size in zip(chances, sizes, strict=True)
        ]
        _, interval = share_of_clusters(hits, sizes)
        assert interval is not None
        inside += interval.low <= 0.3 <= interval.high
    assert 0.91 <= inside / 400 <= 0.99
