"""What was put out of the page cache is read from the disk again."""

import os
from pathlib import Path

import pytest

from harness.node import page_cache
from harness.node.page_cache import drop_everything, drop_files
from tests.disks import bytes_read_for, require_counted_disk

SIZE = 2**24


def test_a_file_that_was_dropped_is_read_from_the_disk(tmp_path: Path) -> None:
    require_counted_disk(tmp_path)
    file = tmp_path / "data"
    file.write_bytes(os.urandom(SIZE))  # the disk does not have it yet
    assert drop_files([str(file), "/no/such/file"]) == ""
    assert bytes_read_for(file) >= SIZE
    assert bytes_read_for(file) < SIZE / 2


def test_a_file_that_cannot_be_dropped_is_named() -> None:
    assert drop_files(["/proc/self/status"]) == "/proc/self/status: Invalid argument"


@pytest.mark.parametrize(
    ("name", "answer"), [("drop_caches", ""), ("vm/drop_caches", "No such file or directory")]
)
def test_everything_is_dropped_or_the_kernel_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, answer: str
) -> None:
    file = tmp_path / name
    monkeypatch.setattr(page_cache, "_DROP_CACHES", str(file))
    assert drop_everything() == (f"{file}: {answer}" if answer else "")
    assert not file.parent.exists() or file.read_text() == "1\n"
