"""The executors of a trial: how many there were on each host, and which came and went meanwhile."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Mapping

from harness.base.words import join_names
from harness.model.bounds import Name, Number

MAX_DETAILS = 3
"""Executors in a line that says what became of each."""


@dataclass(frozen=True)
class LostExecutor:
    """An executor that ended: its host, and the reason that Spark gives; None if Spark gives none."""

    host: Name
    reason: str | None = None


@dataclass(frozen=True)
class TrialExecutors:
    """The executors of a trial. Its time begins here where the time of the trial before ended.

    - `hosts`: how many executors there were on each host at its end.
    - `came`: the host of each executor that came meanwhile, by the executor's id.
    - `lost`: each executor that ended meanwhile, by its id.
    """

    hosts: Mapping[Name, Number] = field(default_factory=dict)
    came: Mapping[Name, Name] = field(default_factory=dict)
    lost: Mapping[Name, LostExecutor] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """How many executors there were at the trial's end."""
        return sum(self.hosts.values())

    @property
    def change(self) -> str | None:
        """What came and went, in one line: `n2: an executor was lost (...)`; None if nothing did."""
        if not self.came and not self.lost:
            return None
        came_on = sorted(self.came.values())
        lost_on = sorted(each.host for each in self.lost.values())
        what = _change(len(came_on), len(lost_on))
        if came_on and lost_on and came_on != lost_on:
            what += " on other hosts"
        hosts = join_names(sorted({*came_on, *lost_on}))
        details = list(self._details())
        shown = "; ".join(details[:MAX_DETAILS])
        if len(details) > MAX_DETAILS:
            shown += f"; {len(details) - MAX_DETAILS} more"
        return f"{hosts}: {what} ({shown})"

    def _details(self) -> Iterator[str]:
        for id_, executor in self.lost.items():
            yield f"{id_} of {executor.host} ended: {executor.reason or 'Spark does not say why'}"
        for id_, host in self.came.items():
            yield f"{id_} came on {host}"


def _change(came: int, lost: int) -> str:
    if came == lost:
        return f"{_executors(lost)} replaced"
    if not came:
        return f"{_executors(lost)} lost"
    if not lost:
        return f"{_executors(came)} added"
    return f"{_executors(lost)} lost, and {came} added"


def _executors(number: int) -> str:
    return "an executor was" if number == 1 else f"{number} executors were"
