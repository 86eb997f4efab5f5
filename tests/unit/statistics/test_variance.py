"""The quick variance has the digits of the exact one."""

from fractions import Fraction
from statistics import variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics.run_table import sample_variance

VALUES = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(st.lists(VALUES, min_size=2, max_size=20))
def test_is_that_of_exact_arithmetic(values: list[float]) -> None:
    exact = float(variance(map(Fraction, values)))
    assert sample_variance(values) == pytest.approx(exact, rel=1e-12, abs=1e-20)


@given(VALUES, st.integers(2, 20))
def test_of_equal_numbers_is_exactly_0(value: float, number: int) -> None:
    assert sample_variance([value] * number) == 0
