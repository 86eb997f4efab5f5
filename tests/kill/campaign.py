"""The cases of a campaign: which scenario gets which signal when, from a seed; and the table of outcomes."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

from tabulate import tabulate

from .processes import INTERRUPTIONS, Interruption

# The first six are what CI kills; Ceph and the lab, which take a minute a case, come last.
DEAL = (
    *("generate", "benchmark", "generate --overwrite", "compare, report, export", "hdfs run"),
    *("run", "compare, report, export", "benchmark", "generate --overwrite", "hdfs run"),
    *("generate", "benchmark"),
    *("generate --overwrite on Ceph", "experiment"),
)


@dataclass(frozen=True)
class Case:
    """A scenario that gets a signal after `moment`, a fraction of its duration."""

    number: int
    scenario: str
    interruption: Interruption
    moment: float

    def __str__(self) -> str:
        scenario = self.scenario.replace(" ", "-").replace(",", "")
        return f"case-{self.number}-{scenario}-{self.interruption}-at-{self.moment:.3f}"


def cases(seed: int, number: int) -> Iterator[Case]:
    """Yield the first cases of a seed. A case depends on the seed and its own number alone."""
    of_scenario: Counter[str] = Counter()
    for index, scenario in enumerate(islice(cycle(DEAL), number), 1):
        turn = DEAL.index(scenario) + of_scenario[scenario]
        of_scenario[scenario] += 1
        chance = random.Random(f"{seed} {index}")  # noqa: S311  no secret
        yield Case(index, scenario, INTERRUPTIONS[turn % len(INTERRUPTIONS)], chance.random())


@dataclass
class Outcomes:
    """What came of the cases, by scenario and signal."""

    when: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    violations: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, case: Case, when: str, violations: Sequence[str]) -> None:
        """Count a case that was hit `when`: before the first output, in the middle, after the end."""
        self.when[case.scenario, str(case.interruption), when] += 1
        self.violations[case.scenario, str(case.interruption)] += len(violations)

    def table(self) -> str:
        """Return a line for each scenario and signal."""
        pairs = dict.fromkeys((scenario, name) for scenario, name, _ in sorted(self.when))
        rows = [
            (
                *pair,
                sum(self.when[*pair, when] for when in WHEN),
                *(self.when[*pair, when] for when in WHEN),
                self.violations[pair],
            )
            for pair in pairs
        ]
        totals = [sum(row[column] for row in rows) for column in range(2, 7)]
        return tabulate(
            [*rows, ("all", "", *totals)], ("scenario", "signal", "kills", *WHEN, "violations")
        )


WHEN = BEFORE, MIDDLE, AFTER = ("before start", "in the middle", "after end")
