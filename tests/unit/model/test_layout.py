"""A layout has one text form, and meets a request or does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.layout import UNKNOWN, Layout, LayoutKind, striped_layout

CELLS = st.none() | st.integers(1, 2**30)
LAYOUTS = st.one_of(
    st.just(UNKNOWN),
    st.builds(Layout, st.just(LayoutKind.REPLICATED), st.integers(1, 999)),
    st.builds(
        Layout, st.just(LayoutKind.REED_SOLOMON), st.integers(1, 99), st.integers(1, 99), CELLS
    ),
    st.builds(Layout, st.just(LayoutKind.XOR), st.just(2), st.just(1), CELLS),
)


@given(LAYOUTS)
def test_a_layout_is_read_back_from_its_text(layout: Layout) -> None:
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
def test_each_form_is_parsed(text: str, layout: Layout) -> None:
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
def test_another_text_is_refused_with_a_list_of_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match=r"the forms are replicated:N, rs:D\+P"):
        Layout.parse(text)


def test_xor_of_other_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the only xor layout is xor:2\+1"):
        Layout.parse("xor:3+1")


def test_a_striped_layout_without_a_text_form_is_unknown() -> None:
    assert striped_layout("rs-legacy", 6, 3, 2**20) == UNKNOWN
    assert striped_layout("xor", 3, 1, 2**20) == UNKNOWN
    assert striped_layout("rs", 200, 3, 2**20) == UNKNOWN


def test_a_request_without_a_cell_is_met_by_every_cell() -> None:
    observed = Layout.parse("rs:6+3:64k")
    assert Layout.parse("rs:6+3").is_met_by(observed)
    assert not Layout.parse("rs:6+3").is_met_by(Layout.parse("rs:3+2:64k"))
    assert not Layout.parse("rs:6+3").is_met_by(None)
    assert not Layout.parse("rs:6+3:1m").is_met_by(observed)


@pytest.mark.parametrize(
    ("text", "stored"),
    [("replicated:2", 2), ("rs:6+3:64k", 1.5), ("xor:2+1", 1.5), ("unknown", None)],
)
def test_a_layout_says_how_many_bytes_a_byte_takes(text: str, stored: float | None) -> None:
    assert Layout.parse(text).stored_per_byte == stored
