"""From which time on a series is steady: the warm-up is over where the times stop becoming shorter.

A virtual machine compiles what it runs often, and a run measures that before it measures the work. How long
it takes cannot be known beforehand, and some series never become steady (Barrett et al. 2017, "Virtual
machine warmup blows hot and cold"); so the times themselves must show it (Kalibera & Jones 2013). Standard
library only.
"""

from __future__ import annotations  # for Python 3.8

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


def warm_from(times_s: Sequence[float], trials: int) -> int | None:
    """Return the index from which on the times, at least `trials` of them, do not become shorter.

    It is the first such index. Times become shorter

    - if a one-sided test of Mann and Kendall says so at LEVEL, and the median of their first half exceeds
      that of their second half by SMALL_DRIFT or more;
    - or if the first exceeds all others by SMALL_DRIFT or more, which a test of ranks hardly sees.

    Return None if there is no such index.
    """
    scores = _scores(times_s)
    for start in range(len(times_s) - trials + 1):
        if not _become_shorter(times_s[start:], scores[start]):
            return start
    return None


def _scores(times_s: Sequence[float]) -> list[int]:
    """Return Kendall's score from each index on: pairs that increase minus those that decrease."""
    scores: list[int] = []
    score = 0
    later: list[float] = []
    for time_s in reversed(times_s):
        score += len(later) - bisect_right(later, time_s) - bisect_left(later, time_s)
        insort(later, time_s)
        scores.append(score)
    return scores[::-1]


def _become_shorter(times_s: Sequence[float], score: int) -> bool:
    others = times_s[1:]
    if others and times_s[0] >= (1 + SMALL_DRIFT) * max(others):
        return True
    if _chance(-score, [len(times_s)]) > LEVEL:
        return False
    earlier, later = _halves(times_s)
    return earlier >= (1 + SMALL_DRIFT) * later


def rise(runs_s: Sequence[Sequence[float]], level: float) -> float:
    """Return by what fraction times become longer from the first half of a run to the second; 0 by chance.

    Chance does not explain it if the test of Mann and Kendall over all runs says so at `level`, and the
    medians of the halves rise by SMALL_DRIFT or more: the geometric mean over runs.
    """
    score = 0
    lengths: list[int] = []
    halves: list[tuple[float, float]] = []
    for times_s in runs_s:
        if len(times_s) > 1:
            score += _scores(times_s)[0]
            lengths.append(len(times_s))
            halves.append(_halves(times_s))
    if _chance(score, lengths) > level:
        return 0.0
    found = math.expm1(fmean(math.log(later / earlier) for earlier, later in halves))
    if found >= SMALL_DRIFT:
        return found
    return 0.0


def _chance(score: int, lengths: Sequence[int]) -> float:
    """Return the chance that Kendall's scores of series without a trend sum up to `score` or more.

    It is that of the normal approximation with a correction for continuity, which is close enough from four
    values on; for fewer it is too large.
    """
    if score <= 0:
        return 1.0
    variance = sum(n * (n - 1) * (2 * n + 5) for n in lengths) / 18
    return math.erfc((score - 1) / math.sqrt(2 * variance)) / 2


def _halves(times_s: Sequence[float]) -> tuple[float, float]:
    """Return the medians of the first and of the last half; that in the middle is in neither."""
    half = len(times_s) // 2
    return median(times_s[:half]), median(times_s[-half:])
