"""Simulated warm-ups, and what the rule of steadiness makes of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean, median

from harness.statistics.steadiness import warm_from

TRIALS = 6
MAX_ROUNDS = 4 * TRIALS
OUTLIERS = 0.05
"""The fraction of trials that take up to twice as long."""


@dataclass(frozen=True)
class WarmUp:
    """A workload whose first trial takes 1 + `height` times as long as it does when it is warm.

    The excess falls to 1/e within `rounds` rounds. Until the round `step`, every trial takes 8 % longer
    in addition. The logarithms of the times have the standard deviation `noise`, and neighbours have
    the correlation `correlation`.
    """

    height: float = 0.0
    rounds: float = 1.0
    noise: float = 0.05
    step: int = 0
    correlation: float = 0.0

    def series(self, random: Random) -> list[float]:
        """Return the times of MAX_ROUNDS trials; a warm one without noise takes 1."""
        times, deviation = [], random.gauss(0, 1)
        for number in range(MAX_ROUNDS):
            own = random.gauss(0, math.sqrt(1 - self.correlation**2))
            deviation = self.correlation * deviation + own
            warm = 1 + self.height * math.exp(-number / self.rounds)
            slow = 1.08 if number < self.step else 1
            outlier = random.uniform(1.2, 2) if random.random() < OUTLIERS else 1
            times.append(warm * slow * outlier * math.exp(self.noise * deviation))
        return times


@dataclass(frozen=True)
class Figures:
    """What happened in many runs.

    - `rounds`: how many a run took on average; `extended`: the fraction of runs that took more than
      the least number; `limited`: the fraction that never found all workloads steady.
    - `bias`: by how much the median of the sample exceeds that of warm trials, on average over runs and
      workloads, as a fraction; `fixed_bias`: the same for six trials after one warm-up round.
    """

    rounds: float
    extended: float
    limited: float
    bias: float
    fixed_bias: float

    def __str__(self) -> str:
        return (
            f"rounds {self.rounds:5.1f}   extended {self.extended:4.0%}   limit {self.limited:4.0%}   "
            f"left over {self.bias:+6.1%}   after one warm-up round {self.fixed_bias:+6.1%}"
        )


def simulate(workloads: Sequence[WarmUp], runs: int, seed: int = 1) -> Figures:
    """Return the figures of runs that wait until all of these workloads are steady."""
    random = Random(seed)  # noqa: S311  noise, not a secret
    rounds, biases, fixed_biases, limited = [], [], [], 0
    for _ in range(runs):
        series = [workload.series(random) for workload in workloads]
        for number in range(TRIALS + 1, MAX_ROUNDS + 1):
            starts = [warm_from(times[1:number], TRIALS) for times in series]
            if None not in starts:
                break
        limited += None in starts
        rounds.append(number)
        for workload, times, start in zip(workloads, series, starts, strict=True):
            warm = _warm_median(workload.noise)
            first = number - TRIALS if start is None else 1 + start
            biases.append(median(times[first:number]) / warm - 1)
            fixed_biases.append(median(times[1 : TRIALS + 1]) / warm - 1)
    extended = fmean(number > TRIALS + 1 for number in rounds)
    return Figures(fmean(rounds), extended, limited / runs, fmean(biases), fmean(fixed_biases))


@cache
def _warm_median(noise: float) -> float:
    """Return the average median of six warm trials: outliers raise it a little above 1."""
    random = Random(2)  # noqa: S311  noise, not a secret
    return fmean(median(WarmUp(noise=noise).series(random)[:TRIALS]) for _ in range(4000))


def nine(warm_up: WarmUp) -> list[WarmUp]:
    """Return nine workloads that warm up like this one: some by less, some with more noise."""
    return [
        WarmUp(
            warm_up.height * share,
            warm_up.rounds,
            warm_up.noise * noise,
            warm_up.step,
            warm_up.correlation,
        )
        for share, noise in zip(
            (1, 1, 1, 0.6, 0.6, 0.3, 0.3, 0.1, 0), (1, 0.7, 1, 1.3, 1, 0.7, 1, 1.5, 1), strict=True
        )
    ]
