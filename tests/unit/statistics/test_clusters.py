"""Shares of samples that were taken in clusters: what an interval may claim."""

from random import Random

import pytest

from harness.statistics.clusters import likely_shares, share_of_clusters


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


class TestLikelyShares:
    def test_clusters_that_differ_as_by_chance_have_the_share_of_all(self) -> None:
        hits = [2, 3, 3, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 7, 7, 8]
        assert likely_shares(hits, [10] * 16) == pytest.approx([0.5] * 16, abs=0.02)

    def test_clusters_that_differ_by_more_keep_nearly_all_of_it(self) -> None:
        assert likely_shares([0, 500, 1000], [1000] * 3) == pytest.approx([0, 0.5, 1], abs=0.01)

    def test_a_small_cluster_is_believed_less_than_a_large_one(self) -> None:
        small, large, *_ = likely_shares([4, 400, 100, 900], [4, 400, 1000, 1000])
        assert 0.5 < small < large < 1

    def test_an_empty_cluster_has_the_share_of_all_and_nothing_has_none(self) -> None:
        assert likely_shares([3, 0], [4, 0]) == [0.75, 0.75]
        assert likely_shares([0, 0], [0, 0]) == [0, 0]

    def test_they_are_nearer_to_the_truth_than_the_shares_of_the_samples(self) -> None:
        random = Random(3)  # noqa: S311  noise, not a secret
        truth = [random.betavariate(4, 4) for _ in range(300)]
        hits = [sum(random.random() < share for _ in range(8)) for share in truth]
        likely = likely_shares(hits, [8] * 300)
        errors = [sum((one - share) ** 2 for one, share in zip(found, truth, strict=True))
                  for found in (likely, [hit / 8 for hit in hits])]  # fmt: skip
        assert errors[0] < 0.7 * errors[1]
