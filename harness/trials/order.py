"""The order of workloads in a round, and of configurations that take turns: random, and known from a seed."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def shuffled(items: Sequence[T], seed: str, number: int) -> list[T]:
    """Return the items in the random order that the seed has for round `number`.

    In a fixed order, each workload always follows the same one, with what that leaves in caches and heap.
    """
    return Random(f"{seed} {number}").sample(items, len(items))  # noqa: S311  an order, not a secret


def in_turns(items: Sequence[T], seed: str, number: int) -> list[T]:
    """Return what takes turns in its order in round `number`, from 1: random, and back in every second one.

    So a drift of the machine affects all of them alike.
    """
    order = shuffled(items, seed, (number + 1) // 2)
    if number % 2:
        return order
    return order[::-1]
