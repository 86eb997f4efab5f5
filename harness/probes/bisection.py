"""Bisection: the two halves of a network between which flows are slowest.

The bisection bandwidth of a network is the least that any half of its hosts can send to the other half. No
program can tell it by its own means but by trying; flows from every host to every other show where to try.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from math import comb
from statistics import mean

from harness.statistics.pairwise import Pair

MAX_TRIED = 2000
"""So many halves are tried at most: all of them for up to 13 hosts, of more hosts a random choice."""
MAX_SWAPS = 2000
"""A random choice is improved by so many exchanges of two hosts at most."""

Halves = tuple[tuple[str, ...], tuple[str, ...]]


def slowest_halves(hosts: Sequence[str], rates: Mapping[Pair, float]) -> Halves:
    """Return the halves of two or more hosts between which flows are slowest, by their mean rate.

    `rates` are those of flows that ran at the same time, in any unit. Of an odd number of hosts, the
    second half has one more. Both halves are in the order of `hosts`.
    """
    size = len(hosts) // 2
    if comb(len(hosts), size) <= MAX_TRIED:
        candidates = [frozenset(half) for half in combinations(hosts, size)]
        best = min(candidates, key=lambda half: _mean_across(half, rates))
    else:
        best = _by_exchanges(hosts, rates, random.Random(1))  # noqa: S311  can be repeated
    first = tuple(host for host in hosts if host in best)
    return first, tuple(host for host in hosts if host not in best)


def _mean_across(half: Collection[str], rates: Mapping[Pair, float]) -> float:
    """Return the mean rate of the flows between this half and the rest; infinity without any."""
    across = [
        rate for (sender, receiver), rate in rates.items() if (sender in half) != (receiver in half)
    ]
    return mean(across) if across else float("inf")


def _by_exchanges(
    hosts: Sequence[str], rates: Mapping[Pair, float], rng: random.Random
) -> frozenset[str]:
    """Start from a random half, and exchange two hosts while that makes the flows across slower.

    This is Kernighan and Lin's heuristic (1970) in its simplest form; it may miss the slowest halves.
    """
    best = frozenset(rng.sample(list(hosts), len(hosts) // 2))
    least = _mean_across(best, rates)
    for _ in range(MAX_SWAPS):
        out = rng.choice([host for host in hosts if host in best])
        into = rng.choice([host for host in hosts if host not in best])
        changed = (best - {out}) | {into}
        value = _mean_across(changed, rates)
        if value < least:
            best, least = changed, value
    return best
