"""The cases of a campaign: which scenario gets which signal when, from a seed."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice

from .processes import INTERRUPTIONS, Interruption

DEAL = ("generate", "benchmark", "generate --overwrite", "run", "hdfs run", "benchmark")
"""CI kills the first."""


@dataclass(frozen=True)
class Case:
    """A scenario that gets a signal after `moment`, a fraction of its duration."""

    number: int
    scenario: str
    interruption: Interruption
    moment: float

    def __str__(self) -> str:
        scenario = self.scenario.replace(" ", "-")
        return f"case-{self.number}-{scenario}-{self.interruption}-at-{self.moment:.3f}"


def cases(seed: int, number: int) -> Iterator[Case]:
    """Yield the first cases of a seed. A case depends on the seed and its own number alone."""
    of_scenario: Counter[str] = Counter()
    for index, scenario in enumerate(islice(cycle(DEAL), number), 1):
        turn = DEAL.index(scenario) + of_scenario[scenario]
        of_scenario[scenario] += 1
        chance = random.Random(f"{seed} {index}")  # noqa: S311  no secret
        yield Case(index, scenario, INTERRUPTIONS[turn % len(INTERRUPTIONS)], chance.random())
