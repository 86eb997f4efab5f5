"""Which members of randomly drawn pairs are slow, if a pair is as slow as the slower of its two ends.

A pair is ordered: its first member sends, its second receives. A member in one of these roles is slow if it
is slow with most members that are not suspects themselves. The noise of sound pairs is told by the median and
the median absolute deviation of all pairs, which a few slow members hardly change.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb
from statistics import NormalDist, median

from harness.statistics.median import MAD_TO_SD

Pair = tuple[str, str]
"""Sender and receiver."""
Role = tuple[str, str]
"""A member, and what it does in a pair: SENDS or RECEIVES."""

SENDS, RECEIVES = "sends", "receives"
AGAIN = 3
"""How many more values a suspect gets, with other members that are none."""
MIN_PEERS = 2
"""Fewer values do not make a suspect: of two members, either may be the slow one."""
OUTLYING_DEVIATIONS = 5
"""Of normal noise, one value in three million is so far below the median."""
LOWEST_LIMIT = 0.5
"""A value below half of the median is slow, however much the values differ."""
_DROP_STEPS = 100


@dataclass(frozen=True)
class SoundRange:
    """What sound pairs reach.

    - `typical`: the median over the members of their medians, in the unit of the values.
    - `deviation`: the standard deviation of the noise, relative to `typical`.
    - `limit`: a smaller value is slow, in the unit of the values.
    """

    typical: float
    deviation: float
    limit: float

    def chance_slow(self, drop: float) -> float:
        """Return the probability that one value of a member that is slower by the fraction `drop` is slow."""
        margin = self.limit / self.typical - (1 - drop)
        if self.deviation == 0:
            return float(margin > 0)
        return NormalDist().cdf(margin / self.deviation)


def sound_range(values: Mapping[Pair, float], tolerance: float) -> SoundRange | None:
    """Return the range of the sound pairs; values within the fraction `tolerance` of typical belong to it.

    Return None if there is no value, or if most members have none above 0. If more than a quarter of the
    members is slow, they are in about half of all pairs: the deviation is theirs then, and shows by its size.
    """
    by_member: dict[str, list[float]] = {}
    for pair, value in values.items():
        for member in pair:
            by_member.setdefault(member, []).append(value)
    typical = median(map(median, by_member.values())) if by_member else 0.0
    if typical <= 0:
        return None
    deviation = MAD_TO_SD * median(abs(value / typical - 1) for value in values.values())
    drop = min(max(tolerance, OUTLYING_DEVIATIONS * deviation), 1 - LOWEST_LIMIT)
    return SoundRange(typical, deviation, (1 - drop) * typical)


def settled(repeats: Sequence[float]) -> float:
    """Return the value of a pair from its values in the order of measuring, one or more.

    The first made the pair a suspect, if it was measured again. It was chosen because it is low, so only
    the median of the others is unbiased.
    """
    return median(repeats[1:] or repeats)


def suspects(values: Mapping[Pair, float], limit: float) -> set[Role]:
    """Return the roles whose median is below the limit, with whomever they were paired."""
    return {
        role
        for role, own in _by_role(values, frozenset()).items()
        if len(own) >= MIN_PEERS and median(own) < limit
    }


def slow_members(values: Mapping[Pair, float], limit: float) -> set[Role]:
    """Return the suspects whose median is below the limit also with partners that are not suspects.

    A suspect without any such partner stays one: nothing has cleared it.
    """
    suspected = suspects(values, limit)
    with_sound = _by_role(values, suspected)
    return {
        role for role in suspected if not with_sound.get(role) or median(with_sound[role]) < limit
    }


def unexplained(values: Mapping[Pair, float], limit: float, slow: Collection[Role]) -> list[Pair]:
    """Return the pairs that are below the limit although neither of their ends is slow."""
    return [
        pair
        for pair, value in values.items()
        if value < limit and not any(role in slow for role in _roles(pair))
    ]


def chance_of_missing(drop: float, rounds: int, sound: SoundRange) -> float:
    """Return an upper bound of the probability that a member that is slower by `drop` is not found.

    It has to be slow in most of its `rounds` values, to be a suspect, and in most of AGAIN others. The noise
    counts as normal and independent from one value to the next.
    """
    chance = sound.chance_slow(drop)
    found = 1.0
    for count in (rounds, AGAIN):
        found *= sum(
            comb(count, slow) * chance**slow * (1 - chance) ** (count - slow)
            for slow in range(count // 2 + 1, count + 1)
        )
    return max(0.0, 1 - found)


def smallest_found_drop(rounds: int, sound: SoundRange, missing: float) -> float | None:
    """Return the smallest drop, in whole percent as a fraction, that is missed with at most this probability.

    Return None if not even a member that carries nothing is found so surely.
    """
    first = ceil(_DROP_STEPS * (1 - sound.limit / sound.typical) - 1e-9)
    drops = (step / _DROP_STEPS for step in range(first, _DROP_STEPS + 1))
    return next((drop for drop in drops if chance_of_missing(drop, rounds, sound) <= missing), None)


def _roles(pair: Pair) -> tuple[Role, Role]:
    return (pair[0], SENDS), (pair[1], RECEIVES)


def _by_role(values: Mapping[Pair, float], without: Collection[Role]) -> dict[Role, list[float]]:
    """Return the values of each role, leaving out partners in the roles of `without`."""
    by_role: dict[Role, list[float]] = {}
    for pair, value in values.items():
        sender, receiver = _roles(pair)
        for role, partner in ((sender, receiver), (receiver, sender)):
            if partner not in without:
                by_role.setdefault(role, []).append(value)
    return by_role
