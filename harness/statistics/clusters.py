"""Shares that are counted in clusters, such as samples of tasks: samples of one task are not independent."""

import math
from collections.abc import Sequence

from harness.statistics.interval import Interval
from harness.statistics.run_table import t_quantile


def share_of_clusters(hits: Sequence[int], sizes: Sequence[int]) -> tuple[float, Interval | None]:
    """Return the share of hits among all, and its interval of 95 % from the differences between clusters.

    It is the ratio estimator of cluster sampling, with Student's t. The interval is at least as wide as that
    of as many independent samples, since clusters may agree by chance; None for a single cluster.
    `sizes` are more than 0.
    """
    clusters, total = len(sizes), sum(sizes)
    share = sum(hits) / total
    if clusters == 1:
        return share, None
    squares = math.fsum((hit - share * size) ** 2 for hit, size in zip(hits, sizes, strict=True))
    between = squares * clusters / (clusters - 1) / total**2
    error = math.sqrt(max(between, share * (1 - share) / total))
    distance = t_quantile(clusters - 1) * error
    return share, Interval(max(0.0, share - distance), min(1.0, share + distance))


def likely_shares(hits: Sequence[float], sizes: Sequence[int]) -> list[float]:
    """Return the likely share of hits of each cluster.

    Small clusters differ by chance, so each share shrinks towards the share of all (empirical Bayes). It
    shrinks less if clusters differ by more than chance. A cluster of size 0 has the share of all.
    """
    total = sum(sizes)
    if not total:
        return [0.0] * len(sizes)
    share = sum(hits) / total
    by_chance = share * (1 - share)
    observed = [(hit / size, size) for hit, size in zip(hits, sizes, strict=True) if size]
    squares = math.fsum(size * (own - share) ** 2 for own, size in observed)
    weight = total - math.fsum(size**2 for _, size in observed) / total
    excess = squares - (len(observed) - 1) * by_chance
    between = max(0.0, excess / weight) if weight else 0.0
    return [
        share + between * (hit - share * size) / (between * size + by_chance) if between else share
        for hit, size in zip(hits, sizes, strict=True)
    ]
