"""A probe is a list of steps; whoever takes them can say how far it is, and stop in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TypeVar

from harness.model.probe import Measurement
from harness.runtime.progress import duration_text
from harness.runtime.trials import Clock
from harness.terminal import say

MOST_NAMES = 4


@dataclass(frozen=True)
class ProbeStep:
    """What is measured, about how long that takes, and the measuring itself."""

    what: str
    planned_s: float
    take: Callable[[], Iterable[Measurement]]


def listed(things: Sequence[object]) -> str:
    """Some by name, and how many more there are."""
    more = len(things) - MOST_NAMES
    named = ", ".join(map(str, things[:MOST_NAMES]))
    return f"{named} and {more} more" if more > 0 else named


def repeated(steps: Sequence[ProbeStep], times: int) -> list[ProbeStep]:
    """All steps so many times over; what they measure says in which round it was."""
    return [
        replace(step, take=partial(_in_round, step, round_))
        for round_ in range(1, times + 1)
        for step in steps
    ]


def taken(steps: Sequence[ProbeStep], clock: Clock = time.perf_counter) -> Iterator[Measurement]:
    """Take the steps one after the other, and say on the error stream which, and how long yet."""
    planned_s = sum(step.planned_s for step in steps)
    started, over_s = clock(), 0.0
    for number, step in enumerate(steps, 1):
        # A plan is what it takes at least; the steps that are over tell how much more it is.
        factor = max(1.0, (clock() - started) / over_s) if over_s else 1.0
        left = duration_text((planned_s - over_s) * factor)
        say(f"[{number}/{len(steps)}] {step.what}; {left} left")
        yield from step.take()
        over_s += step.planned_s


def _in_round(step: ProbeStep, round_: int) -> Iterator[Measurement]:
    for measurement in step.take():
        yield replace(measurement, round=round_)


# MERGED from harness.probes.tournament: 'Who meets whom when: everybody everybody else, in rounds in which nobody is in two places.'
T = TypeVar("T")

Round = list[tuple[T, T]]


def rounds(hosts: Sequence[T]) -> list[Round[T]]:
    """N - 1 rounds of N / 2 disjoint pairs; of an odd number N rounds, one sitting out in each.

    The circle method: the first stays, the others move on by one.
    """
    circle: list[T | None] = [*hosts, *([None] if len(hosts) % 2 else [])]
    made = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        facing = zip(circle[:half], reversed(circle[half:]), strict=True)
        made.append([(a, b) for a, b in facing if a is not None and b is not None])
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return made


def one_pair_at_a_time(hosts: Sequence[T]) -> list[Round[T]]:
    """The same pairs, one a round."""
    return [[pair] for pair in combinations(hosts, 2)]
