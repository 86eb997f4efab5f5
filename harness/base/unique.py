"""Items of several collections, each of them once."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

T = TypeVar("T")


def unique(items: Iterable[T]) -> list[T]:
    """Return each item once, in the order of first appearance."""
    return list(dict.fromkeys(items))


def union(collections: Iterable[Iterable[T]]) -> list[T]:
    """Return each item of all collections once, in the order of first appearance."""
    return unique(chain.from_iterable(collections))
