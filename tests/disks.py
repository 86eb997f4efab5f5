"""Disks of this machine that count their bytes."""

import os
from pathlib import Path

import pytest

from harness.node.disks import disk_bytes
from harness.node.page_cache import drop_files

SIZE = 2**22


def bytes_read_for(file: Path) -> int:
    """Read a file, and return what all disks read meanwhile."""
    before = disk_bytes()
    file.read_bytes()
    after = disk_bytes()
    assert before is not None
    assert after is not None
    return after[0] - before[0]


def require_counted_disk(directory: Path) -> None:
    """Skip the test if what is read from a directory shows in no counter of a disk."""
    if disk_bytes() is None:
        pytest.skip("no disk of this machine counts its bytes")
    file = directory / "is the disk counted"
    file.write_bytes(os.urandom(SIZE))
    drop_files([str(file)])
    if bytes_read_for(file) < SIZE:
        pytest.skip(f"{directory} is on no disk that counts its bytes")
    file.unlink()
