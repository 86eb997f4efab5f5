"""What a faster link saves: of the time in which some link is full, the part that the workload waits for.

Let `share` be the part of the present time T0 in which a link is full. Over links that take only
`slowness` of the present time for a bit, the same bytes need

    T0 * share * slowness

The workload does not wait for every second of a full link: `effect` is the part of the saved seconds by
which its time shrinks. So

    T = T0 * (1 - effect * share * (1 - slowness))

Where profiles show the time that tasks waited, `share` is that time, and `effect` is 1.

Disks are as links: what is said here of a link that is full holds for a disk.

docs/prediction.md has the models that this one was chosen from, with their errors.
"""

import math
from statistics import NormalDist

MIN_RATIO = 0.02
"""The least part of the present time that is predicted."""
NEARLY = 0.05
"""A time is near its limit if it is longer by this part at most."""
MISFIT = 0.12
"""The standard deviation of the logarithm of the time even if the effect is known, for each unit of the
saved share."""
EFFECT = NormalDist(0.75, 0.07) + NormalDist(0, 0.04)
"""What the clusters of docs/prediction.md showed, and how far workloads differ."""
ANY_EFFECT = NormalDist(0.5, 12**-0.5)
"""Where no cluster showed the effect: as wide as if all from nothing to the whole were equally likely."""
WHOLE = NormalDist(1, 0)
"""The effect of time that was seen to be a wait."""


def log_ratio(share: NormalDist, slowness: float, effect: NormalDist = EFFECT) -> NormalDist:
    """Return the logarithm of a ratio: the time over a faster link, divided by the time over the present one.

    `slowness` is the seconds that the faster link takes for a bit, as a part of the present ones: 0 for an
    infinitely fast one.
    """
    saved = 1 - slowness
    ratio = max(MIN_RATIO, 1 - effect.mean * share.mean * saved)
    sd = saved * math.hypot(share.mean * effect.stdev, effect.mean * share.stdev)
    return NormalDist(math.log(ratio), math.hypot(sd / ratio, MISFIT * share.mean * saved))


def sufficient_slowness(share: float, effect: float) -> float | None:
    """Return the slowness from which on the time is within NEARLY of its limit; None if it is now."""
    most = effect * share
    tolerated = (1 + NEARLY) * max(MIN_RATIO, 1 - most) - (1 - most)
    if most <= tolerated:
        return None
    return tolerated / most
