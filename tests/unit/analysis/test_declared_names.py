"""What counts as a claim about links and data in a name, and what only looks like one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.observed.declared import layouts, mtus, rates

RATES = [
    ("1g", ["1gbit"]),
    ("2.5g-rs", ["2.5gbit"]),
    ("1g_rs", ["1gbit"]),
    ("10g_2x", ["10gbit"]),
    ("2.5G, 2x", ["2.5gbit"]),
    ("100mbit", ["100mbit"]),
    ("25gbe", ["25gbit"]),
    ("link=1 Gbit/s", ["1gbit"]),
    ("10Gb/s", ["10gbit"]),
    ("1g+2.5g", ["1gbit", "2.5gbit"]),
]
NO_RATES = [
    *("exec-1g", "exec_1g", "heap=2g", "4g", "64m", "10gb", "sf100g", "v1.1g", "2x1g", "1gx"),
    *("before", "unshaped"),
]
MTUS = [
    ("mtu9000", ["MTU 9000"]),
    ("1g MTU=1500", ["MTU 1500"]),
    ("10g-jumbo", ["jumbo frames"]),
    ("jumbo_mtu_9000", ["MTU 9000"]),
]
NO_MTUS = ["no-jumbo", "no_jumbo", "nojumbo", "without jumbo", "mtu"]
LAYOUTS = [
    ("1g-rs", ["rs"]),
    ("RS:6+3:64k", ["rs:6+3"]),
    ("rs-6-3-1024k", ["rs:6+3"]),
    ("xor-2-1", ["xor:2+1"]),
    ("2.5g-2x", ["replicated:2"]),
    ("3x", ["replicated:3"]),
    ("replicated:2", ["replicated:2"]),
    ("replication-3", ["replicated:3"]),
    ("rs vs 2x", ["rs", "replicated:2"]),
]
NO_LAYOUTS = ["cars", "rsync", "2x-nodes", "2x_nodes", "2x1g", "2x 1g", "8x", "1.2x"]


@pytest.mark.parametrize(("text", "claims"), [*RATES, *((text, []) for text in NO_RATES)])
def test_a_rate_is_a_number_with_a_unit_of_rate_and_no_size_or_version(
    text: str, claims: list[str]
) -> None:
    assert list(map(str, rates(text))) == claims


@pytest.mark.parametrize(("text", "claims"), [*MTUS, *((text, []) for text in NO_MTUS)])
def test_an_mtu_is_a_number_after_mtu_or_else_the_word_jumbo_if_it_is_not_negated(
    text: str, claims: list[str]
) -> None:
    assert list(map(str, mtus(text))) == claims


@pytest.mark.parametrize(("text", "claims"), [*LAYOUTS, *((text, []) for text in NO_LAYOUTS)])
def test_a_layout_is_a_code_or_a_number_of_copies_and_no_part_of_a_word(
    text: str, claims: list[str]
) -> None:
    assert list(map(str, layouts(text))) == claims


WORDS = st.lists(st.sampled_from(["before", "after", "new-switch", "tuned", "lab 3"]), max_size=2)


@given(
    WORDS,
    st.sampled_from(
        [("1g", "1gbit"), ("2.5gbe", "2.5gbit"), ("100mbit", "100mbit"), ("25gbit/s", "25gbit")]
    ),
    st.sampled_from([("mtu1500", "MTU 1500"), ("mtu=9000", "MTU 9000"), ("jumbo", "jumbo frames")]),
    st.sampled_from([("rs", "rs"), ("rs-6-3", "rs:6+3"), ("2x", "replicated:2")]),
    st.sampled_from(["-", "_", " ", ", ", "+", " - "]),
)
def test_a_name_claims_exactly_the_parts_that_it_is_composed_of(
    words: list[str],
    rate: tuple[str, str],
    mtu: tuple[str, str],
    layout: tuple[str, str],
    separator: str,
) -> None:
    name = separator.join([*words, rate[0], mtu[0], layout[0]])
    for spelling in (name, name.upper()):
        assert list(map(str, rates(spelling))) == [rate[1]]
        assert list(map(str, mtus(spelling))) == [mtu[1]]
        assert list(map(str, layouts(spelling))) == [layout[1]]


@given(st.text() | st.text(alphabet="0123456789.+-= gmbitsexrjuo/"))
def test_any_text_claims_only_numbers_that_it_contains(text: str) -> None:
    numbers = re.findall(r"\d+(?:\.\d+)?", text)
    for rate in rates(text):
        assert rate.bit_s in {
            round(float(number) * scale) for number in numbers for scale in (10**6, 10**9)
        }
    for mtu in mtus(text):
        assert mtu.mtu_bytes is None or any(int(float(n)) == mtu.mtu_bytes for n in numbers)
    for layout in layouts(text):
        assert all(number in text for number in re.findall(r"\d+", layout.prefix))
