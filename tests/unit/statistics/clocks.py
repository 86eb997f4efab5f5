"""Tables whose trials follow a clock that moves, with a planted change, and ways to take the clock out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from harness.statistics.change import Verdict, changes_of_table
from harness.statistics.covariate import Observed, adjusted, middle, slope
from harness.statistics.mixed_model import Covariate, MixedModel, run_median

RUNS, TRIALS = 3, 8
SLOPES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)
"""How far each workload follows the clock."""
CHANGE = -0.05
"""Of the first workload, as a logarithm."""
EXCLUDED_FROM = 1.25

Table = list[list[list[list[Observed]]]]
"""By side, run and workload."""


@dataclass(frozen=True)
class Clock:
    """How times come about; deviations are those of logarithms.

    `clock_sd` is that of the clock from trial to trial, correlated from one to the next, `runs_sd` from
    run to run. `bursts` is the fraction of trials in which it is slower by `burst`. It drifts by `drift` in a
    run. The loop measures it with an error of `loop_sd`. The change makes the clock slower by `busier`, for
    the first `busy_workloads`. A trial varies by `noise`, and is an outlier with a probability of
    `outliers`. Times also cause clocks: `reverse` is by how much a trial's own noise slows the loop.
    """

    clock_sd: float = 0.0
    runs_sd: float = 0.0
    bursts: float = 0.0
    burst: float = 0.4
    drift: float = 0.0
    loop_sd: float = 0.005
    busier: float = 0.0
    busy_workloads: int = len(SLOPES)
    noise: float = 0.04
    outliers: float = 0.0
    reverse: float = 0.0

    def draw(self, random: np.random.Generator, change: float) -> Table:
        return [
            [self._run(random, change * side, self.busier * side) for _ in range(RUNS)]
            for side in (0, 1)
        ]

    def _run(
        self, random: np.random.Generator, change: float, busier: float
    ) -> list[list[Observed]]:
        shape = (TRIALS, len(SLOPES))
        steps = random.normal(size=TRIALS * len(SLOPES))
        for number in range(1, len(steps)):
            steps[number] = 0.8 * steps[number - 1] + 0.6 * steps[number]
        clock = self.clock_sd * steps.reshape(shape)
        clock += self.burst * (random.random(shape) < self.bursts)
        clock += self.drift * np.linspace(-0.5, 0.5, TRIALS)[:, None]
        clock += self.runs_sd * random.normal()
        clock[:, : self.busy_workloads] += busier
        noise = self.noise * random.normal(size=shape)
        noise += 0.3 * (random.random(shape) < self.outliers)
        times = clock * SLOPES + noise + 0.01 * random.normal(size=len(SLOPES))
        times[:, 0] += change
        loops = clock + self.loop_sd * random.normal(size=shape) + self.reverse * noise
        return [_trials(times[:, w], loops[:, w]) for w in range(len(SLOPES))]


def _trials(times: Sequence[float], loops: Sequence[float]) -> list[Observed]:
    """A trial does not count unadjusted if the loop is slower than usual by a quarter."""
    limit = sorted(loops)[(len(loops) - 1) // 4] + float(np.log(EXCLUDED_FROM))
    return [
        Observed(float(y), float(x), bool(x <= limit)) for y, x in zip(times, loops, strict=True)
    ]


@dataclass(frozen=True)
class Counted:
    """What counts of a workload in a run: the logarithms of times, and what they are adjusted to."""

    logs: list[float]
    covariate: Covariate | None = None


Adjust = Callable[[list[list[Observed]]], list[Counted]]
"""Of a workload, from its trials in all runs of both sides."""


def _as_measured(runs: list[list[Observed]]) -> list[Counted]:
    return [Counted([trial.log_time for trial in run]) for run in runs]


def _excluded(runs: list[list[Observed]]) -> list[Counted]:
    return [Counted([trial.log_time for trial in run if trial.is_quiet]) for run in runs]


def _in_runs(slope_of: Callable[[list[list[Observed]]], float], *, knows_levels: bool) -> Adjust:
    def adjust(runs: list[list[Observed]]) -> list[Counted]:
        found = slope_of(runs)
        return [
            Counted(adjusted(run, found), Covariate(found, middle(run)) if knows_levels else None)
            for run in runs
        ]

    return adjust


def _in_table(runs: list[list[Observed]]) -> list[Counted]:
    """Centred once for the whole table: it takes away what differs between runs, too."""
    found = slope(runs, 0.5)
    of_all = median(trial.covariate for run in runs for trial in run)
    return [
        Counted([trial.log_time - found * (trial.covariate - of_all) for trial in run])
        for run in runs
    ]


def _least_squares(runs: list[list[Observed]]) -> float:
    pairs = [
        (t.covariate - np.mean([u.covariate for u in run]), t.log_time) for run in runs for t in run
    ]
    return float(sum(x * y for x, y in pairs) / (sum(x * x for x, _ in pairs) or 1.0))


def _robust(runs: list[list[Observed]]) -> float:
    return slope(runs, 0.5)


METHODS: dict[str, Adjust] = {
    "as measured": _as_measured,
    "slow trials left out": _excluded,
    "slope 1, in runs": _in_runs(lambda _: 1.0, knows_levels=True),
    "least squares, in runs": _in_runs(_least_squares, knows_levels=True),
    "robust and shrunk, in runs": _in_runs(_robust, knows_levels=True),
    "the same, levels unknown": _in_runs(_robust, knows_levels=False),
    "robust and shrunk, in the table": _in_table,
}
CHOSEN = "robust and shrunk, in runs"


@dataclass(frozen=True)
class Outcome:
    """What a method does to tables of a scenario.

    - `claims`: the fraction of tables without a change that claim one;
    - `coverage`: of the intervals of the changed workload that contain the truth, which includes what the
      change does to the clock; `bias`: the mean error of its logarithm; `margin`: half an interval's width;
    - `left`: the variance within runs that is left.
    """

    claims: float
    coverage: float
    bias: float
    margin: float
    left: float

    def __str__(self) -> str:
        return (
            f"claims {self.claims:5.1%}  coverage {self.coverage:5.1%}  bias {100 * self.bias:+5.1f} "
            f"± {100 * self.margin():4.1f}  left {self.left:4.0%}"
        )


def outcome(clock: Clock, adjust: Adjust, tables: int, seed: int) -> Outcome:
    random = np.random.default_rng(seed)
    claims, covered, errors, margins, left = [], [], [], [], []
    still = Clock(**{**vars(clock), "busier": 0.0})
    for _ in range(tables):
        without = changes_of_table(_model(_counted(still.draw(random, 0.0), adjust))).values()
        claims.append(any(change.verdict is Verdict.CHANGED for change in without))
        table = clock.draw(random, CHANGE)
        counted = _counted(table, adjust)
        estimate = _model(counted).ratio(0, 1, "workload 0")
        error = estimate.log - CHANGE - clock.busier * SLOPES[0]
        errors.append(error)
        covered.append(abs(error) <= estimate.margin())
        margins.append(estimate.margin())
        left.append(_spread(counted) / _spread(_counted(table, _as_measured)))
    return Outcome(*map(float, map(np.mean, (claims, covered, errors, margins, left))))


def _counted(table: Table, adjust: Adjust) -> list[list[list[Counted]]]:
    """Return what counts, by side, run and workload."""
    found: list[list[list[Counted]]] = [[[] for _ in side] for side in table]
    places = [(s, r) for s, side in enumerate(table) for r in range(len(side))]
    for w in range(len(SLOPES)):
        for (s, r), own in zip(places, adjust([table[s][r][w] for s, r in places]), strict=True):
            found[s][r].append(own)
    return found


def _spread(table: list[list[list[Counted]]]) -> float:
    """The mean variance within runs of the workloads that follow the clock most."""
    return float(
        np.mean(
            [
                np.var(own.logs, ddof=1)
                for side in table
                for run in side
                for own in run[:3]
                if len(own.logs) > 1
            ]
        )
    )


def _model(table: list[list[list[Counted]]]) -> MixedModel:
    return MixedModel(
        [
            [
                {
                    f"workload {w}": run_median(np.exp(own.logs).tolist(), own.covariate)
                    for w, own in enumerate(run)
                    if own.logs
                }
                for run in side
            ]
            for side in table
        ]
    )
