"""Rates are written as tc writes them; goodput is what frames leave for TCP's payload."""

import pytest

from harness.base.errors import BadInput
from harness.model.link import (
    MAX_BIT_S,
    Link,
    goodput_bit_s,
    is_same_rate,
    parse_rate,
    rate_of_goodput,
    rate_text,
    throughput_text,
    wire_bit_s,
)


@pytest.mark.parametrize(
    ("text", "bit_s"),
    [("100mbit", 10**8), ("2.5gbit", 25 * 10**8), (" 1 Gbit/s ", 10**9), ("1000kbit", 10**6)],
)
def test_a_rate_is_parsed(text: str, bit_s: int) -> None:
    assert parse_rate("--rate", text) == bit_s


@pytest.mark.parametrize(
    "text", ["", "fast", "100", "-1gbit", "100 megabit", "1e3mbit", "\u0663mbit"]
)
def test_what_is_not_a_rate_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"--rate .* is not a rate; write for example 100mbit"):
        parse_rate("--rate", text)


@pytest.mark.parametrize("text", ["999kbit", "41gbit", f"1{'0' * 400}gbit"])
def test_a_rate_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"--rate .* is not between 1mbit and 40gbit"):
        parse_rate("--rate", text)


def test_the_greatest_rate_can_be_given() -> None:
    assert parse_rate("--expect", "1000gbit", MAX_BIT_S) == MAX_BIT_S


def test_rates_and_throughputs_are_texts_with_units() -> None:
    assert [rate_text(10**8), rate_text(25 * 10**8)] == ["100mbit", "2.5gbit"]
    texts = map(throughput_text, (9.41e7, 9.9994e8, 9.9996e8, 9.41e9))
    assert [*texts] == ["94.1 Mbit/s", "999.9 Mbit/s", "1.00 Gbit/s", "9.41 Gbit/s"]
    assert [str(Link(10**8, 1500)), str(Link(None, 9000))] == [
        "100mbit, MTU 1500",
        "unshaped, MTU 9000",
    ]


def test_goodput_of_ethernet_is_its_rate_without_headers_and_gaps() -> None:
    """A frame of MTU 1500 takes 1538 bytes of the wire; 1448 are payload."""
    assert goodput_bit_s(1538, 1500) == 1448
    assert rate_of_goodput(1448, 1500) == pytest.approx(1538)


def test_tc_counts_fewer_bytes_than_the_wire_carries() -> None:
    counted = Link(1_538_000_000, 1500).counted_bit_s
    assert counted == 1_514_000_000
    assert wire_bit_s(counted, 1500) == 1_538_000_000
    assert Link(None, 1500).counted_bit_s is None


@pytest.mark.parametrize(("other", "same"), [(1.02e9, True), (1.03e9, False), (0.97e9, False)])
def test_rates_are_the_same_within_two_percent(other: float, *, same: bool) -> None:
    assert is_same_rate(10**9, other) is same
