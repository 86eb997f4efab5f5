"""How often tables of runs that were really measured, and that do not differ, claim a change.

    python -m tests.bench.identical_runs RESULTS...

divides the runs of each configuration in these directories into halves in many ways, and compares one half
with the other; with --together, it takes all configurations of a directory as one, which they must be. It
prints for each how many runs it has, how much they differ (the median over workloads), how many tables there
are, how many of them claim a change, how many intervals do not contain 0, and whether the table of the
earlier and the later half claims a change.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import fmean, median

import click

from harness.analysis.observed.configuration import (
    ConfigurationRuns,
    find_configuration,
    model_of,
)
from harness.base.words import percent
from harness.model.run import RecordedRun
from harness.records.directories import results_files
from harness.statistics.change import changes_from_baseline
from harness.statistics.run_model import Run, RunModel
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
    tables: int
    claims: float
    misses: float
    in_order: bool

    def __str__(self) -> str:
        run_sd, claims, misses = (
            percent(share, 1) for share in (self.run_sd, self.claims, self.misses)
        )
        ends = f"{claims} | {misses} | {'yes' if self.in_order else 'no'}"
        return f"| {self.name} | {self.runs} | {run_sd} | {self.tables} | {ends} |"


def halves(name: str, recorded: Sequence[RecordedRun]) -> Halves | None:
    """Compare halves of runs in the order of measurement; None for too few runs."""
    model = model_of([ConfigurationRuns(name, tuple(recorded))])
    [runs] = model.configurations
    tables = [list(changes_from_baseline(RunModel(sides)).values()) for sides in _divided(runs)]
    half = len(runs) // 2
    intervals = [each.interval for table in tables for each in table if each.interval]
    if len(runs) < MIN_RUNS or not intervals:
        return None
    return Halves(
        name,
        len(runs),
        median(map(model.run_sd, model.workloads)),
        len(tables),
        fmean(map(claims_any, tables)),
        fmean(not interval.low <= 0 <= interval.high for interval in intervals),
        claims_any(changes_from_baseline(RunModel([runs[:half], runs[-half:]])).values()),
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
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--together", is_flag=True)
def main(results: Sequence[Path], *, together: bool) -> None:
    """Print a line for each configuration, and the fraction of all tables that claim a change."""
    recorded: dict[str, list[RecordedRun]] = {}
    for directory in results:
        for each in sorted(each for each in directory.iterdir() if results_files(each)):
            runs = find_configuration(str(each), directory).runs
            counted = [run for run in runs if any(trial.counts for trial in run.trials)]
            recorded.setdefault(str(directory if together else each), []).extend(counted)
    found = [
        halves(name, sorted(runs, key=lambda run: run.run.started_at))
        for name, runs in recorded.items()
    ]
    known = [each for each in found if each]
    if not known:
        raise click.UsageError(f"no configuration in RESULTS has {MIN_RUNS} runs that count")
    print(*known, sep="\n")
    tables = sum(each.tables for each in known)
    claims = sum(each.claims * each.tables for each in known) / tables
    print(f"{tables} tables; {percent(claims, 1)} of them claim a change")


if __name__ == "__main__":
    main()
