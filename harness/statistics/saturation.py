"""What a faster link saves: of the time for which a link was full, the part that the workload waited for.

Let a link take x seconds for a bit. The time T of a workload follows x by

    dT/dx = effect * bits(x)

where bits(x) are those that cross the busiest node's link while it is full. `effect` is below 1, because not
every second of a full link is one that the workload waits for. Over a faster link, fewer of the bits cross a
full one, because something else is the slowest more often: bits(x) is in proportion to x ** fading. So

    T(x) = T0 - effect * full_s * (1 - z ** (1 + fading)) / (1 + fading),    z = x / x0.

T is convex in x: a slope that was learnt by slowing a link down does not overstate what a faster one gains.
docs/prediction.md has the models that this one was chosen from, with their errors.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

MIN_SHARE = 0.05
"""A workload shows how a full link affects it only if the link is full for this part of its time."""
MIN_RATIO = 0.02
MAX_FADING = 3.0
NEARLY = 0.05
"""A time is near its limit if it is longer by this part at most."""


@dataclass(frozen=True)
class Belief:
    """A number that is known as a normal distribution."""

    mean: float
    sd: float

    def updated(self, value: float, sd: float) -> "Belief":
        """Return the belief after an observation with this standard deviation, more than 0."""
        if not self.sd:
            return self
        prior, learnt = self.sd**-2, sd**-2
        weight = prior + learnt
        return Belief((prior * self.mean + learnt * value) / weight, weight**-0.5)

    def widened(self, sd: float) -> "Belief":
        """Return the belief with another error added, which is independent of its own."""
        return Belief(self.mean, math.hypot(self.sd, sd))


NOTHING = Belief(0.0, 0.0)
EFFECT, OWN_EFFECT_SD = Belief(0.86, 0.05), 0.04
FADING, OWN_FADING_SD = Belief(0.15, 0.15), 0.15
"""What is known before a cluster is measured, and how far workloads differ: from docs/prediction.md."""
PRIOR_WORKLOADS = 4
"""How many workloads the knowledge of how far they differ is worth."""
MISFIT = 0.1
"""How far the model is off even if the effect is known, as a part of the seconds of a full link that go."""
FADING_NOISE = 0.3
"""Error of a fading that was observed between two rates, besides those of shares and times."""


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
        return Belief(math.log(ratio), sd / ratio)

    def slope(self, full_share: float, slowness: float) -> float:
        """Return by how much the logarithm of the ratio falls for each unit of effect."""
        saved = full_share * _shrinks(slowness, self.fading.mean)
        return saved / max(MIN_RATIO, 1 - self.effect.mean * saved)

    def enough(self, full_share: float) -> float | None:
        """Return the slowness from which on the time is within NEARLY of its limit; None if it is now."""
        most = self.effect.mean * full_share * _shrinks(0.0, self.fading.mean)
        tolerated = (1 + NEARLY) * max(MIN_RATIO, 1 - most) - (1 - most)
        return (
            None if most <= tolerated else float((tolerated / most) ** (1 / (1 + self.fading.mean)))
        )


def _shrinks(slowness: float, fading: float) -> float:
    """Return by which part of itself the time of the full link shrinks, if all of it has an effect."""
    return float((1 - slowness ** (1 + fading)) / (1 + fading))


@dataclass(frozen=True)
class Throttled:
    """A workload on a slower link and on a faster one: what its time did, and for which part each was full.

    `log_ratio` is that of the times, faster / slower; `slowness` the seconds for a bit, faster / slower.
    `faster_part` is the part of the ratio's variance that is that of the faster one's mean time.
    """

    workload: str
    slower_share: Belief
    faster_share: Belief
    log_ratio: Belief
    slowness: float
    faster_part: float = 0.5

    @property
    def fading(self) -> Belief | None:
        """How much fewer bits cross the faster link while it is full; None if one of them hardly ever is."""
        if min(self.slower_share.mean, self.faster_share.mean) < MIN_SHARE:
            return None
        shares = self.faster_share.mean / self.slower_share.mean
        bits = shares * math.exp(self.log_ratio.mean) / self.slowness
        fading = math.log(bits) / math.log(self.slowness)
        errors = [share.sd / share.mean for share in (self.slower_share, self.faster_share)]
        sd = math.hypot(*errors, self.log_ratio.sd) / abs(math.log(self.slowness))
        return Belief(min(MAX_FADING, max(-MAX_FADING, fading)), math.hypot(sd, FADING_NOISE))

    def effect(self, fading: float) -> Belief | None:
        """Return the effect that explains the times; None if the link was hardly ever full."""
        share = self.slower_share.mean * _shrinks(self.slowness, fading)
        if share < MIN_SHARE:
            return None
        ratio = math.exp(self.log_ratio.mean)
        effect = (1 - ratio) / share
        sd = math.hypot(
            ratio * self.log_ratio.sd / share,
            effect * self.slower_share.sd / self.slower_share.mean,
        )
        return Belief(effect, max(sd, 1e-6))


@dataclass(frozen=True)
class Fitted:
    """A workload's sensitivity, and how far its measured mean time is off by chance, as slower links show it.

    `shift` is the logarithm of the time that belongs there, divided by the measured one. It has the error of
    the measured mean in it, whose variance is `noise`. `covariance` is that of shift and effect: a mean that
    is too long by chance makes the effect too small.
    """

    sensitivity: Sensitivity
    shift: Belief = NOTHING
    covariance: float = 0.0
    noise: float = 0.0

    def log_ratio(self, full_share: Belief, slowness: float) -> Belief:
        """Return the same as `Sensitivity.log_ratio`, of the time that belongs to the present link."""
        found = self.sensitivity.log_ratio(full_share, slowness)
        slope = self.sensitivity.slope(full_share.mean, slowness)
        misfit = _misfit(full_share, slowness)
        variance = found.sd**2 + self.shift.sd**2 - 2 * slope * self.covariance + misfit**2
        return Belief(found.mean + self.shift.mean, math.sqrt(max(0.0, variance)))


def fit(prior: Sensitivity, slower: Sequence[Throttled]) -> Fitted:
    """Return what slower links show of a workload, each of them beside the same faster one.

    Two numbers are unknown, the effect and the error of the mean over the faster link. Each slower link is an
    observation of both, so they are updated together (Kalman's filter, linear at the present effect).
    """
    if not slower:
        return Fitted(prior)
    noise = max(each.faster_part * each.log_ratio.sd**2 for each in slower)
    shift, effect = 0.0, prior.effect.mean
    of_shift, of_effect, both = noise, prior.effect.sd**2, 0.0
    for each in slower:
        now = Sensitivity(Belief(effect, 0.0), prior.fading)
        expected = now.log_ratio(each.slower_share, each.slowness)
        slope = now.slope(each.slower_share.mean, each.slowness)
        surprise = shift - expected.mean + each.log_ratio.mean
        gains = (of_shift + slope * both, both + slope * of_effect)
        others = (1 - each.faster_part) * each.log_ratio.sd**2
        error = others + expected.sd**2 + _misfit(each.slower_share, each.slowness) ** 2
        spread = gains[0] + slope * gains[1] + error
        shift -= gains[0] / spread * surprise
        effect -= gains[1] / spread * surprise
        of_shift -= gains[0] ** 2 / spread
        both -= gains[0] * gains[1] / spread
        of_effect -= gains[1] ** 2 / spread
    sensitivity = Sensitivity(Belief(effect, math.sqrt(of_effect)), prior.fading)
    return Fitted(sensitivity, Belief(shift, math.sqrt(of_shift)), both, noise)


def _misfit(full_share: Belief, slowness: float) -> float:
    return MISFIT * full_share.mean * (1 - slowness)


def learn(throttled: Sequence[Throttled]) -> Sensitivity:
    """Return what throttling shows of workloads in common; its errors are those for one more workload."""
    fading = _common(FADING, OWN_FADING_SD, throttled, lambda each: each.fading)
    least = max(0.0, fading.mean)
    effect = _common(EFFECT, OWN_EFFECT_SD, throttled, lambda each: each.effect(least))
    return Sensitivity(effect, replace(fading, mean=least))


def _common(
    prior: Belief,
    own_sd: float,
    throttled: Iterable[Throttled],
    shown: Callable[[Throttled], Belief | None],
) -> Belief:
    """Return what workloads have in common, widened by how far they differ."""
    groups: dict[str, list[Belief]] = {}
    for each in throttled:
        if (belief := shown(each)) is not None:
            groups.setdefault(each.workload, []).append(belief)
    pooled = list(map(_pooled, groups.values()))
    own_sd = _own_sd(own_sd, pooled)
    for belief in pooled:
        prior = prior.updated(belief.mean, math.hypot(belief.sd, own_sd))
    return prior.widened(own_sd)


def _pooled(beliefs: Sequence[Belief]) -> Belief:
    first, *others = beliefs
    for other in others:
        first = first.updated(other.mean, other.sd)
    return first


def _own_sd(prior_sd: float, observed: Sequence[Belief]) -> float:
    """Return how far workloads differ: what they show beyond their errors, and what was known before.

    What was known before counts as much as PRIOR_WORKLOADS workloads.
    """
    if len(observed) < 2:  # noqa: PLR2004  one shows no difference
        return prior_sd
    mean = math.fsum(each.mean for each in observed) / len(observed)
    free = len(observed) - 1
    excess = math.fsum(
        (each.mean - mean) ** 2 - each.sd**2 * free / len(observed) for each in observed
    )
    return math.sqrt((PRIOR_WORKLOADS * prior_sd**2 + max(0.0, excess)) / (PRIOR_WORKLOADS + free))
