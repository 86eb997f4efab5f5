"""The width of a text is the number of columns that a terminal shows."""

import pytest

from harness.base.words import display_width, padded, shorten


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("etl", 3),
        ("日次バッチ", 10),
        ("ﾊﾞｯﾁ", 4),
        ("etl 🚀", 6),
        ("❤\ufe0f", 2),
        ("👍🏽", 2),
        ("e\u0301te\u0301", 3),
        ("한국", 4),
        ("\u1112\u1161\u11ab", 2),
        ("…", 1),
    ],
)
def test_a_wide_character_takes_two_columns_and_a_combining_one_none(text: str, width: int) -> None:
    assert display_width(text) == width
    assert padded(text, width + 2) == text + "  "
    assert padded(text, width + 2, ">") == "  " + text


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("calc-pi", 7, "calc-pi"),
        ("calc-pi-udf", 7, "cal…udf"),
        ("日次バッチ", 10, "日次バッチ"),
        ("日次バッチ", 9, "日次…ッチ"),
        ("日次バッチ", 8, "日次…チ"),
    ],
)
def test_a_text_is_cut_in_its_middle_to_a_width(text: str, width: int, short: str) -> None:
    assert shorten(text, width) == short
    assert display_width(short) <= width
