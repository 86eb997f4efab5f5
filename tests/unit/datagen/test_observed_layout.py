"""How files are stored follows from which nodes store their blocks; a problem is one short phrase."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datagen.observed_layout import (
    StoredFile,
    StoredFiles,
    stored_file,
    stripe_lengths,
)
from harness.model.layout import UNKNOWN, Layout, LayoutKind

TWO, THREE = Layout.parse("replicated:2"), Layout.parse("replicated:3")
STRIPED = Layout.parse("rs:6+3:64k")
COMPLETE = StoredFile(TWO, 100, {"a": 100, "b": 100})

STRIPED_LAYOUTS = st.builds(
    Layout,
    st.just(LayoutKind.REED_SOLOMON),
    st.integers(1, 12),
    st.integers(1, 4),
    st.integers(1, 4096),
)


def stored(*files: StoredFile) -> StoredFiles:
    return StoredFiles({f"part-{number}": file for number, file in enumerate(files)})


@pytest.mark.parametrize(
    ("node", "host"),
    [
        ("10.0.0.3:9866", "10.0.0.3"),
        ("n3:20001", "n3"),
        ("[::1]:9866", "::1"),
        ("http://n3:9000/data1", "n3"),
        ("osd.3", "10.0.0.4"),
        ("/data1", "/data1"),
        ("[", "["),
    ],
)
def test_the_host_of_a_node_is_in_its_name_or_in_what_the_storage_says_of_it(
    node: str, host: str
) -> None:
    file = StoredFile(TWO, 1, {node: 1})
    addresses = {"osd.3": "10.0.0.4:6801/77"}
    assert StoredFiles({"part-0": file}, addresses=addresses).hosts == {host}


class TestReplicatedFile:
    def test_two_blocks_with_all_copies(self) -> None:
        file = stored_file(TWO, 150, [(100, {0: ["a", "b"]}), (50, {0: ["b", "c"]})])
        assert file == StoredFile(TWO, 150, {"a": 100, "b": 150, "c": 50})

    def test_too_few_copies_are_missing_and_too_many_are_in_excess(self) -> None:
        blocks: list[tuple[int, dict[int, list[str]]]] = [
            (100, {0: ["a"]}),
            (50, {0: []}),
            (10, {0: ["a", "b", "c"]}),
        ]
        file = stored_file(TWO, 160, blocks)
        assert (file.missing, file.excess) == (3, 1)
        assert file.placement == {"a": 110, "b": 10, "c": 10}

    def test_two_copies_on_one_node_count_once(self) -> None:
        file = stored_file(TWO, 100, [(100, {0: ["a", "a"]})])
        assert (file.missing, file.placement) == (1, {"a": 100})


class TestStripedFile:
    def test_consecutive_cells_go_to_consecutive_stripes(self) -> None:
        assert stripe_lengths(Layout.parse("rs:3+2:10"), 45) == [20, 15, 10, 20, 20]
        assert stripe_lengths(Layout.parse("xor:2+1:1m"), 7) == [7, 0, 7]
        assert stripe_lengths(Layout.parse("xor:2+1:1m"), 0) == [0, 0, 0]

    @given(STRIPED_LAYOUTS, st.integers(0, 10**6))
    def test_data_stripes_hold_the_data_and_parity_is_as_long_as_the_longest(
        self, layout: Layout, length: int
    ) -> None:
        lengths = stripe_lengths(layout, length)
        data, parity = lengths[: layout.data], lengths[layout.data :]
        assert sum(data) == length
        assert data == sorted(data, reverse=True)
        assert data[0] - data[-1] <= (layout.cell_bytes or 0)
        assert parity == [max(data)] * layout.parity

    @given(STRIPED_LAYOUTS, st.integers(0, 10**6), st.data())
    def test_a_stripe_is_missing_exactly_if_no_node_stores_it(
        self, layout: Layout, length: int, data: st.DataObject
    ) -> None:
        lengths = stripe_lengths(layout, length)
        present = data.draw(st.sets(st.integers(0, len(lengths) - 1)))
        holders = {index: [f"node-{index}"] for index in present}
        file = stored_file(layout, length, [(length, holders)])
        absent = [i for i, stripe in enumerate(lengths) if stripe and i not in present]
        assert file.missing == len(absent)
        assert sum(file.placement.values()) == sum(lengths[index] for index in present)

    def test_a_stripe_on_two_nodes_is_stored_twice(self) -> None:
        layout = Layout.parse("xor:2+1:10")
        file = stored_file(layout, 20, [(20, {0: ["a"], 1: ["b", "c"], 2: ["c"]})])
        assert (file.missing, file.excess) == (0, 1)
        assert file.placement == {"a": 10, "b": 10, "c": 20}


class TestStoredFiles:
    def test_files_as_expected_have_no_problem(self) -> None:
        files = stored(COMPLETE, COMPLETE)
        assert files.problem(TWO) is None
        assert files.problem(None) is None
        assert files.differing_files(TWO) == []
        assert files.layout == TWO
        assert files.placement == {"a": 200, "b": 200}
        assert files.stored_bytes == 400

    @pytest.mark.parametrize(
        ("files", "expected", "problem"),
        [
            ([StoredFile(STRIPED, 1)] * 2, TWO, "of 2 files, 2 are rs:6+3:64k (first: part-0)"),
            (
                [COMPLETE, StoredFile(THREE, 1)],
                TWO,
                "of 2 files, 1 are replicated:3 (first: part-1)",
            ),
            (
                [COMPLETE, StoredFile(TWO, 1, missing=2), StoredFile(TWO, 1, missing=1)],
                TWO,
                "of 3 files, 2 lack 3 copies or stripes (first: part-1)",
            ),
            (
                [StoredFile(TWO, 1, excess=1), StoredFile(STRIPED, 1, missing=1)],
                TWO,
                (
                    "of 2 files, 1 are rs:6+3:64k (first: part-1), 1 lack 1 copies or stripes "
                    "(first: part-1), 1 have 1 too many (first: part-0)"
                ),
            ),
            # If no layout is expected, the files must at least be alike.
            (
                [COMPLETE, COMPLETE, StoredFile(THREE, 1)],
                None,
                "of 3 files, 1 are replicated:3 (first: part-2)",
            ),
        ],
    )
    def test_a_problem_has_the_number_of_files_and_the_first_one(
        self, files: list[StoredFile], expected: Layout | None, problem: str
    ) -> None:
        assert stored(*files).problem(expected) == problem

    def test_no_files_have_no_layout_and_no_problem(self) -> None:
        assert stored().layout is None
        assert stored().problem(TWO) is None
        assert stored().stored_bytes == 0

    def test_stored_bytes_are_unknown_if_the_file_system_does_not_report_them(self) -> None:
        assert stored(StoredFile(UNKNOWN, 100)).stored_bytes is None
