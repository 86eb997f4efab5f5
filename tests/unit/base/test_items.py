"""Items of several collections are named once, in the order in which they were met."""

from harness.base.items import known, union, unique


def test_an_item_stands_where_it_appeared_first() -> None:
    assert unique(["b", "a", "b"]) == ["b", "a"]


def test_collections_are_joined_in_their_order() -> None:
    assert union([("b", "a"), {"c": 1, "a": 2}]) == ["b", "a", "c"]


def test_what_is_unknown_is_left_out_and_0_is_known() -> None:
    assert known([None, 0, 1, None]) == [0, 1]


def test_nothing_has_no_items() -> None:
    assert union([]) == []
