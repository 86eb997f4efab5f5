"""Whether intervals keep what they promise: how many outcomes are inside, for each level."""

import math
from collections.abc import Iterable
from statistics import NormalDist

from harness.analysis.predict.score import Score, ScoredTime

LEVELS = (*(step / 20 for step in range(1, 20)), 0.99)
_NORMAL = NormalDist()
TINY = 1e-9


def calibration(scores: Iterable[Score]) -> list[tuple[float, float]]:
    """Return each level, 0 to 1, with the part of the outcomes inside the intervals of this level.

    Controls do not count. Intervals of other levels than 80 and 95 % are those of the normal
    distribution of the logarithm of the time that has the 80 % interval, or the 95 % interval if the outcome
    is outside of 80 %. Empty if nothing can be judged.
    """
    reached = [_level_reached(time) for score in scores for time in score.judged]
    return [
        (level, sum(one <= level for one in reached) / len(reached)) for level in LEVELS if reached
    ]


def _level_reached(time: ScoredTime) -> float:
    """Return the level of the narrowest interval that has the outcome in it."""
    bounds, level = (
        (time.predicted.interval_80, 0.8) if time.within_80 else (time.predicted.interval_95, 0.95)
    )
    low, high = math.log(bounds.low_s), math.log(bounds.high_s)
    distance = abs(math.log(time.actual_s) - (low + high) / 2)
    sd = max((high - low) / 2, TINY) / _NORMAL.inv_cdf((1 + level) / 2)
    return 2 * _NORMAL.cdf(distance / sd) - 1
