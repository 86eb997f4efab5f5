"""What proving trials have found of the answers of workloads: which are right, and why others are wrong."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from harness.base.errors import WrongAnswer
from harness.model.run import Trial
from harness.trials.counting import proven_workloads


@dataclass
class Proofs:
    """The answers of these workloads: `right` has the proven ones, and `wrong` why others are not right."""

    workloads: Collection[str]
    right: set[str] = field(default_factory=set)
    wrong: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """The workloads whose answer no trial has looked at yet."""
        return [name for name in self.workloads if name not in self.right | self.wrong.keys()]

    def add(self, trials: Iterable[Trial]) -> None:
        """Learn what these trials have proven."""
        self.right |= proven_workloads(trials)

    def require_not_wrong(self, workload: str) -> None:
        """Raise WrongAnswer if the workload's answer is known to be wrong."""
        if workload in self.wrong:
            raise WrongAnswer(self.wrong[workload])
