"""Rates of disks are read as they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import BadInput
from harness.model.disk_rate import MAX_BYTES_S, MIN_BYTES_S, disk_rate_text, parse_disk_rate


@given(st.integers(MIN_BYTES_S // 10**6, MAX_BYTES_S // 10**6))
def test_a_rate_is_read_as_it_was_written(mb_s: int) -> None:
    assert parse_disk_rate("disk_rate", disk_rate_text(mb_s * 10**6)) == mb_s * 10**6


@pytest.mark.parametrize(
    ("text", "bytes_s"), [("50MB/s", 50 * 10**6), ("1.5 gb/s", 15 * 10**8), (" 1mb/s", 10**6)]
)
def test_a_rate_has_a_unit(text: str, bytes_s: int) -> None:
    assert parse_disk_rate("disk_rate", text) == bytes_s


@pytest.mark.parametrize("text", ["", "50", "50MB", "50mbit", "-1MB/s", "nan MB/s", "1e3MB/s"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(
        BadInput, match=r"disk_rate .* is not the rate of a disk; write for example"
    ):
        parse_disk_rate("disk_rate", text)


@pytest.mark.parametrize("text", ["0MB/s", "0.5MB/s", "101GB/s"])
def test_a_rate_that_no_disk_has_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not between 1MB/s and 100000MB/s"):
        parse_disk_rate("disk_rate", text)
