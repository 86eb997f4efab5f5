"""An experiment with its baseline over slower links as well, which shows how far workloads wait for links."""

from collections.abc import Iterator
from dataclasses import replace

from harness.experiments.experiment import Configuration, Experiment
from harness.model.errors import BadInput
from harness.model.link import MAX_SHAPED_BIT_S, MIN_BIT_S, rate_text

STEPS = 2
"""The baseline is slowed down by the ratio of the target to it, and by the square of that."""
MIN_RATIO = 1.25
"""A link that is slowed down by less shows nothing."""


def configuration_of(experiment: Experiment, name: str) -> Configuration:
    """Return a configuration of the experiment. Raises BadInput if it has none of this name."""
    known = {each.name: each for each in experiment.configurations}
    if name not in known:
        raise BadInput(
            f"--learn: the file has no configuration {name!r}; it has {', '.join(known)}"
        )
    return known[name]


def with_throttled(
    experiment: Experiment, baseline: Configuration, present_bit_s: int, target_bit_s: int
) -> tuple[Experiment, tuple[str, ...]]:
    """Return the experiment with the baseline over slower links, and the names of these configurations.

    `present_bit_s` is the rate of the baseline's links. Raises BadInput if the target is hardly faster.
    """
    ratio = target_bit_s / present_bit_s
    if ratio < MIN_RATIO:
        raise BadInput(
            f"--learn: {rate_text(target_bit_s)} is hardly faster than {rate_text(present_bit_s)}, so there "
            "is nothing to learn: leave it out, or name a faster --link"
        )
    slower = tuple(_throttled(baseline, present_bit_s, ratio))
    if not slower:
        raise BadInput(
            f"--learn: links of {rate_text(present_bit_s)} cannot be limited to {present_bit_s / ratio:.0f} "
            f"bit/s: that has to be {rate_text(MIN_BIT_S)} to {rate_text(MAX_SHAPED_BIT_S)}: leave it out, "
            "or name another --link"
        )
    return (
        replace(experiment, configurations=(*experiment.configurations, *slower)),
        tuple(each.name for each in slower),
    )


def _throttled(
    baseline: Configuration, present_bit_s: int, ratio: float
) -> Iterator[Configuration]:
    for step in range(1, STEPS + 1):
        rate = int(float(f"{present_bit_s / ratio**step:.2g}"))
        if MIN_BIT_S <= rate <= MAX_SHAPED_BIT_S:
            yield replace(baseline, name=f"{baseline.name} at {rate_text(rate)}", rate_bit_s=rate)
