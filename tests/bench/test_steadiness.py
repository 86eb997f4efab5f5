"""The figures by which the rule of steadiness was chosen: `pytest -s tests/bench/test_steadiness.py`."""

from dataclasses import replace

import pytest

from tests.bench.scale import IS_SMOKE, scaled
from tests.bench.warm_ups import WarmUp, nine, simulate

SHAPES = {
    "warm": WarmUp(),
    "warm, noise in bursts": WarmUp(correlation=0.6),
    "30 % slower, 3 rounds": WarmUp(height=0.3, rounds=3),
    "130 % slower, 1.2 rounds": WarmUp(height=1.3, rounds=1.2),
    "100 % slower, 2 rounds": WarmUp(height=1, rounds=2),
    "100 % slower, 4 rounds": WarmUp(height=1, rounds=4),
    "8 % slower for 5 rounds": WarmUp(step=5),
}
MAX_BIAS = {0.01: 0.02, 0.03: 0.025, 0.05: 0.03, 0.1: 0.05, 0.15: 0.08}
"""By the noise: what may be left over on average, whatever the warm-up."""


@pytest.mark.parametrize("noise", MAX_BIAS)
@pytest.mark.parametrize("shape", SHAPES)
def test_little_is_left_over(shape: str, noise: float) -> None:
    alone = simulate([replace(SHAPES[shape], noise=noise)], runs=scaled(1000, smoke=2))
    together = simulate(nine(replace(SHAPES[shape], noise=noise)), runs=scaled(400, smoke=2))
    print(f"\n{shape}, noise {noise:.0%}\n  one workload:   {alone}\n  nine workloads: {together}")
    assert IS_SMOKE or abs(together.bias) <= MAX_BIAS[noise]
    assert IS_SMOKE or together.bias <= together.fixed_bias + 0.01
