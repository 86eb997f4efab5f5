"""The figures by which the rule of steadiness was chosen: `pytest -s tests/bench/test_steadiness.py`."""

import pytest

from tests.bench.warm_ups import WarmUp, nine, simulate

SHAPES: dict[str, dict[str, float]] = {
    "warm": {},
    "warm, noise in bursts": {"correlation": 0.6},
    "30 % slower, 3 rounds": {"height": 0.3, "rounds": 3},
    "130 % slower, 1.2 rounds": {"height": 1.3, "rounds": 1.2},
    "100 % slower, 2 rounds": {"height": 1, "rounds": 2},
    "100 % slower, 4 rounds": {"height": 1, "rounds": 4},
    "8 % slower for 5 rounds": {"step": 5},
}
MAX_BIAS = {0.01: 0.02, 0.03: 0.025, 0.05: 0.03, 0.1: 0.05, 0.15: 0.08}
"""By the noise: what may be left over on average, whatever the warm-up."""


@pytest.mark.parametrize("noise", MAX_BIAS)
@pytest.mark.parametrize("shape", SHAPES)
def test_little_is_left_over(shape: str, noise: float) -> None:
    alone = simulate([WarmUp(noise=noise, **SHAPES[shape])], runs=1000)  # type: ignore[arg-type]
    together = simulate(nine(noise=noise, **SHAPES[shape]), runs=400)
    print(f"\n{shape}, noise {noise:.0%}\n  one workload:   {alone}\n  nine workloads: {together}")
    assert abs(together.bias) <= MAX_BIAS[noise]
    assert together.bias <= together.fixed_bias + 0.01
