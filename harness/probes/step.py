"""A probe is a list of steps; whoever takes them can say how far it is, and stop in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness.loopback.say import say
from harness.probes.measurement import Measurement
from harness.record.progress import duration
from harness.record.runner import Clock

MOST_NAMES = 4


@dataclass(frozen=True)
class Step:
    """What is measured, about how long that takes, and the measuring itself."""

    what: str
    planned_s: float
    take: Callable[[], Iterable[Measurement]]


def listed(things: Sequence[object]) -> str:
    """Some by name, and how many more there are."""
    more = len(things) - MOST_NAMES
    named = ", ".join(map(str, things[:MOST_NAMES]))
    return f"{named} and {more} more" if more > 0 else named


def repeated(steps: Sequence[Step], times: int) -> list[Step]:
    """All steps so many times over; what they measure says in which round it was."""
    return [
        replace(step, take=partial(_in_round, step, round_))
        for round_ in range(1, times + 1)
        for step in steps
    ]


def taken(steps: Sequence[Step], clock: Clock = time.perf_counter) -> Iterator[Measurement]:
    """Take the steps one after the other, and say on the error stream which, and how long yet."""
    planned_s = sum(step.planned_s for step in steps)
    started, over_s = clock(), 0.0
    for number, step in enumerate(steps, 1):
        # A plan is what it takes at least; the steps that are over tell how much more it is.
        factor = max(1.0, (clock() - started) / over_s) if over_s else 1.0
        left = duration((planned_s - over_s) * factor)
        say(f"[{number}/{len(steps)}] {step.what}; {left} left")
        yield from step.take()
        over_s += step.planned_s


def _in_round(step: Step, round_: int) -> Iterator[Measurement]:
    for measurement in step.take():
        yield replace(measurement, round=round_)
