"""From which time on a series is steady: the warm-up is over where the times stop becoming shorter.

A virtual machine compiles what it runs often, and a run measures that before it measures the work. How long
it takes cannot be known beforehand, and some series never become steady (Barrett et al. 2017, "Virtual
machine warmup blows hot and cold"); so the times themselves must show it (Kalibera & Jones 2013). Standard
library only.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from statistics import fmean, median

LEVEL = 0.25
"""The chance that times without any trend look as if they became shorter.

A false alarm costs a round, and an overlooked warm-up spoils the sample: so the level is high. docs/noise.md
has the figures by which it was chosen.
"""

SMALL_DRIFT = 0.01
"""A change below this fraction does not matter, however certain it is."""

MIN_VARIANCE = 1e-12
"""Of the slope of logarithms: equal steps are not infinitely certain."""


def warm_from(times_s: Sequence[float], trials: int) -> int | None:
    """Return the index from which on the times, at least `trials` of them, do not become shorter.

    It is the first such index. Times become shorter

    - if a one-sided test of Mann and Kendall says so at LEVEL, and the median of their first half exceeds
      that of their second half by SMALL_DRIFT or more;
    - or if the first exceeds all others by SMALL_DRIFT or more, which a test of ranks hardly sees.

    Return None if there is no such index.
    """
    scores = _scores(times_s)
    starts = range(len(times_s) - trials + 1)
    return next((i for i in starts if not _become_shorter(times_s[i:], scores[i])), None)


def _scores(times_s: Sequence[float]) -> list[int]:
    """Return Kendall's score from each index on: pairs that increase minus those that decrease."""
    scores, score = [], 0
    later: list[float] = []
    for time_s in reversed(times_s):
        score += len(later) - bisect_right(later, time_s) - bisect_left(later, time_s)
        insort(later, time_s)
        scores.append(score)
    return scores[::-1]


def _become_shorter(times_s: Sequence[float], score: int) -> bool:
    first, *others = times_s
    if others and first >= (1 + SMALL_DRIFT) * max(others):
        return True
    n = len(times_s)
    deviation = math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    # The normal approximation with a correction for continuity; from four values on it is close enough.
    if score >= 0 or math.erfc((-score - 1) / deviation / math.sqrt(2)) / 2 > LEVEL:
        return False
    half = n // 2
    return median(times_s[:half]) >= (1 + SMALL_DRIFT) * median(times_s[-half:])


def rise(runs_s: Sequence[Sequence[float]], level: float) -> float:
    """Return by what fraction times become longer from the first to the last of a run; 0 by chance.

    The times of several runs have one line of their logarithms, with a level for each run. Chance does not
    explain it if a one-sided t test of its slope says so at `level`, and it rises by SMALL_DRIFT or more.
    """
    xs, ys = list[float](), list[float]()
    for times_s in runs_s:
        logs = [math.log(time_s) for time_s in times_s]
        xs += [number - (len(logs) - 1) / 2 for number in range(len(logs))]
        ys += [log - fmean(logs) for log in logs]
    df, x2 = len(xs) - len(runs_s) - 1, math.fsum(x * x for x in xs)
    if df < 1 or not x2:
        return 0.0
    slope = math.fsum(x * y for x, y in zip(xs, ys, strict=True)) / x2
    noise = math.fsum((y - slope * x) ** 2 for x, y in zip(xs, ys, strict=True)) / df / x2
    found = math.expm1(slope * (max(map(len, runs_s)) - 1))
    if found < SMALL_DRIFT or _tail(slope / math.sqrt(max(noise, MIN_VARIANCE)), df) > level:
        return 0.0
    return found


def _tail(t: float, df: int) -> float:
    """Return the probability that Student's t exceeds `t`: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan2(t, math.sqrt(df))
    odd = df % 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for k in range(odd + 1, df, 2):
        total += term
        term *= k / (k + 1) * math.cos(angle) ** 2
    within = math.sin(angle) * total
    return (1 - (2 / math.pi * (angle + within) if odd else within)) / 2
