"""What names say of links and data, and what only looks as if they did."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.declared import layouts, mtus, rates


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1g", ["1000 Mbit/s"]),
        ("2.5g-rs", ["2500 Mbit/s"]),
        ("2.5G, 2x", ["2500 Mbit/s"]),
        ("100mbit", ["100 Mbit/s"]),
        ("25gbe", ["25000 Mbit/s"]),
        ("link=1 Gbit/s", ["1000 Mbit/s"]),
        ("10Gb/s", ["10000 Mbit/s"]),
        ("1g+2.5g", ["1000 Mbit/s", "2500 Mbit/s"]),
    ],
)
def test_rates(text: str, said: list[str]) -> None:
    assert [str(rate) for rate in rates(text)] == said


@pytest.mark.parametrize(
    "text",
    [
        "exec-1g",
        "heap=2g",
        "4g",
        "64m",
        "10gb",
        "sf100g",
        "v1.1g",
        "2x1g",
        "1gx",
        "before",
        "unshaped",
    ],
)
def test_no_rates(text: str) -> None:
    assert rates(text) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mtu9000", ["MTU 9000"]),
        ("1g MTU=1500", ["MTU 1500"]),
        ("10g-jumbo", ["jumbo frames"]),
        ("jumbo-mtu-9000", ["MTU 9000"]),
        ("no-jumbo", []),
        ("nojumbo", []),
        ("without jumbo", []),
        ("mtu", []),
    ],
)
def test_mtus(text: str, said: list[str]) -> None:
    assert [str(mtu) for mtu in mtus(text)] == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1g-rs", ["rs"]),
        ("RS:6+3:64k", ["rs:6+3"]),
        ("rs-6-3-1024k", ["rs:6+3"]),
        ("xor-2-1", ["xor:2+1"]),
        ("2.5g-2x", ["replicated:2"]),
        ("3x", ["replicated:3"]),
        ("replicated:2", ["replicated:2"]),
        ("replication-3", ["replicated:3"]),
        ("rs vs 2x", ["rs", "replicated:2"]),
        ("cars", []),
        ("rsync", []),
        ("2x-nodes", []),
        ("2x1g", []),
        ("2x 1g", []),
        ("8x", []),
        ("1.2x", []),
    ],
)
def test_layouts(text: str, said: list[str]) -> None:
    assert [str(layout) for layout in layouts(text)] == said


@given(st.text())
def test_any_text_may_be_a_name(text: str) -> None:
    rates(text), mtus(text), layouts(text)
