"""Shares that are counted in clusters, such as samples of tasks: samples of one task are not independent."""

import math
from collections.abc import Sequence

from harness.statistics.interval import Interval
from harness.statistics.run_model import t_quantile


def share_of_clusters(hits: Sequence[int], sizes: Sequence[int]) -> tuple[float, Interval | None]:
    """Return the share of hits among all, and its interval of 95 % from the differences between clusters.

    It is the ratio estimator of cluster sampling, with Student's t. Clusters may agree by chance, so the
    interval is at least as wide as for the same number of independent samples. It is None for a single
    cluster. `sizes` are more than 0.
    """
    clusters = len(sizes)
    total = sum(sizes)
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
    squares: list[float] = []
    for hit, size in zip(hits, sizes, strict=True):
        if size:
            squares.append(size * (hit / size - share) ** 2)
    weight = total - math.fsum(size**2 for size in sizes) / total
    excess = math.fsum(squares) - (len(squares) - 1) * by_chance
    if weight <= 0 or excess <= 0:
        return [share] * len(sizes)
    between = excess / weight
    shares: list[float] = []
    for hit, size in zip(hits, sizes, strict=True):
        surplus = hit - share * size
        shares.append(share + between * surplus / (between * size + by_chance))
    return shares
