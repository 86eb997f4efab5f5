"""Files that take fewer bytes on disks than they have, and how much of them is in the page cache."""

import errno
import fcntl
import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from harness.node.packed_files import have_packed, in_memory, may_compress
from harness.node.page_cache import drop_files
from tests.disks import require_counted_disk

SIZE = 2**22


def test_a_file_of_which_the_disk_has_all_bytes_is_not_packed(tmp_path: Path) -> None:
    require_counted_disk(tmp_path)
    file = tmp_path / "data"
    file.write_bytes(os.urandom(SIZE))
    assert not have_packed([str(file), "/no/such/file"])


def test_a_file_with_a_hole_is_packed(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(b"beginning")
    os.truncate(file, SIZE)
    assert have_packed([str(file)])


def test_a_file_of_which_the_file_system_tells_nothing_may_be_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EOPNOTSUPP, "not supported")

    file = tmp_path / "data"
    file.write_bytes(os.urandom(SIZE))
    monkeypatch.setattr(fcntl, "ioctl", refuse)
    assert have_packed([str(file)])


@pytest.mark.parametrize(
    ("flags", "is_packed"),
    [
        (0x0, False),
        (0x8, True),  # FIEMAP_EXTENT_ENCODED: compressed
        (0x200, True),  # FIEMAP_EXTENT_DATA_INLINE: beside its name
        (0x800, True),  # FIEMAP_EXTENT_UNWRITTEN: only zeros
    ],
)
@pytest.mark.parametrize("is_first", [False, True])
def test_a_file_with_a_part_that_disks_do_not_have_whole_is_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int, *, is_first: bool, is_packed: bool
) -> None:
    last, half = 0x1, SIZE // 2
    all_flags = [flags, 0x0] if is_first else [0x0, flags]
    parts = [(0, all_flags[0]), (half, all_flags[1] | last)]

    def answer(_file: int, _request: int, buffer: bytearray) -> None:
        struct.pack_into("=L", buffer, 20, len(parts))
        for number, (start, own_flags) in enumerate(parts):
            struct.pack_into("=QQQ16xL12x", buffer, 32 + 56 * number, start, start, half, own_flags)

    file = tmp_path / "data"
    file.write_bytes(os.urandom(SIZE))
    monkeypatch.setattr(fcntl, "ioctl", answer)
    assert have_packed([str(file)]) == is_packed


def test_the_page_cache_has_a_file_until_it_is_put_out(tmp_path: Path) -> None:
    require_counted_disk(tmp_path)
    file = tmp_path / "data"
    file.write_bytes(os.urandom(SIZE + 1))
    assert in_memory([str(file), "/no/such/file"]) == (SIZE + 1, 0)
    drop_files([str(file)])
    assert in_memory([str(file)]) == (0, SIZE + 1)
    with file.open("rb", buffering=0) as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        opened.read(SIZE // 2)
    assert in_memory([str(file)]) == (SIZE // 2, SIZE // 2 + 1)


def test_an_empty_file_is_nowhere(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert in_memory([str(tmp_path / "empty")]) == (0, 0)
    assert not have_packed([str(tmp_path / "empty")])


def test_the_file_of_another_user_is_not_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel says that all pages of it are in memory."""
    file = tmp_path / "data"
    file.write_bytes(b"data")
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert in_memory([str(file)]) is None


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/self/mountinfo": "20 1 8:1 / / rw - xfs /dev/sda1 rw"}, False),
        ({"proc/self/mountinfo": "20 1 0:40 / /data rw - btrfs /dev/sda1 rw"}, True),
        ({"proc/self/mountinfo": "20 1 0:40 / /data rw - zfs tank/data rw"}, True),
        ({"sys/fs/btrfs/features/zoned": "0"}, False),
        ({"sys/fs/btrfs/0c8b6b0e-2d3f/label": ""}, True),
        ({"proc/spl/kstat/zfs/arcstats": ""}, False),
        ({"proc/spl/kstat/zfs/tank/state": "ONLINE"}, True),
    ],
)
def test_a_node_that_has_a_file_system_that_compresses_may_compress(
    tmp_path: Path, files: dict[str, str], *, expected: bool
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert may_compress(tmp_path) == expected


@contextmanager
def btrfs(directory: Path, options: str) -> Iterator[Path]:
    """Mount a new Btrfs. Skip the test if that is not possible."""
    if os.geteuid() or not which("mkfs.btrfs") or not which("losetup"):
        pytest.skip("a Btrfs of the test's own takes root, btrfs-progs and losetup")
    image, mounted = directory / "image", directory / "mounted"
    mounted.mkdir()
    script = (
        f"truncate -s 150M {image}; mkfs.btrfs -q {image} >/dev/null; "
        f"device=$(losetup --direct-io=on --find --show {image}); "
        f"mount -o {options} $device {mounted} || {{ losetup -d $device; exit 1; }}; echo $device"
    )
    done = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no Btrfs can be mounted here: {done.stderr.strip()}")
    try:
        yield mounted
    finally:
        device = done.stdout.strip()
        subprocess.run(["sh", "-c", f"umount {mounted}; losetup -d {device}"], check=True)


def test_a_compressed_file_on_btrfs_is_packed_and_one_that_cannot_be_is_not(tmp_path: Path) -> None:
    with btrfs(tmp_path, "compress=zstd") as mounted:
        text, noise = mounted / "text", mounted / "noise"
        text.write_bytes(b"carefully final requests sleep. " * (SIZE // 32))
        noise.write_bytes(os.urandom(SIZE))
        assert have_packed([str(text)])
        assert not have_packed([str(noise)])
        drop_files([str(text)])
        assert in_memory([str(text)]) == (0, SIZE)
