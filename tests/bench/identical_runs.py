"""How often tables of runs that were really measured, and that do not differ, claim a change.

    python -m tests.bench.identical_runs RESULTS [CONFIGURATION...]

divides the runs of each configuration in RESULTS into halves in many ways, and compares one half with the
other; with names, it takes the runs of these together, which then must be of the same set-up. It prints for
each how many runs it has, how much they differ (the median over workloads), how many tables claim a change,
how many intervals do not contain 0, and whether the table of the earlier and the later half claims a change.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import fmean, median

import click

from harness.analysis.observed.configuration import find_configuration
from harness.analysis.observed.sample import table_model
from harness.model.errors import BadInput
from harness.model.run import RecordedRun
from harness.records.directories import results_files
from harness.statistics.change import changes_of_table
from harness.statistics.run_table import Run, RunTable
from harness.words import percent
from tests.bench.simulation import claims_any

MIN_RUNS = 4
MAX_TABLES = 500
"""Of one configuration; they are drawn at random if there are more ways to divide its runs."""


@dataclass(frozen=True)
class Halves:
    """What came of the tables of one configuration, as fractions.

    `in_order` is whether the table of its earlier and its later runs claims a change.
    """

    name: str
    runs: int
    run_sd: float
    claims: float
    misses: float
    in_order: bool

    def __str__(self) -> str:
        shares = " | ".join(percent(share, 1) for share in (self.run_sd, self.claims, self.misses))
        return f"| {self.name} | {self.runs} | {shares} | {'yes' if self.in_order else 'no'} |"


def halves(name: str, recorded: Sequence[RecordedRun]) -> Halves:
    """Compare halves of runs, of which there are MIN_RUNS or more, in the order of measurement."""
    names = dict.fromkeys(name for each in recorded for name in each.by_workload)
    model = table_model([recorded], names)
    [runs] = model.configurations
    tables = [list(changes_of_table(RunTable(sides)).values()) for sides in _divided(runs)]
    half = len(runs) // 2
    intervals = [each.interval for table in tables for each in table if each.interval]
    return Halves(
        name,
        len(runs),
        median(map(model.run_sd, model.workloads)),
        fmean(map(claims_any, tables)),
        fmean(not interval.low <= 0 <= interval.high for interval in intervals),
        claims_any(changes_of_table(RunTable([runs[:half], runs[-half:]])).values()),
    )


def _divided(runs: Sequence[Run]) -> Iterator[tuple[list[Run], list[Run]]]:
    """Yield the ways to make two sides of half of the runs each, or a random choice of them."""
    half, every = len(runs) // 2, range(len(runs))
    random = Random(1)  # noqa: S311  no secret, and the same in every table
    few = math.comb(len(runs), half) <= MAX_TABLES
    for chosen in combinations(every, half) if few else (None,) * MAX_TABLES:
        first = chosen or random.sample(every, half)
        others = [number for number in every if number not in first]
        yield [runs[n] for n in first], [runs[n] for n in random.sample(others, half)]


@click.command(help=__doc__)  # noqa: TID251  not one of clusterlift's
@click.argument("results", type=click.Path(path_type=Path, exists=True))
@click.argument("configurations", nargs=-1)
def main(results: Path, configurations: Sequence[str]) -> None:
    """Print a line for each configuration."""
    found: dict[str, list[RecordedRun]] = {}
    every = sorted(each.name for each in results.iterdir() if results_files(each))
    for name in configurations or every:
        try:
            runs = find_configuration(str(results / name), results).runs
        except BadInput as error:
            raise SystemExit(str(error)) from None
        found.setdefault(" and ".join(configurations) or name, []).extend(runs)
    for name, recorded in found.items():
        counted = [each for each in recorded if any(trial.counts for trial in each.trials)]
        if len(counted) >= MIN_RUNS:
            counted.sort(key=lambda each: each.run.started_at)
            print(halves(f"{results.name}/{name}", counted))


if __name__ == "__main__":
    main()
