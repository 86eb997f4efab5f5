"""Who meets whom when: everybody everybody else, in rounds in which nobody is in two places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeVar

T = TypeVar("T")

Round = list[tuple[T, T]]


def rounds(players: Sequence[T]) -> list[Round[T]]:
    """N - 1 rounds of N / 2 disjoint pairs; of an odd number N rounds, one sitting out in each.

    The circle method: the first stays, the others move on by one.
    """
    circle: list[T | None] = [*players, *([None] if len(players) % 2 else [])]
    made = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        facing = zip(circle[:half], reversed(circle[half:]), strict=True)
        made.append([(a, b) for a, b in facing if a is not None and b is not None])
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return made


def one_by_one(players: Sequence[T]) -> list[Round[T]]:
    """The same pairs, one a round."""
    return [[pair] for pair in combinations(players, 2)]
