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

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

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

    def updated(self, value: float, sd: float) -> Belief:
        """Return the belief after an observation with this standard deviation, more than 0."""
        if not self.sd:
            return self
        prior, learnt = self.sd**-2, sd**-2
        weight = prior + learnt
        return Belief((prior * self.mean + learnt * value) / weight, weight**-0.5)

    def widened(self, sd: float) -> Belief:
        """Return the belief with another error added, which is independent of its own."""
        return Belief(self.mean, math.hypot(self.sd, sd))


EFFECT, OWN_EFFECT_SD = Belief(0.87, 0.08), 0.06
FADING, OWN_FADING_SD = Belief(0.15, 0.15), 0.15
"""What is known before a cluster is measured, and how far workloads differ: from docs/prediction.md."""
PRIOR_WORKLOADS = 4
"""How many workloads the knowledge of how far they differ is worth."""
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

    def enough(self, full_share: float) -> float | None:
        """Return the slowness from which on the time is within NEARLY of its limit; None if it is now."""
        most = self.effect.mean * full_share * _shrinks(0.0, self.fading.mean)
        tolerated = NEARLY * max(MIN_RATIO, 1 - most)
        return (
            None if most <= tolerated else float((tolerated / most) ** (1 / (1 + self.fading.mean)))
        )


PRIOR = Sensitivity(EFFECT, FADING)


def _shrinks(slowness: float, fading: float) -> float:
    """Return by which part of itself the time of the full link shrinks, if all of it has an effect."""
    return float((1 - slowness ** (1 + fading)) / (1 + fading))


@dataclass(frozen=True)
class Throttled:
    """A workload on a slower link and on a faster one: what its time did, and for which part each was full.

    `log_ratio` is that of the times, faster / slower; `slowness` the seconds for a bit, faster / slower.
    """

    workload: str
    slower_share: Belief
    faster_share: Belief
    log_ratio: Belief
    slowness: float

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
        return Belief(min(MAX_FADING, max(0.0, fading)), math.hypot(sd, FADING_NOISE))

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
class Sensitivities:
    """What was learnt of a cluster: of each workload that was throttled, and of all others in common."""

    common: Sensitivity = PRIOR
    own: Mapping[str, Sensitivity] = field(default_factory=dict)

    def of(self, workload: str) -> Sensitivity:
        """Return the sensitivity of a workload."""
        return self.own.get(workload) or Sensitivity(
            self.common.effect.widened(OWN_EFFECT_SD), self.common.fading.widened(OWN_FADING_SD)
        )


def learn(throttled: Sequence[Throttled]) -> Sensitivities:
    """Return what throttling shows. Each workload is drawn to what all of them have in common."""
    fadings = {
        name: [fading for each in group if (fading := each.fading) is not None]
        for name, group in _by_workload(throttled).items()
    }
    common_fading, own_fadings = _shrunk(FADING, OWN_FADING_SD, fadings)
    effects = {
        name: [
            effect for each in group if (effect := each.effect(own_fadings[name].mean)) is not None
        ]
        for name, group in _by_workload(throttled).items()
    }
    common_effect, own_effects = _shrunk(EFFECT, OWN_EFFECT_SD, effects)
    return Sensitivities(
        Sensitivity(common_effect, common_fading),
        {name: Sensitivity(own_effects[name], own_fadings[name]) for name in effects},
    )


def _by_workload(throttled: Iterable[Throttled]) -> dict[str, list[Throttled]]:
    groups: dict[str, list[Throttled]] = {}
    for each in throttled:
        groups.setdefault(each.workload, []).append(each)
    return groups


def _shrunk(
    prior: Belief, own_sd: float, observed: Mapping[str, Sequence[Belief]]
) -> tuple[Belief, dict[str, Belief]]:
    """Return what is common to all workloads, and the belief about each of them."""
    pooled = {name: _pooled(beliefs) for name, beliefs in observed.items() if beliefs}
    own_sd = _own_sd(own_sd, list(pooled.values()))
    common = prior
    for belief in pooled.values():
        common = common.updated(belief.mean, math.hypot(belief.sd, own_sd))
    own = {}
    for name in observed:
        own[name] = common.widened(own_sd)
        if name in pooled:
            own[name] = own[name].updated(pooled[name].mean, pooled[name].sd)
    return common, own


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
