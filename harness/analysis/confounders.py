"""What differs between two configurations besides what was meant to differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.analysis import environment
from harness.analysis.declared import declares_layout, spells
from harness.analysis.environment import LAYOUT, NEEDED, NOT_SET, REPARTITION, SAMPLES, as_text
from harness.model.run import Facts, RecordedRun, Run

LONGEST_VALUE = 80
"""Characters; class paths are longer."""

Workloads = frozenset[str] | None
"""Those concerned; None: all."""


@dataclass(frozen=True)
class Confounder:
    """Something that is otherwise on either side; of several values on one, all are in the text.

    `workloads` are those whose times it may explain.
    """

    what: str
    before: str
    after: str
    workloads: Workloads = None

    def concerns(self, workload: str) -> bool:
        """Whether it may explain this workload's change."""
        return self.workloads is None or workload in self.workloads

    def told(self, baseline: str) -> str:
        """In a line, for a reader of the column that is held against the baseline of this name."""
        return (
            f"{self.what}: {_shortened(self.after)} here, {_shortened(self.before)} in {baseline}"
        )


def _shortened(text: str) -> str:
    """Without its middle, if it is long."""
    half = LONGEST_VALUE // 2
    return text if len(text) <= LONGEST_VALUE else f"{text[:half]} … {text[-half:]}"


def confounders(
    baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]
) -> tuple[Confounder, ...]:
    """All that is known to differ; and what only one side knows, where a comparison hangs on it."""
    before, after = _runs(baseline), _runs(other)
    return tuple(
        difference
        for kind in _fact_groups(before, after)
        for difference in kind.differences(kind.observed(before), kind.observed(after))
    )


def different_data(baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]) -> str | None:
    """Which data each side read, if both are known and not the same."""
    before, after = (
        list(dict.fromkeys(filter(None, map(environment.content, _runs(runs)))))
        for runs in (baseline, other)
    )
    if not before or not after or set(before) == set(after):
        return None
    return f"{', '.join(before)} and {', '.join(after)}"


def _runs(recorded: Sequence[RecordedRun]) -> list[Run]:
    return [one.run for one in recorded]


def _fact_groups(before: Sequence[Run], after: Sequence[Run]) -> Iterator[_FactGroup]:
    """What is looked at, in the order in which it is told."""
    runs = [*before, *after]
    names = {name for run in runs for name in run.workloads}
    controls = {name for run in runs for name in run.parameters.get("controls") or ()}
    reading = _reading(before, controls), _reading(after, controls)
    of_one = {
        REPARTITION: frozenset({"repartition"}),
        SAMPLES: frozenset(names.difference(*reading)),
    }
    yield _FactGroup("parameters", environment.parameters, of_one)
    if in_both := reading[0] & reading[1]:
        yield _FactGroup("dataset", environment.dataset, of_all_others=in_both)
    yield _FactGroup("environment", environment.environment)


def _reading(runs: Sequence[Run], controls: Collection[str]) -> frozenset[str]:
    """The workloads that read the dataset; older runs do not say so: all but controls do."""
    return frozenset(
        name
        for run in runs
        for name in run.parameters.get("data_workloads", set(run.workloads).difference(controls))
    )


Observed = Sequence[tuple[Run, Mapping[str, str | None]]]
"""Of one side: each run that knows anything, with what it knows; None: it should, and does not."""


@dataclass(frozen=True)
class _FactGroup:
    """Circumstances that are recorded together, and the workloads that each concerns."""

    name: str
    read: Callable[[Run], Facts]
    of_single_ones: Mapping[str, Workloads] = field(default_factory=dict)
    of_all_others: Workloads = None

    def observed(self, runs: Sequence[Run]) -> Observed:
        return [
            (run, {name: as_text(value) for name, value in facts.items()})
            for run in runs
            if (facts := self.read(run))
        ]

    def differences(self, before: Observed, after: Observed) -> Iterator[Confounder]:
        """What is missing as a whole on one side is said once."""
        if before and after:
            for what in dict.fromkeys(name for _, read in (*before, *after) for name in read):
                here, there = _values(what, after), _values(what, before)
                is_other = here and there and set(here) != set(there)
                if is_other and not _is_meant(what, [*before, *after]):
                    yield self._difference(what, ", ".join(there), ", ".join(here))
        elif before or after:
            yield self._difference(self.name, _whether_recorded(before), _whether_recorded(after))

    def _difference(self, what: str, before: str, after: str) -> Confounder:
        workloads = self.of_single_ones.get(what, self.of_all_others)
        return Confounder(what, before, after, workloads)


def _whether_recorded(side: Observed) -> str:
    return "recorded" if side else "not recorded"


def _values(what: str, side: Observed) -> list[str]:
    """Each once, the unknown among them alone if it matters."""
    missing = NOT_SET if what.startswith("spark.") else None
    values = dict.fromkeys(read.get(what, missing) for _, read in side)
    return [
        "unknown" if value is None else value
        for value in values
        if value is not None or what in NEEDED
    ]


def _is_meant(what: str, observed: Observed) -> bool:
    """Whether every run declares it, in its name or as a fact, and it is as declared."""
    if what == LAYOUT:
        return all(declares_layout(run) for run, _ in observed)
    return all(spells(run, read.get(what) or "") for run, read in observed)
