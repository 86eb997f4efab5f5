"""Student's t distribution, held against SciPy's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

from harness.statistics.student import two_sided_p, two_sided_quantile

DEGREES = st.floats(0.2, 1e4) | st.integers(1, 400)


@given(DEGREES, st.floats(1e-6, 1e4))
def test_the_probability_is_scipys(df: float, t: float) -> None:
    assert two_sided_p(df, t) == pytest.approx(2 * stdtr(df, -t), rel=1e-10, abs=1e-290)
    assert two_sided_p(df, -t) == two_sided_p(df, t)


@given(DEGREES, st.floats(0.01, 0.9999))
def test_the_quantile_is_scipys(df: float, level: float) -> None:
    found = two_sided_quantile(df, 1 - level)
    assert found == pytest.approx(stdtrit(df, (1 + level) / 2), rel=1e-10)


def test_with_a_million_degrees_it_is_the_normal_distribution() -> None:
    assert two_sided_quantile(1e6, 0.05) == pytest.approx(stdtrit(1e6, 0.975), rel=1e-10)


@pytest.mark.parametrize(("t", "p"), [(0, 1), (math.inf, 0), (1e200, 0)])
def test_the_ends(t: float, p: float) -> None:
    assert two_sided_p(3, t) == p


def test_a_quantile_beyond_all_floats_is_infinite() -> None:
    assert two_sided_quantile(0.01, 1e-9) == math.inf
    assert two_sided_quantile(3, 1) == 0
