"""The one text form of a layout."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datagen.layout import UNKNOWN, Layout, LayoutKind

layouts = st.one_of(
    st.just(UNKNOWN),
    st.builds(Layout, st.just(LayoutKind.REPLICATED), st.integers(1, 999)),
    st.builds(
        Layout,
        st.just(LayoutKind.REED_SOLOMON),
        st.integers(1, 99),
        st.integers(1, 99),
        st.none() | st.integers(1, 2**30),
    ),
    st.builds(
        Layout, st.just(LayoutKind.XOR), st.just(2), st.just(1), st.none() | st.integers(1, 2**30)
    ),
)


@given(layouts)
def test_it_survives_its_text(layout: Layout) -> None:
    assert Layout.parse(str(layout)) == layout


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("replicated:2", Layout(LayoutKind.REPLICATED, 2)),
        ("rs:6+3", Layout(LayoutKind.REED_SOLOMON, 6, 3)),
        ("rs:6+3:64k", Layout(LayoutKind.REED_SOLOMON, 6, 3, 65536)),
        ("xor:2+1:1m", Layout(LayoutKind.XOR, 2, 1, 2**20)),
        ("unknown", UNKNOWN),
    ],
)
def test_it_is_read(text: str, layout: Layout) -> None:
    assert Layout.parse(text) == layout


@pytest.mark.parametrize(
    "text",
    [
        "",
        "replicated",
        "replicated:0",
        "2",
        "rs:6",
        "rs:6+0",
        "rs:6+3:",
        "rs:6+3:64g",
        "RS:6+3",
        "unknown:1",
    ],
)
def test_what_is_none_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match=r"the forms are replicated:N, rs:D\+P"):
        Layout.parse(text)


def test_another_xor_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the only xor layout is xor:2\+1"):
        Layout.parse("xor:3+1")
