"""Predictions of what is known already: each configuration of a family from each slower one."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

from harness.analysis.observed.configuration import ConfigurationRuns, with_unique_names
from harness.analysis.observed.sample import table_model
from harness.analysis.predict.prediction import Predictor
from harness.analysis.predict.score import Score, scored_times
from harness.analysis.predict.target import target_of
from harness.model.errors import BadInput
from harness.model.link import rate_of_goodput
from harness.records.lookup import check_no_run_twice

RATIOS = (2, 3, 7)
"""Ratios that divide backcasts into groups: the further the target, the larger the error."""
BISECTIONS = 40
TINY = 1e-9


@dataclass(frozen=True)
class Backcast:
    """A configuration that was predicted from a slower one.

    `chance` has for each workload by how much chance alone moves the logarithm of the ratio of the measured
    times: a standard deviation.
    """

    score: Score
    chance: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """The goodput of the faster links, divided by that of the slower ones."""
        prediction = self.score.prediction
        return prediction.target.goodput_bit_s / prediction.baseline_goodput_bit_s


def backtest(columns: Sequence[ConfigurationRuns]) -> list[Backcast]:
    """Predict each configuration from each slower one with the same layout.

    Raises BadInput if no two configurations have the same layout and links of different rates, if one is
    given twice, or if one has no measured trial.
    """
    check_no_run_twice(recorded for column in columns for recorded in column.runs)
    predictors = list(map(Predictor, with_unique_names(columns)))
    found = [
        backcast
        for layouts in dict.fromkeys(column.layouts for column in columns)
        for backcast in _of_family([p for p in predictors if p.baseline.layouts == layouts])
    ]
    if not found:
        raise BadInput("backtest needs two configurations with the same layout and different links")
    return found


def by_ratio(backcasts: Sequence[Backcast]) -> dict[str, list[Backcast]]:
    """Return those whose links became faster by less than 2, less than 3, ..., and all, by their range."""
    ends = (1.0, *RATIOS, math.inf)
    groups = {
        f"{low:g} to {high:g}x" if high < math.inf else f"over {low:g}x": [
            backcast for backcast in backcasts if low <= backcast.ratio < high
        ]
        for low, high in pairwise(ends)
    }
    return {**{name: group for name, group in groups.items() if group}, "any": list(backcasts)}


def chance_error(backcasts: Iterable[Backcast]) -> float:
    """Return the median error that a perfect model would have, since times differ between runs by chance."""
    normals = [
        NormalDist(0, max(backcast.chance[time.predicted.workload], TINY))
        for backcast in backcasts
        for time in backcast.score.judged
    ]
    low, high = 0.0, max(normal.stdev for normal in normals)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        inside = sum(normal.cdf(middle) - normal.cdf(-middle) for normal in normals)
        low, high = (low, middle) if inside > len(normals) / 2 else (middle, high)
    return math.expm1(high)


def _of_family(predictors: Sequence[Predictor]) -> Iterator[Backcast]:
    order = sorted(predictors, key=lambda predictor: predictor.link.goodput_bit_s)
    for number, predictor in enumerate(order):
        after, link = predictor.baseline, predictor.link
        rate = link.rate_bit_s or round(rate_of_goodput(link.goodput_bit_s, link.mtu))
        for slower in order[:number]:
            before = slower.baseline
            if slower.link.is_slower_than(link):
                prediction = slower.predict(target_of(slower.link, before.name, rate, link.mtu))
                score = Score(prediction, after, scored_times(prediction, after))
                yield Backcast(score, _chance(before, after))


def _chance(before: ConfigurationRuns, after: ConfigurationRuns) -> dict[str, float]:
    model = table_model([before.runs, after.runs], before.workloads)
    return {
        name: math.sqrt(model.differences.ratio(0, 1, name).variance)
        for name in before.workloads
        if model.runs_of_either(0, 1, name)
    }
