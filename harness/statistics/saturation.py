"""What a faster link saves: of the time for which a link was full, the part that the workload waited for.

Let a link take x seconds for a bit. The time T of a workload follows x by

    dT/dx = effect * bits(x)

where bits(x) are those that cross the busiest node's link while it is full. `effect` is below 1, because not
every second of a full link is one that the workload waits for. Over a faster link, fewer of the bits cross a
full one, because something else is the slowest more often: bits(x) is in proportion to x ** fading. So

    T(x) = T0 - effect * full_s * (1 - z ** (1 + fading)) / (1 + fading),    z = x / x0.

T is convex in x. docs/prediction.md has the models that this one was chosen from, with their errors.
"""

import math
from dataclasses import dataclass

MIN_RATIO = 0.02
"""The least part of the present time that is predicted."""
NEARLY = 0.05
"""A time is near its limit if it is longer by this part at most."""
MISFIT = 0.1
"""How far the model is off even if the effect is known, as a part of the seconds of a full link that go."""


@dataclass(frozen=True)
class Belief:
    """A number that is known as a normal distribution."""

    mean: float
    sd: float

    def widened(self, sd: float) -> "Belief":
        """Return the belief with another error added, which is independent of its own."""
        return Belief(self.mean, math.hypot(self.sd, sd))


@dataclass(frozen=True)
class Sensitivity:
    """How far a workload waits for a full link, and how fast that fades as the link becomes faster."""

    effect: Belief
    fading: Belief

    def log_ratio(self, full_share: Belief, slowness: float) -> Belief:
        """Return the logarithm of the time over a faster link, divided by that over the present one.

        `full_share` is the part of the present time in which the link is full, `slowness` the seconds that
        the faster link takes for a bit, as a fraction of the present ones: 0 for an infinitely fast one.
        """
        shrinks = _shrinks(slowness, self.fading.mean)
        slope = _shrinks(slowness, self.fading.mean + self.fading.sd) - shrinks
        ratio = max(MIN_RATIO, 1 - self.effect.mean * full_share.mean * shrinks)
        sd = math.hypot(
            full_share.mean * shrinks * self.effect.sd,
            full_share.mean * self.effect.mean * slope,
            self.effect.mean * shrinks * full_share.sd,
        )
        misfit = MISFIT * full_share.mean * (1 - slowness)
        return Belief(math.log(ratio), sd / ratio).widened(misfit)

    def enough(self, full_share: float) -> float | None:
        """Return the slowness from which on the time is within NEARLY of its limit; None if it is now."""
        most = self.effect.mean * full_share * _shrinks(0.0, self.fading.mean)
        tolerated = (1 + NEARLY) * max(MIN_RATIO, 1 - most) - (1 - most)
        return (
            None if most <= tolerated else float((tolerated / most) ** (1 / (1 + self.fading.mean)))
        )


USUAL = Sensitivity(
    effect=Belief(0.86, 0.05).widened(0.04),
    fading=Belief(0.15, 0.15).widened(0.15),
)
"""What the clusters of docs/prediction.md showed, each widened by how far workloads differ."""


def _shrinks(slowness: float, fading: float) -> float:
    """Return by which part of itself the time of the full link shrinks, if all of it has an effect."""
    return float((1 - slowness ** (1 + fading)) / (1 + fading))
