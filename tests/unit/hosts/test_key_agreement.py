"""Two sides agree on a key, in the group of RFC 3526 with 2048 bits."""

import pytest

from harness.hosts.transports.spark.key_agreement import (
    GENERATOR,
    PRIME,
    PRIVATE_BITS,
    agreed_key,
    fingerprint,
    private_number,
    public_number,
)

GUARD_BITS = 64


def inverse_tangent(inverse: int, one: int) -> int:
    """Return the arc tangent of 1/inverse as a multiple of 1/one, by its power series."""
    total, term, number = 0, one // inverse, 1
    while term:
        total += term // number if number % 4 == 1 else -(term // number)
        term //= inverse**2
        number += 2
    return total


def pi_times_two_to_the(bits: int) -> int:
    """Return the whole part, by Machin's formula."""
    one = 1 << (bits + GUARD_BITS)
    return 4 * (4 * inverse_tangent(5, one) - inverse_tangent(239, one)) >> GUARD_BITS


def test_the_prime_is_the_one_that_the_rfc_defines_by_the_digits_of_pi() -> None:
    assert 2**2048 - 2**1984 - 1 + 2**64 * (pi_times_two_to_the(1918) + 124476) == PRIME


@pytest.mark.parametrize("number", [PRIME, (PRIME - 1) // 2], ids=["prime", "order"])
def test_prime_and_order_pass_fermats_test(number: int) -> None:
    assert all(pow(base, number - 1, number) == 1 for base in (2, 3, 5))


def test_the_generator_has_that_order() -> None:
    assert pow(GENERATOR, (PRIME - 1) // 2, PRIME) == 1


def test_both_sides_get_the_same_key_and_another_side_another_one() -> None:
    first, second, third = private_number(), private_number(), private_number()
    key = agreed_key(first, public_number(second))
    assert key == agreed_key(second, public_number(first))
    assert key != agreed_key(third, public_number(first))
    assert len(key) == 32


def test_private_numbers_are_random_and_as_long_as_the_group_is_strong() -> None:
    numbers = {private_number() for _ in range(100)}
    assert len(numbers) == 100
    assert PRIVATE_BITS - 20 < max(numbers).bit_length() <= PRIVATE_BITS


def test_a_fingerprint_tells_public_numbers_apart() -> None:
    assert fingerprint(2) != fingerprint(3)
    assert len(fingerprint(PRIME - 1)) == 32
