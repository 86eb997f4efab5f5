"""Predict configurations that were measured already, each from each slower one, to see the errors.

    python -m tests.bench.backtest [CONFIGURATION...] --results DIR

takes all configurations in DIR if none is named, leaves out those whose links are unknown, and prints the
errors of each pair, and the table of docs/prediction.md. With --without-profiles, all predictions are by full
links.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist

import click

from harness.analysis.observed.configuration import (
    ConfigurationRuns,
    find_configuration,
    model_of,
)
from harness.analysis.observed.environment import dataset_facts
from harness.analysis.predict.prediction import Predictor
from harness.analysis.predict.score import Score, scored_times, summarise
from harness.analysis.predict.target import known_link, target_of
from harness.analysis.predict.waits import network_times
from harness.model.link import rate_of_goodput
from harness.model.run import Phase
from harness.present import text
from harness.present.blocks import Table
from harness.records.directories import results_files
from harness.records.lookup import check_no_run_twice

SLOWER = 0.9
"""A slower link carries this part at most: of links that are closer, a backtest shows nothing."""
RATIOS = (1, 2, 3, 7, math.inf)
"""The further the target, the larger the error."""
BISECTIONS = 40
TINY = 1e-9


@dataclass(frozen=True)
class Backcast:
    """A configuration that was predicted from a slower one.

    `chance` has for each time that is judged by how much chance alone moves the logarithm of the ratio of
    the measured times: a standard deviation.
    """

    before: ConfigurationRuns
    score: Score
    chance: Sequence[float]

    @property
    def ratio(self) -> float:
        """The goodput of the faster links, divided by that of the slower ones."""
        return 1 / self.score.slowness

    @property
    def names(self) -> tuple[str, str]:
        """The configuration that was predicted from, and the one that was predicted."""
        return self.score.prediction.baseline, self.score.after.name


def backtest(configurations: Iterable[ConfigurationRuns]) -> Iterator[Backcast]:
    """Predict each configuration from each one with the same storage and layout and clearly slower links."""
    columns = list(configurations)
    check_no_run_twice(recorded for column in columns for recorded in column.runs)
    predictors = sorted(map(Predictor, columns), key=lambda found: found.link.goodput_bit_s)
    stored = dict.fromkeys(map(_stored, columns))
    for family in ([p for p in predictors if _stored(p.baseline) == each] for each in stored):
        for number, faster in enumerate(family):
            for slower in family[:number]:
                is_slower = slower.link.goodput_bit_s <= SLOWER * faster.link.goodput_bit_s
                if is_slower and network_times(slower.baseline).keys() - slower.baseline.controls:
                    yield backcast(slower, faster)


def _stored(column: ConfigurationRuns) -> tuple[object, ...]:
    """Return where the data of a configuration is, and in which layouts."""
    storages = {dataset_facts(recorded.run).get("storage") for recorded in column.runs}
    return frozenset(storages), column.layouts


def backcast(slower: Predictor, faster: Predictor) -> Backcast:
    """Predict the faster configuration from the slower one."""
    before, after, link = slower.baseline, faster.baseline, faster.link
    rate = link.rate_bit_s or round(rate_of_goodput(link.goodput_bit_s, link.mtu))
    prediction = slower.predict(target_of(slower.link, before.name, rate, link.mtu))
    score = Score(prediction, after, scored_times(prediction, after))
    model = model_of([before, after])
    variances = (model.ratio(0, 1, time.predicted.workload).variance for time in score.judged)
    return Backcast(before, score, list(map(math.sqrt, variances)))


def without_profiles(column: ConfigurationRuns) -> ConfigurationRuns:
    """Return a configuration as if it had no profile rounds."""
    return replace(
        column,
        runs=tuple(
            replace(one, trials=tuple(t for t in one.trials if t.phase is not Phase.PROFILE))
            for one in column.runs
        ),
    )


def chance_error(backcasts: Iterable[Backcast]) -> float:
    """Return the median error that a perfect model would have, since times differ between runs by chance."""
    normals = [NormalDist(0, max(sd, TINY)) for found in backcasts for sd in found.chance]
    low, high = 0.0, max(normal.stdev for normal in normals)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        inside = sum(normal.cdf(middle) - normal.cdf(-middle) for normal in normals)
        low, high = (low, middle) if inside > len(normals) / 2 else (middle, high)
    return math.expm1(high)


def model_errors(found: Backcast) -> dict[str, float]:
    """Return the errors of the predictions, without controls."""
    return {time.predicted.workload: time.error for time in found.score.judged}


def table(backcasts: Sequence[Backcast]) -> str:
    """Return the errors of each pair; + is a prediction that was too long."""
    errors = list(map(model_errors, backcasts))
    workloads = dict.fromkeys(name for of_pair in errors for name in of_pair)
    rows = [
        [
            *(*found.names, f"{found.ratio:.1f}x"),
            *(f"{of_pair[name]:+.1%}" if name in of_pair else "-" for name in workloads),
        ]
        for found, of_pair in zip(backcasts, errors, strict=True)
    ]
    return text.render([Table(("from", "to", "faster by", *workloads), rows)])


def summaries(backcasts: Sequence[Backcast]) -> str:
    """Return the table of docs/prediction.md."""
    groups = {
        f"{low:g} to {high:g}x" if high < math.inf else f"over {low:g}x": [
            found for found in backcasts if low <= found.ratio < high
        ]
        for low, high in pairwise(RATIOS)
    }
    rows = [
        (
            ratio,
            str(summary.count),
            f"{summary.median_error:.1%}",
            f"{summary.worst_error:.1%}",
            str(summary.inside_80),
            str(summary.inside_95),
            f"{chance_error(group):.1%}",
            f"{summary.unchanged:.1%}",
            f"{summary.proportional:.1%}",
        )
        for ratio, group in (*groups.items(), ("any", backcasts))
        if (summary := summarise([found.score for found in group]))
    ]
    headings = ("faster by", "times", "median", "worst", "in 80 %", "in 95 %", "chance")
    return text.render([Table((*headings, "no change", "1/rate"), rows)])


@click.command()  # noqa: TID251  not one of clusterlift's
@click.argument("configurations", nargs=-1)
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"))
@click.option("--without-profiles", "by_full_links", is_flag=True)
def main(configurations: Sequence[str], results: Path, *, by_full_links: bool) -> None:
    """Print the errors of all pairs, and the summary of them."""
    names = configurations or [each.name for each in results.iterdir() if results_files(each)]
    columns = [find_configuration(name, results) for name in sorted(names)]
    columns = [column for column in columns if known_link(column)]
    backcasts = list(backtest(map(without_profiles, columns) if by_full_links else columns))
    print(table(backcasts), summaries(backcasts), sep="\n", end="")


if __name__ == "__main__":
    main()
