"""How much runs of one configuration vary, and how often two halves of them would be called different."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import table_model
from harness.model.errors import BadInput
from harness.statistics.change import Verdict, changes_of_table, shift_of_controls
from harness.statistics.mixed_model import MixedModel, Run

SIZES = (1, 2, 3)
"""Runs on either side of a pair."""
MIN_IDENTICAL_RUNS = 2 * SIZES[0]
MAX_PAIRS = 2000
"""Of each size; if there are more, a random selection is taken, with a fixed seed."""
_SEED = 20201129
_MOST = 0.95


@dataclass(frozen=True)
class Variation:
    """How much a workload varies, as fractions of its time.

    `trials_sd` is the standard deviation of the trials of a run, None if no run repeated one; `runs_sd` is
    that of the medians of runs.
    """

    workload: str
    is_control: bool
    trials_sd: float | None
    runs_sd: float


@dataclass(frozen=True)
class Pairs:
    """What comparisons of identical runs find, with this number of `runs` on either side.

    `claims` and `alarms` are the fractions of `pairs` in which a workload is claimed to have changed and
    in which the controls are claimed to have moved; None if so few runs claim nothing. `most_differ` is
    the relative difference that 95 % of the workloads' differences do not exceed; None if no two runs have a
    workload in common.
    """

    runs: int
    pairs: int
    claims: float | None
    alarms: float | None
    most_differ: float | None


@dataclass(frozen=True)
class IdenticalRuns:
    """The variation of each workload, and the pairs of each size."""

    configuration: ConfigurationRuns
    variations: tuple[Variation, ...]
    pairs: tuple[Pairs, ...]


def identical_runs(configuration: ConfigurationRuns) -> IdenticalRuns:
    """Compare runs of one configuration with each other, split in all ways into two equal sides.

    Raises BadInput for a single run, and if fewer than two have times.
    """
    if len(configuration.runs) < MIN_IDENTICAL_RUNS:
        raise BadInput(
            f"{configuration.name!r} has a single run; make several identical ones, such as "
            "`make aa RUNS=12`"
        )
    names = configuration.workloads
    model = table_model([configuration.runs], names)
    runs = [run for run in model.configurations[0] if run]
    if len(runs) < MIN_IDENTICAL_RUNS:
        raise BadInput(
            f"{configuration.name!r} has fewer than {MIN_IDENTICAL_RUNS} runs with a measured trial; "
            "run jobs/benchmark.py"
        )
    controls = [name for name in names if name in configuration.controls]
    sizes = [size for size in SIZES if 2 * size <= len(runs)]
    return IdenticalRuns(
        configuration,
        tuple(
            Variation(name, name in controls, model.trial_sd(name), model.run_sd(name))
            for name in names
            if model.runs(0, name)
        ),
        tuple(_pairs(runs, size, controls) for size in sizes),
    )


_Pair = tuple[tuple[int, ...], tuple[int, ...]]
"""The numbers of the runs on either side; the first side has the lowest number."""


def _pairs(runs: Sequence[Run], size: int, controls: Sequence[str]) -> Pairs:
    claims: list[bool | None] = []
    alarms: list[bool | None] = []
    differences: list[float] = []
    for before, after in _splits(runs, size):
        model = MixedModel([before, after])
        changes = changes_of_table(model).values()
        verdicts = {change.verdict for change in changes}
        measured = [name for name in controls if model.runs_of_either(0, 1, name)]
        shift = shift_of_controls(model, 1, measured)
        claims.append(None if verdicts <= {Verdict.TOO_FEW} else Verdict.CHANGED in verdicts)
        alarms.append(None if shift is None or shift.p is None else shift.moved)
        differences += (abs(change.relative_change) for change in changes)
    differences.sort()
    return Pairs(
        size,
        len(claims),
        _fraction(claims),
        _fraction(alarms),
        differences[ceil(_MOST * len(differences)) - 1] if differences else None,
    )


def _splits(runs: Sequence[Run], size: int) -> Iterator[tuple[list[Run], list[Run]]]:
    """Yield every unordered pair of disjoint sets of `size` runs, or MAX_PAIRS of them at random."""
    count = comb(len(runs), size) * comb(len(runs) - size, size) // 2
    choose = _all_pairs if count <= MAX_PAIRS else _random_pairs
    for before, after in choose(len(runs), size):
        yield [runs[i] for i in before], [runs[i] for i in after]


def _all_pairs(runs: int, size: int) -> Iterator[_Pair]:
    for before in combinations(range(runs), size):
        others = [i for i in range(before[0] + 1, runs) if i not in before]
        yield from ((before, after) for after in combinations(others, size))


def _random_pairs(runs: int, size: int) -> Iterator[_Pair]:
    source = random.Random(_SEED)  # noqa: S311  no secret depends on it
    found: set[_Pair] = set()
    while len(found) < MAX_PAIRS:
        chosen = source.sample(range(runs), 2 * size)
        before, after = sorted((tuple(sorted(chosen[:size])), tuple(sorted(chosen[size:]))))
        found.add((before, after))
    yield from sorted(found)


def _fraction(answers: Sequence[bool | None]) -> float | None:
    """Return the fraction of those answers that are true; None answers that nothing was tested."""
    known = [answer for answer in answers if answer is not None]
    return sum(known) / len(known) if known else None
