"""A configuration beside its baseline, and what both have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import Sample
from harness.model.answer import Likeness, RowsDigest, likeness
from harness.model.run import Run


@dataclass(frozen=True)
class QueryAnswers:
    """The answers of a user's query on both sides: one, or several if they vary."""

    query: str
    before: Sequence[RowsDigest]
    after: Sequence[RowsDigest]

    @cached_property
    def likeness(self) -> Likeness:
        """How the answers of the two sides are alike."""
        return likeness(self.before, self.after)

    @property
    def seen_before(self) -> str:
        """What is different in the baseline, in words."""
        return self.before[0].difference(self.after[0])

    @property
    def seen_after(self) -> str:
        """What is different in the other configuration, in words."""
        return self.after[0].difference(self.before[0])


@dataclass(frozen=True)
class Sides:
    """A baseline, and another configuration that is compared with it.

    Conclusions from both, such as `answers`, are computed once, when they are first asked for.
    """

    baseline: ConfigurationRuns
    other: ConfigurationRuns

    @property
    def descriptions(self) -> Sequence[Run]:
        """What each run of both sides declared, requested and observed."""
        return [*self.baseline.descriptions, *self.other.descriptions]

    @property
    def controls(self) -> frozenset[str]:
        """The workloads that either side declares to be a control."""
        return self.baseline.controls | self.other.controls

    @property
    def attempted(self) -> set[str]:
        """The workloads with a measured trial that counts on both sides, ok or failed."""
        return set(self.baseline.attempted).intersection(self.other.attempted)

    @cached_property
    def samples(self) -> Mapping[str, tuple[Sample, Sample]]:
        """The samples of each workload that both sides have."""
        before = self.baseline.samples
        after = self.other.samples
        return {name: (before[name], after[name]) for name in before if name in after}

    @cached_property
    def answers(self) -> Sequence[QueryAnswers]:
        """The answers of each query that has some on both sides."""
        found: list[QueryAnswers] = []
        for name, (before, after) in self.samples.items():
            if before.answers and after.answers:
                found.append(QueryAnswers(name, before.answers, after.answers))
        return found
