"""Answers are the same but for rounding, and a difference is told in words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.answer import FloatSum, RowsDigest, distinct


def answer(total: float | None = 100.0, bits: int = 64, **fields: Any) -> RowsDigest:
    sums = (FloatSum("revenue", bits, total, total and abs(total)),)
    known: dict[str, Any] = {"rows": 6, "digest": "ab12", "sums": sums}
    return RowsDigest(**known | fields)


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (answer(), ""),
        (answer(100.0 + 1e-8), ""),
        (answer(100.0 + 1e-6), "the weighted sum 100 of revenue"),
        (answer(None), "the weighted sum 100 of revenue"),
        (answer(rows=7), "6 rows of digest ab12"),
        (answer(digest="cd34"), "6 rows of digest ab12"),
        (answer(sums=()), "6 rows of digest ab12"),
    ],
)
def test_what_differs_is_told(other: RowsDigest, difference: str) -> None:
    assert answer().difference(other) == difference


def test_numbers_of_32_bits_may_be_rounded_to_their_neighbours() -> None:
    assert not answer(bits=32).difference(answer(100.00001, bits=32))
    assert answer(bits=32).difference(answer(100.01, bits=32))


def test_numbers_that_cancel_are_compared_by_what_they_are_and_not_by_their_sum() -> None:
    near, far = (FloatSum("x", 64, total, 1e9) for total in (1e-3, -1e-3))
    assert near.is_same(far)
    assert not near.is_same(FloatSum("x", 64, 10.0, 1e9))


def test_no_number_is_the_same_as_no_number() -> None:
    assert not answer(None).difference(answer(None))


def test_the_different_answers_of_many_trials_are_the_first_and_the_others() -> None:
    assert distinct([]) == ()
    assert distinct([answer(), answer(100.0 + 1e-9), answer()]) == (answer(),)
    assert distinct([answer(), answer(rows=7)]) == (answer(), answer(rows=7))


sums = st.builds(
    FloatSum,
    st.just("x"),
    st.sampled_from([32, 64]),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.floats(0, allow_infinity=False),
)


@given(sums, sums)
def test_what_is_the_same_is_so_from_either_side_and_from_itself(
    one: FloatSum, other: FloatSum
) -> None:
    assert one.is_same(one)
    if one.bits == other.bits:
        assert one.is_same(other) == other.is_same(one)
