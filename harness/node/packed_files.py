"""Files that take fewer bytes on disks than their size, and how much of them is in memory.

File systems compress files, leave out zeros, or keep small files beside their names. Disks then read fewer
bytes than such a file has, although nothing of it was in memory. So the page cache is asked what it has. The
functions run on executors, which have Python alone, and return built-in types.
"""

from __future__ import annotations

import ctypes
import fcntl
import math
import os
import struct
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from harness.node.block_devices import mounts

_COMPRESSING = {"bcachefs", "btrfs", "f2fs", "zfs"}
_HAS_COMPRESSING = ("sys/fs/btrfs/*-*", "sys/fs/bcachefs/*-*", "proc/spl/kstat/zfs/*")
"""Directories of the kernel for mounts that may be compressed, even if a container does not see the mount."""
_BLOCK = 512
_PLAIN = 0.95
"""The share of a file for which it has blocks: the last bytes may be beside its name."""

# FIEMAP of linux/fiemap.h: a header, and after it the extents of a file. They are texts because a
# struct.Struct cannot be sent to a node.
_FIEMAP = 0xC020660B
_HEADER = "=QQLLLL"
_EXTENT = "=QQQ16xL12x"
_EXTENTS = 512
_SYNC = 0x1
_LAST = 0x1
_ENCODED = 0x8
_INLINE = 0x200
_UNWRITTEN = 0x800

_READABLE = 1
_SHARED = 1
"""PROT_READ and MAP_SHARED."""
_WINDOW = 2**30
"""Bytes that are looked at together: a multiple of any page."""


def have_packed(paths: Iterable[str]) -> bool:
    """Return whether disks may have fewer bytes of one of these files. A node need not have all of them."""
    return any(_is_packed(path) for path in _existing(paths))


def may_compress(root: Path = Path("/")) -> bool:
    """Return whether a file system of this node can compress what daemons store on it."""
    if any(mount.type in _COMPRESSING for mount in mounts(root)):
        return True
    found = chain.from_iterable(map(root.glob, _HAS_COMPRESSING))
    return any(path.is_dir() for path in found)


def in_memory(paths: Iterable[str]) -> tuple[int, int] | None:
    """Return the bytes of files that the page cache has, and the others; None if it does not tell."""
    cached = 0
    others = 0
    for path in _existing(paths):
        try:
            size = path.stat().st_size
            found = _cached_bytes(path, size)
        except OSError:
            return None
        if found is None:
            return None
        cached += found
        others += size - found
    return cached, others


def _existing(paths: Iterable[str]) -> list[Path]:
    found = []
    for each in paths:
        path = Path(each)
        if path.exists():
            found.append(path)
    return found


def _is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if status.st_blocks * _BLOCK < _PLAIN * status.st_size:
            return True
        try:
            return status.st_size > 0 and _has_packed_extent(file.fileno())
        except OSError:  # the file system does not tell
            return True


def _has_packed_extent(file: int) -> bool:
    """Return whether a part of a file is compressed, without bytes of its own, or beside its name."""
    start = 0
    header_bytes = struct.calcsize(_HEADER)
    extent_bytes = struct.calcsize(_EXTENT)
    while True:
        request = bytearray(header_bytes + _EXTENTS * extent_bytes)
        struct.pack_into(_HEADER, request, 0, start, 2**64 - 1 - start, _SYNC, 0, _EXTENTS, 0)
        fcntl.ioctl(file, _FIEMAP, request)
        _, _, _, found, _, _ = struct.unpack_from(_HEADER, request)
        for number in range(found):
            place = header_bytes + number * extent_bytes
            logical, _, length, flags = struct.unpack_from(_EXTENT, request, place)
            if flags & (_ENCODED | _INLINE | _UNWRITTEN):
                return True
            if flags & _LAST:
                return False
            start = logical + length
        if not found:
            return False


def _cached_bytes(path: Path, size: int) -> int | None:
    """Return the bytes of a file that the page cache has; None unless the user may know."""
    status = path.stat()
    # The kernel tells everybody else that all pages are there.
    if status.st_uid != os.geteuid() and not os.access(path, os.W_OK):
        return None
    cached = 0
    with path.open("rb") as file:
        for start in range(0, size, _WINDOW):
            length = min(_WINDOW, size - start)
            pages = _cached_pages(file.fileno(), start, length)
            if pages is None:
                return None
            cached += min(length, pages * os.sysconf("SC_PAGE_SIZE"))
    return cached


def _cached_pages(file: int, start: int, length: int) -> int | None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int64,
    )
    address = libc.mmap(None, length, _READABLE, _SHARED, file, start)
    if address == ctypes.c_void_p(-1).value:
        return None
    try:
        states = ctypes.create_string_buffer(math.ceil(length / os.sysconf("SC_PAGE_SIZE")))
        failed = libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(length), states)
        if failed:
            return None
        return states.raw.count(b"\1")
    finally:
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(length))
