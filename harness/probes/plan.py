"""A probe plan: the hosts, the programs that they need, and the steps that measure them.

Steps can be repeated, and between two steps a user sees how much is left. A probe that measures pairs of
hosts does so in rounds, so that no host is in two pairs at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from harness.model.interface import HostLink
from harness.model.probe import Measurement
from harness.probes.transports.host import Host

MAX_LISTED = 4

T = TypeVar("T")

Pairs = list[tuple[T, T]]
Links = Mapping[str, HostLink]
"""Links by the names of their hosts."""


@dataclass(frozen=True)
class ProbeStep:
    """One step: what it measures in words, how long that takes at least, and a function that measures."""

    description: str
    expected_s: float
    measure: Callable[[], Iterable[Measurement]]


@dataclass(frozen=True)
class ProbePlan:
    """What to probe. `programs` must be installed on every host.

    `make_steps` gets the hosts that can be used, at least `min_hosts`, and their links.
    """

    hosts: Sequence[Host]
    programs: Sequence[str]
    make_steps: Callable[[Sequence[Host], Links], list[ProbeStep]]
    min_hosts: int = 2
    repeats: int = 1


def listed(things: Sequence[object]) -> str:
    """Return the first four things by name, and the number of the others: `a, b, c, d and 2 more`."""
    more = len(things) - MAX_LISTED
    named = ", ".join(map(str, things[:MAX_LISTED]))
    return f"{named} and {more} more" if more > 0 else named


def round_robin(hosts: Sequence[T]) -> list[Pairs[T]]:
    """Pair all hosts with each other, by the circle method: the first stays, the others move on by one.

    Return N - 1 rounds of N / 2 disjoint pairs; for an odd N, N rounds in each of which one host is left out.
    """
    circle: list[T | None] = [*hosts, *([None] if len(hosts) % 2 else [])]
    rounds = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        facing = zip(circle[:half], reversed(circle[half:]), strict=True)
        rounds.append([(a, b) for a, b in facing if a is not None and b is not None])
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return rounds


def one_pair_per_round(hosts: Sequence[T]) -> list[Pairs[T]]:
    """Return the same pairs as `round_robin`, each in a round of its own."""
    return [[pair] for pair in combinations(hosts, 2)]
