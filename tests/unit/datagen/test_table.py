"""Which directories of a user's table have rows."""

from typing import Any

import pytest

from datagen.table import Listed, without_metadata


@pytest.mark.parametrize(
    ("formats", "with_rows"),
    [
        ([], ["", "/metadata", "/data/day=1", "/snapshot", "/day=1/metadata"]),
        (["iceberg"], ["", "/data/day=1", "/snapshot", "/day=1/metadata"]),
        (["paimon"], ["", "/metadata", "/data/day=1", "/day=1/metadata"]),
    ],
)
def test_directories_about_the_versions_of_a_table_have_no_rows(
    formats: list[str], with_rows: list[str]
) -> None:
    anywhere: Any = None
    below = ["", "/metadata", "/data/day=1", "/snapshot", "/day=1/metadata"]
    listed = [Listed(anywhere, each, ["a"]) for each in below]
    assert [place.below for place in without_metadata(listed, formats)] == with_rows
