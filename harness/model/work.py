"""The work of a trial, where people compare what is done in a second and not the time it takes."""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

MIN_AMOUNT = 1e-18
MAX_AMOUNT = 1e30
"""All amounts of work are between: from one bit in a run of 30 years to all machines of the world."""
MAX_FIGURE = 1e15
UNIT_FORM = r"^[A-Za-z][A-Za-z0-9 _-]{0,19}\Z"

DECLARED_PEAK = "declared"
"""The peak that the user states: the sum of what the data sheets of the processors promise."""
DGEMM_PEAK = "dgemm"
"""The peak that was measured in the same trial: matrix products on all processes, without messages."""


@dataclass(frozen=True)
class Work:
    """The work of one execution of a workload.

    - `amount`, `unit`: such as 7.1e9 and `flop`. The performance is the amount per second; more is better. If
      only a performance is reported, the amount is the work of one second, which is then the trial's time.
    - `peaks`: the highest performance that is possible, in units per second, by its source. Performance as a
      fraction of a peak is the efficiency.
    - `figures`: what the program reports beside, such as the number of rollbacks. Nothing is compared by it.
    """

    amount: float
    unit: str
    peaks: Mapping[str, float] = field(default_factory=dict)
    figures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for value in [self.amount, *self.peaks.values()]:
            if not MIN_AMOUNT <= value < MAX_AMOUNT:
                raise ValueError(
                    f"an amount of work is {value!r}, not from {MIN_AMOUNT:g} to {MAX_AMOUNT:g}"
                )
        if any(not abs(value) <= MAX_FIGURE for value in self.figures.values()):
            raise ValueError(f"a figure is not a number from -{MAX_FIGURE:g} to {MAX_FIGURE:g}")
        if not re.match(UNIT_FORM, self.unit):
            raise ValueError("a unit is a word of up to 20 letters, digits, blanks and dashes")

    @property
    def counted(self) -> str:
        """The unit and peak of performances. Only performances with the same ones have a mean."""
        peak = self.peaks.get(DECLARED_PEAK)
        if peak is None:
            return self.unit
        return f"{self.unit} with a peak of {peak:g} {self.unit}/s"
