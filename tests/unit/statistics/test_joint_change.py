"""What all workloads together gained: the sum, the geometric mean, and how often their intervals miss."""

import math
import random
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from harness.statistics.change import Verdict, joint_change
from harness.statistics.run_model import Run, RunModel, run_median

BASES_S = {"q1": 100.0, "q2": 10.0, "q3": 3.0, "q4": 1.0}
TABLES = 300
LEAST, MOST = (float(binom.ppf(p, TABLES, 0.05)) / TABLES for p in (0.0005, 0.9995))


def run_of(times_s: Mapping[str, float]) -> Run:
    return {name: run_median([time_s], 0.0) for name, time_s in times_s.items()}


def table(*columns: Sequence[Mapping[str, float]]) -> RunModel:
    return RunModel([[run_of(run) for run in column] for column in columns])


@pytest.mark.parametrize("of_sums", [True, False])
def test_a_sum_is_of_seconds_and_a_mean_is_of_ratios(*, of_sums: bool) -> None:
    before = [{"q1": 100.0, "q2": 1.0}] * 3
    after = [{"q1": 90.0, "q2": 2.0}] * 3
    found = joint_change(table(before, after), 1, ["q1", "q2"], of_sums=of_sums)
    expected = 92 / 101 if of_sums else math.sqrt(0.9 * 2)
    assert found.relative_change == pytest.approx(expected - 1)


def test_a_single_run_has_no_interval() -> None:
    found = joint_change(table([BASES_S], [BASES_S] * 3), 1, list(BASES_S), of_sums=True)
    assert (found.interval, found.verdict) == (None, Verdict.TOO_FEW)


def test_controls_that_moved_are_taken_out() -> None:
    before = [{"q1": 10.0, "pi": 1.0}, {"q1": 10.1, "pi": 1.01}]
    after = [{"q1": 20.0, "pi": 2.0}, {"q1": 20.2, "pi": 2.02}]
    found = joint_change(table(before, after), 1, ["q1"], ["pi"], of_sums=True)
    assert found.relative_change == pytest.approx(0)


NAMES = ("w", "x", "y", "z")


@pytest.mark.parametrize("of_sums", [True, False])
@pytest.mark.parametrize(
    ("applications", "earlier", "later", "df"),
    [
        ([NAMES, NAMES], "wxyz", "wxyz", 3),
        ([NAMES, NAMES], "wx", "wx", 1),
        ([NAMES, NAMES], "wxy", "xyz", 1),
        ([NAMES, NAMES], "wx", "yz", 1),
        ([], "wxyz", "wxyz", 6),
        ([], "wx", "wx", 2),
    ],
)
def test_the_workload_with_the_fewest_runs_or_pairs_decides_how_much_is_known(
    applications: Sequence[Sequence[str]], earlier: str, later: str, df: int, *, of_sums: bool
) -> None:
    """Four runs of q1 on each side, and of q2 those of some applications."""

    def side(having: str) -> list[Run]:
        found = []
        for number, name in enumerate(NAMES):
            times_s = {"q1": 10.0 + number % 3}
            if name in having:
                times_s["q2"] = 20.0 - number % 3
            found.append(run_of(times_s))
        return found

    model = RunModel([side(earlier), side(later)], applications)
    assert model.joint_ratio(0, 1, "q1", "q2", of_sums=of_sums).df == df


TIMES_S = st.floats(0.01, 1_000)
RUNS = st.lists(st.fixed_dictionaries(dict.fromkeys(BASES_S, TIMES_S)), min_size=2, max_size=8)


@given(before=RUNS, after=RUNS, of_sums=st.booleans())
def test_the_other_way_round_is_the_reciprocal(
    *, before: Sequence[Mapping[str, float]], after: Sequence[Mapping[str, float]], of_sums: bool
) -> None:
    there = table(before, after).joint_ratio(0, 1, *BASES_S, of_sums=of_sums)
    back = table(after, before).joint_ratio(0, 1, *BASES_S, of_sums=of_sums)
    assert back.log == pytest.approx(-there.log, abs=1e-9)
    assert (back.variance, back.df) == pytest.approx((there.variance, there.df))


def every(_: random.Random, __: int) -> Sequence[str]:
    return list(BASES_S)


def by_application(_: random.Random, number: int) -> Sequence[str]:
    """Two applications in turns, which have no query in common."""
    return ["q1", "q2"] if number % 2 else ["q3", "q4"]


def most(rng: random.Random, number: int) -> Sequence[str]:
    """A run lacks a query now and then; the first two have all."""
    return [name for name in BASES_S if number <= 1 or rng.random() < 0.7]


@pytest.mark.parametrize("of_sums", [True, False])
@pytest.mark.parametrize(
    ("runs", "having", "common_sd", "own_sd"),
    [
        (3, every, 0.05, 0.02),
        (5, every, 0.01, 0.10),
        (12, every, 0.03, 0.03),
        (10, by_application, 0.03, 0.03),
        (8, most, 0.03, 0.03),
    ],
)
def test_one_interval_in_twenty_misses(
    runs: int,
    having: Callable[[random.Random, int], Sequence[str]],
    common_sd: float,
    own_sd: float,
    *,
    of_sums: bool,
) -> None:
    rng = random.Random(f"{runs} {having.__name__} {of_sums}")  # noqa: S311  a simulation
    gains = {"q1": 0.9, "q2": 1.2, "q3": 0.5, "q4": 1.0}

    def side(factors: Mapping[str, float]) -> list[dict[str, float]]:
        found = []
        for number in range(runs):
            common = rng.gauss(0, common_sd)
            run = {}
            for name in having(rng, number):
                log = math.log(BASES_S[name] * factors[name]) + common + rng.gauss(0, own_sd)
                run[name] = math.exp(log)
            found.append(run)
        return found

    if of_sums:
        after_s = math.fsum(BASES_S[name] * gains[name] for name in BASES_S)
        truth = after_s / math.fsum(BASES_S.values())
    else:
        truth = math.exp(math.fsum(map(math.log, gains.values())) / len(gains))
    misses = 0
    for _ in range(TABLES):
        columns = table(side(dict.fromkeys(BASES_S, 1.0)), side(gains))
        low, high = columns.joint_ratio(0, 1, *BASES_S, of_sums=of_sums).interval
        misses += not low <= truth <= high
    assert LEAST <= misses / TABLES <= MOST, misses
