"""Why steadiness is judged on times as measured, and not on times adjusted for the speed of processors.

`pytest -s tests/bench/test_steadiness_of_adjusted_times.py` prints the table of docs/noise.md.
"""

import math
from statistics import fmean

import numpy as np
import pytest

from harness.statistics.steadiness import steady_from

SAMPLES, TRIALS, LIMIT = 400, 6, 24
SLOPE, NOISE, LOOP_NOISE, WARM_UP_ROUNDS = 0.8, 0.02, 0.01, 4


def rounds_and_left_over(
    seed: int, warm_up: float, clock_sd: float, reverse: float, *, adjusts: bool
) -> tuple[int, float]:
    """Return the rounds until one workload is steady, and how much warm-up its sample has on average.

    The clock walks by `clock_sd` a round. The loop follows it, and the fraction `reverse` of the warm-up.
    """
    draw, clock, times_s = np.random.default_rng(seed), 0.0, list[float]()
    cold = [warm_up * math.exp(-number / WARM_UP_ROUNDS) for number in range(1, LIMIT + 1)]
    for number, slower in enumerate(cold, 1):
        clock += draw.normal(0, clock_sd)
        log_time = clock + slower + draw.normal(0, NOISE)
        loop = clock + reverse * slower + draw.normal(0, LOOP_NOISE)
        times_s.append(math.exp(log_time - SLOPE * loop if adjusts else log_time))
        start = steady_from(times_s, TRIALS)
        if start is not None:
            return number, fmean(cold[start:number])
    return LIMIT, fmean(cold[-TRIALS:])


@pytest.mark.parametrize("clock_sd", [0, 0.03])
@pytest.mark.parametrize("warm_up", [0.2, 0.5])
@pytest.mark.parametrize("reverse", [0, 0.5, 1])
def test_where_a_warm_up_slows_the_loop_an_adjustment_hides_it(
    clock_sd: float, warm_up: float, reverse: float
) -> None:
    measured, adjusted = (
        [
            rounds_and_left_over(seed, warm_up, clock_sd, reverse, adjusts=adjusts)
            for seed in range(SAMPLES)
        ]
        for adjusts in (False, True)
    )
    cells = [
        f"{fmean(n for n, _ in own):.1f} / {fmean(left for _, left in own):.1%}"
        for own in (measured, adjusted)
    ]
    print(f"\n| {clock_sd:.0%} | {warm_up:.0%} | {reverse:.0%} | {' | '.join(cells)} |")
    if reverse == 1:
        assert fmean(left for _, left in adjusted) > 1.5 * fmean(left for _, left in measured)
