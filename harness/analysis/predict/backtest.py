"""Predictions of what is known already: each configuration of a family from each slower one."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist, fmean

from harness.analysis.observed.configuration import ConfigurationRuns, with_unique_names
from harness.analysis.observed.sample import table_model
from harness.analysis.predict.prediction import Predictor
from harness.analysis.predict.score import Score, scored_times
from harness.analysis.predict.target import TypicalLink, target_of, typical_link
from harness.model.errors import BadInput
from harness.model.link import rate_of_goodput
from harness.records.lookup import check_no_run_twice

RATIOS = (2, 3, 7)
"""Ratios that divide backcasts into groups: the further the target, the larger the error."""
BISECTIONS = 40
HALF = 0.5
TINY = 1e-9


@dataclass(frozen=True)
class Backcast:
    """A configuration that was predicted from a slower one, and perhaps from still slower ones, too.

    `ratio` is that of the goodputs of the links, faster / slower. `chance` has for each workload by how much
    chance alone moves the logarithm of the ratio of the measured times: a standard deviation.
    """

    score: Score
    throttled: tuple[str, ...]
    ratio: float
    chance: Mapping[str, float]

    @property
    def pair(self) -> tuple[str, str]:
        """The names of the configurations, before and after."""
        return self.score.prediction.baseline.configuration, self.score.after.name


def backtest(columns: Sequence[ConfigurationRuns]) -> list[Backcast]:
    """Predict each configuration from each slower one with the same layout, alone and with all slower ones.

    Raises BadInput if no two configurations have the same layout and links of different rates, or if one is
    given twice.
    """
    check_no_run_twice(recorded for column in columns for recorded in column.runs)
    columns = with_unique_names(columns)
    links = {column.name: typical_link(column) for column in columns}
    found = [
        backcast
        for layouts in dict.fromkeys(column.layouts for column in columns)
        for backcast in _of_family([c for c in columns if c.layouts == layouts], links)
    ]
    if not found:
        raise BadInput("backtest needs two configurations with the same layout and different links")
    return found


def by_what_was_learnt(backcasts: Sequence[Backcast]) -> dict[str, list[Backcast]]:
    """Return those from a single configuration, and those that learnt from still slower ones, by name.

    Of the former, those of which there is one of the latter, too, are also a group of their own.
    """
    alone = [each for each in backcasts if not each.throttled]
    learnt = [each for each in backcasts if each.throttled]
    pairs = {each.pair for each in learnt}
    groups = {
        "one slower link": alone,
        "one, same pairs": [each for each in alone if each.pair in pairs],
        "all slower links": learnt,
    }
    return {name: group for name, group in groups.items() if group}


def by_ratio(backcasts: Sequence[Backcast]) -> dict[str, list[Backcast]]:
    """Return those whose links became faster by less than 2, less than 3, ..., and all, by their range."""
    ends = (1.0, *RATIOS, math.inf)
    groups = {
        f"{low:g} to {high:g}x" if high < math.inf else f"over {low:g}x": [
            each for each in backcasts if low <= each.ratio < high
        ]
        for low, high in pairwise(ends)
    }
    return {**{name: group for name, group in groups.items() if group}, "any": list(backcasts)}


def chance_error(backcasts: Iterable[Backcast]) -> float:
    """Return the median error that a perfect model would have, since times differ between runs by chance."""
    normals = [
        NormalDist(0, max(each.chance[time.predicted.workload], TINY))
        for each in backcasts
        for time in each.score.judged
    ]
    low, high = 0.0, max(normal.stdev for normal in normals)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        inside = fmean(normal.cdf(middle) - normal.cdf(-middle) for normal in normals)
        low, high = (low, middle) if inside > HALF else (middle, high)
    return math.expm1(high)


def _of_family(
    columns: Sequence[ConfigurationRuns], links: dict[str, TypicalLink]
) -> Iterator[Backcast]:
    order = sorted(columns, key=lambda column: links[column.name].goodput_bit_s)
    # What is learnt of a baseline is the same for all its targets.
    predictors = {baseline.name: _predictors(baseline, order, links) for baseline in order[:-1]}
    for number, target in enumerate(order):
        link = links[target.name]
        rate = link.rate_bit_s or round(rate_of_goodput(link.goodput_bit_s, link.mtu))
        for baseline in order[:number]:
            present = links[baseline.name]
            if not present.is_slower_than(link):
                continue
            wanted = target_of(present, baseline.name, rate, link.mtu)
            chance = _chance(baseline, target)
            for predictor in predictors[baseline.name]:
                prediction = predictor.predict(wanted)
                yield Backcast(
                    Score(prediction, target, scored_times(prediction, target), (), (), ()),
                    tuple(each.column.name for each in predictor.slower),
                    wanted.goodput_bit_s / prediction.baseline_goodput_bit_s,
                    chance,
                )


def _predictors(
    baseline: ConfigurationRuns,
    columns: Sequence[ConfigurationRuns],
    links: Mapping[str, TypicalLink],
) -> list[Predictor]:
    """Return that from a configuration alone, and that which learns from slower ones if there are any."""
    present = links[baseline.name]
    slower = [each for each in columns if links[each.name].is_slower_than(present)]
    return [Predictor.of(baseline, each) for each in ([[], slower] if slower else [[]])]


def _chance(before: ConfigurationRuns, after: ConfigurationRuns) -> dict[str, float]:
    model = table_model([before.runs, after.runs], before.workloads)
    return {
        name: math.sqrt(model.differences.ratio(0, 1, name).variance)
        for name in before.workloads
        if model.runs_of_either(0, 1, name)
    }
