"""How the time of each workload follows the rate of the links, as a predictor expects it."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.analysis.predict.prediction import Predictor
from harness.model.link import goodput_bit_s, rate_of_goodput
from harness.model.prediction import PredictedTime, Target

POINTS = 24
MIN_RATIO = 10
"""A curve ends at this multiple of the present rate, or at twice the fastest that is asked about."""


@dataclass(frozen=True)
class RateCurve:
    """A workload's time over links of several rates in bit/s, in ascending order; the first is the present.

    `asked` are those that a user asked about.
    """

    workload: str
    points: tuple[tuple[float, PredictedTime], ...]
    asked: tuple[tuple[float, PredictedTime], ...]


def rate_curves(
    predictor: Predictor, links_bit_s: Sequence[int], mtu: int | None, layout: str | None
) -> list[RateCurve]:
    """Return the curves of all workloads but the controls."""
    present = predictor.link
    mtu = mtu or present.mtu
    start = present.rate_bit_s or round(rate_of_goodput(present.goodput_bit_s, mtu))
    end = max(MIN_RATIO * start, 2 * max(links_bit_s, default=0))
    grid = [start * (end / start) ** (step / POINTS) for step in range(POINTS + 1)]

    def times(bit_s: float) -> dict[str, PredictedTime]:
        carried = present.efficiency * goodput_bit_s(round(bit_s), mtu)
        found, _ = predictor.times(Target(round(bit_s), mtu, carried, layout))
        return {time.workload: time for time in found if not time.is_control}

    on_grid = [(bit_s, times(bit_s)) for bit_s in grid]
    asked = [(float(bit_s), times(bit_s)) for bit_s in links_bit_s]
    return [
        RateCurve(
            name,
            tuple((bit_s, by_name[name]) for bit_s, by_name in on_grid),
            tuple((bit_s, by_name[name]) for bit_s, by_name in asked),
        )
        for name in on_grid[0][1]
    ]
