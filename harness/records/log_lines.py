"""The lines of a file of an event log, decompressed, each of them bounded.

The first bytes of a file tell its compression. A compressed file that is cut off or damaged ends there, like
a plain one.
"""

import bz2
import gzip
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from harness.records.places.file import LogFile, OpenFile, Unreadable

MAX_LINE = 2**26
"""Bytes. The plan of a long query takes a few MB."""
MAX_RATIO = 1_000
"""A file may unpack to this many times its size, and a MiB more. Spark's own logs shrink to a hundredth."""
_SHORT_LINE = 100
"""The least bytes that a line counts: lines of event logs have more, and each takes time."""
MAX_BLOCK = 2**25
"""Bytes: what lz4-java and snappy-java write at most."""
_CHUNK = 2**13
"""Bytes that are decompressed at once: so much is lost where a file is cut off."""
_PLAIN_CHUNK = 2**18
"""Bytes that are read at once of a file that is not compressed."""


def lines_of(log: LogFile) -> Iterator[bytes]:
    r"""Yield the lines of a file, each with its `\n`; one that is cut off has none.

    Raise ValueError with a reason if it cannot be read or decompressed, if a line is longer than MAX_LINE, or
    if it unpacks to more than event logs do.
    """
    with log.open() as opened:
        pieces: list[bytes] = []
        size = 0
        for chunk in _bounded(_reader(opened.file), opened):
            first, *others = chunk.split(b"\n")
            pieces.append(first)
            size += len(first)
            for piece in others:
                yield b"".join(pieces) + b"\n"
                pieces = [piece]
                size = len(piece)
            if size > MAX_LINE:
                raise ValueError(f"a line has more than {MAX_LINE:,} bytes")
        rest = b"".join(pieces)
        if rest:
            yield rest


def _reader(file: Any) -> Iterator[bytes]:
    """Return the content of a file in chunks, decompressed."""
    start = file.read(max(map(len, _READERS)))
    file.seek(0)
    for magic, reason in _REFUSED.items():
        if start.startswith(magic):
            raise ValueError(reason)
    for magic, read in _READERS.items():
        if start.startswith(magic):
            return _undamaged(read(file))
    return _chunks(file, _PLAIN_CHUNK)


def _bounded(chunks: Iterator[bytes], opened: OpenFile) -> Iterator[bytes]:
    """Yield the chunks of a file. Raise ValueError if they are too many for its size."""
    most = MAX_RATIO * opened.size + 2**20
    size = 0
    for chunk in chunks:
        size += max(len(chunk), _SHORT_LINE * chunk.count(b"\n"))
        if size > most:
            raise ValueError(f"it unpacks to more than {MAX_RATIO:,} times its size")
        yield chunk


def _undamaged(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the chunks before the first that cannot be decompressed."""
    try:
        yield from chunks
    except Unreadable:
        raise
    except (OSError, EOFError, ValueError, IndexError, struct.error, zlib.error):
        return


def _arrow() -> Any:
    """Return pyarrow, which most results do not need. Raise Unreadable if it is not installed."""
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise Unreadable(
            "compressed: to read it, install clusterlift with its extra [logs]"
        ) from error
    return pa


def _chunks(stream: Any, size: int = _CHUNK) -> Iterator[bytes]:
    """Return the content of a stream in chunks of this number of bytes."""
    return iter(lambda: stream.read(size), b"")


def _gzip(file: Any) -> Iterator[bytes]:
    return _chunks(gzip.GzipFile(fileobj=file))


def _bzip2(file: Any) -> Iterator[bytes]:
    return _chunks(bz2.BZ2File(file))


def _xz(file: Any) -> Iterator[bytes]:
    import lzma  # noqa: PLC0415  some builds of Python lack it

    try:
        with lzma.LZMAFile(file) as stream:
            yield from _chunks(stream)
    except lzma.LZMAError as error:
        raise ValueError("damaged") from error


def _stream(codec: str, file: Any) -> Iterator[bytes]:
    return _chunks(_arrow().CompressedInputStream(file, codec))


def _lz4(file: Any) -> Iterator[bytes]:
    """The stream of lz4-java: blocks with a header of their own, which are not LZ4's frames."""
    codec = _arrow().Codec("lz4_raw")
    header = struct.Struct("<8sBiii")
    while start := file.read(header.size):
        _, token, stored, size, _ = header.unpack(start)
        if not (0 <= stored <= MAX_BLOCK and 0 <= size <= MAX_BLOCK):
            raise ValueError("not a block")
        block = file.read(stored)
        if token & 0xF0 == _LZ4_RAW:
            yield block
        else:
            yield codec.decompress(block, size, asbytes=True)


def _snappy(file: Any) -> Iterator[bytes]:
    """The stream of snappy-java: a header, which may be repeated, and blocks with their sizes."""
    codec = _arrow().Codec("snappy")
    rest_of_header = 12
    while start := file.read(4):
        if start == _SNAPPY[:4]:
            file.read(rest_of_header)
            continue
        stored = int.from_bytes(start, "big")
        if stored > MAX_BLOCK:
            raise ValueError("not a block")
        block = file.read(stored)
        yield codec.decompress(block, _unpacked_size(block), asbytes=True)


def _unpacked_size(block: bytes) -> int:
    """Return the number with which a block of Snappy begins: 7 bits in each byte, the lowest first."""
    size = 0
    for place, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << 7 * place
        if byte < 0x80:  # noqa: PLR2004
            break
    if size > MAX_BLOCK:
        raise ValueError("not a block")
    return size


_LZ4_RAW = 0x10
_SNAPPY = b"\x82SNAPPY"
_READERS: dict[bytes, Callable[[Any], Iterator[bytes]]] = {
    b"\x28\xb5\x2f\xfd": partial(_stream, "zstd"),
    b"\x1f\x8b": _gzip,
    b"LZ4Block": _lz4,
    b"\x04\x22\x4d\x18": partial(_stream, "lz4"),
    b"BZh": _bzip2,
    b"\xfd7zXZ": _xz,
    _SNAPPY: _snappy,
}
"""How compressed files are read, by their first bytes."""
_ARCHIVE = "an archive (only .zip is read, by its name): unpack it"
_REFUSED = {
    b"ZV": "compressed with lzf, which cannot be read; run the application with "
    "spark.eventLog.compression.codec=zstd",
    b"PK\x03\x04": _ARCHIVE,
    b"7z\xbc\xaf": _ARCHIVE,
    b"Rar!": _ARCHIVE,
}
"""Why others are not read, by their first bytes."""
