"""What is stored of a block, and what is lacking, follows from who holds it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from datagen.layout import Layout, LayoutKind
from datagen.observed_layout import StoredFile, replicated_file, stripe_lengths, striped_file

CODED = st.builds(
    Layout,
    st.just(LayoutKind.REED_SOLOMON),
    st.integers(1, 12),
    st.integers(1, 4),
    st.integers(1, 4096),
)


def test_a_file_of_two_blocks_with_all_copies() -> None:
    layout = Layout.parse("replicated:2")
    file = replicated_file(layout, 150, [(100, ["a", "b"]), (50, ["b", "c"])])
    assert file == StoredFile(layout, 150, {"a": 100, "b": 150, "c": 50})


def test_a_lost_copy_is_lacking_and_one_too_many_is_surplus() -> None:
    blocks = [(100, ["a"]), (50, []), (10, ["a", "b", "c"])]
    file = replicated_file(Layout.parse("replicated:2"), 160, blocks)
    assert (file.missing, file.excess) == (3, 1)
    assert file.placement == {"a": 110, "b": 10, "c": 10}


def test_two_copies_on_one_node_are_one() -> None:
    file = replicated_file(Layout.parse("replicated:2"), 100, [(100, ["a", "a"])])
    assert (file.missing, file.placement) == (1, {"a": 100})


def test_stripes_go_round_in_cells() -> None:
    assert stripe_lengths(Layout.parse("rs:3+2:10"), 45) == [20, 15, 10, 20, 20]
    assert stripe_lengths(Layout.parse("xor:2+1:1m"), 7) == [7, 0, 7]
    assert stripe_lengths(Layout.parse("xor:2+1:1m"), 0) == [0, 0, 0]


@given(CODED, st.integers(0, 10**6))
def test_the_data_stripes_hold_the_data_and_parity_is_as_long_as_the_longest(
    layout: Layout, length: int
) -> None:
    lengths = stripe_lengths(layout, length)
    data, parity = lengths[: layout.data], lengths[layout.data :]
    assert sum(data) == length
    assert data == sorted(data, reverse=True)
    assert data[0] - data[-1] <= (layout.cell_bytes or 0)
    assert parity == [max(data)] * layout.parity


@given(CODED, st.integers(0, 10**6), st.data())
def test_what_is_lacking_is_what_nobody_holds(
    layout: Layout, length: int, data: st.DataObject
) -> None:
    lengths = stripe_lengths(layout, length)
    held = data.draw(st.sets(st.integers(0, len(lengths) - 1)))
    holders = {index: [f"node-{index}"] for index in held}
    file = striped_file(layout, length, [(length, holders)])
    absent = [index for index, stripe in enumerate(lengths) if stripe and index not in held]
    assert file.missing == len(absent)
    assert sum(file.placement.values()) == sum(lengths[index] for index in held)


def test_a_stripe_that_two_nodes_hold_is_stored_twice() -> None:
    layout = Layout.parse("xor:2+1:10")
    file = striped_file(layout, 20, [(20, {0: ["a"], 1: ["b", "c"], 2: ["c"]})])
    assert (file.missing, file.excess) == (0, 1)
    assert file.placement == {"a": 10, "b": 10, "c": 20}


def test_stripes_of_a_group_on_one_node_share_it() -> None:
    layout = Layout.parse("rs:2+2:10")
    outside_trials = {0: ["a"], 1: ["b"], 2: ["c"], 3: ["d"]}
    assert striped_file(layout, 20, [(20, outside_trials)]).co_located == 0
    crowded = {0: ["a"], 1: ["b"], 2: ["a"], 3: ["a"]}
    assert striped_file(layout, 40, [(20, outside_trials), (20, crowded)]).co_located == 3
