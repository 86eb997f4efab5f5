"""What is wrong with how files lie is told in half a sentence."""

from __future__ import annotations

import pytest

from datagen.layout import UNKNOWN, Layout
from datagen.observed_layout import StoredFiles, StoredFile

TWO, THREE = Layout.parse("replicated:2"), Layout.parse("replicated:3")
CODED = Layout.parse("rs:6+3:64k")
WHOLE = StoredFile(TWO, 100, {"a": 100, "b": 100})


def stored(*files: StoredFile) -> StoredFiles:
    return StoredFiles({f"part-{number}": file for number, file in enumerate(files)})


def test_files_that_are_as_asked_for_have_no_problem() -> None:
    proven = stored(WHOLE, WHOLE)
    assert proven.problem(TWO) is None
    assert proven.problem(None) is None
    assert proven.differing_files(TWO) == []
    assert proven.layout == TWO
    assert proven.placement == {"a": 200, "b": 200}
    assert proven.stored_bytes == 400


@pytest.mark.parametrize(
    ("files", "expected", "told"),
    [
        ([StoredFile(CODED, 1)] * 2, TWO, "of 2 files, 2 are rs:6+3:64k (first: part-0)"),
        ([WHOLE, StoredFile(THREE, 1)], TWO, "of 2 files, 1 are replicated:3 (first: part-1)"),
        (
            [WHOLE, StoredFile(TWO, 1, missing=2), StoredFile(TWO, 1, missing=1)],
            TWO,
            "of 3 files, 2 lack 3 copies or stripes (first: part-1)",
        ),
        (
            [StoredFile(TWO, 1, excess=1), StoredFile(CODED, 1, missing=1)],
            TWO,
            (
                "of 2 files, 1 are rs:6+3:64k (first: part-1), 1 lack 1 copies or stripes "
                "(first: part-1), 1 have 1 too many (first: part-0)"
            ),
        ),
        # Nothing was asked for: then they must at least be alike.
        (
            [WHOLE, WHOLE, StoredFile(THREE, 1)],
            None,
            "of 3 files, 1 are replicated:3 (first: part-2)",
        ),
    ],
)
def test_a_problem_names_how_many_files_and_the_first(
    files: list[StoredFile], expected: Layout | None, told: str
) -> None:
    assert stored(*files).problem(expected) == told


def test_no_files_have_no_layout_and_no_problem() -> None:
    assert stored().layout is None
    assert stored().problem(TWO) is None
    assert stored().stored_bytes == 0


def test_bytes_stored_are_unknown_where_the_file_system_does_not_say() -> None:
    assert stored(StoredFile(UNKNOWN, 100)).stored_bytes is None


def test_a_layout_without_a_cell_is_met_by_any() -> None:
    asked = Layout.parse("rs:6+3")
    assert asked.is_met_by(CODED)
    assert not asked.is_met_by(Layout.parse("rs:3+2:64k"))
    assert not asked.is_met_by(None)
    assert not Layout.parse("rs:6+3:1m").is_met_by(CODED)
