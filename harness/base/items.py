"""Items of collections: each of them once, those that are known, those that remain, and groups."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from itertools import chain
from typing import TypeVar

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


def unique(items: Iterable[T]) -> list[T]:
    """Return each item once, in the order of first appearance."""
    return list(dict.fromkeys(items))


def union(collections: Iterable[Iterable[T]]) -> list[T]:
    """Return each item of all collections once, in the order of first appearance."""
    return unique(chain.from_iterable(collections))


def known(items: Iterable[T | None]) -> list[T]:
    """Return the items that are not None."""
    return [item for item in items if item is not None]


def without(items: Mapping[Key, T], keys: Collection[object]) -> dict[Key, T]:
    """Return a mapping without these keys."""
    return {key: item for key, item in items.items() if key not in keys}


def grouped(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """Return the items by their key, in the order in which the keys come first."""
    groups: dict[Key, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
