"""Items of collections: each of them once, and those that are known."""

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


def known(items: Iterable[T | None]) -> list[T]:
    """Return the items that are not None."""
    return [item for item in items if item is not None]
