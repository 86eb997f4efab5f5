"""What Spark's compression codecs wrote, as a stream of bytes; pyarrow knows the formats inside.

A file may end anywhere, as one does whose writer was killed: what comes before that is given.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from harness.errors import BadInput

Chunks = Iterator[bytes]

_CHUNK_BYTES = 1 << 20

_LARGEST_BLOCK_BYTES = 1 << 25
"""Of lz4-java and snappy-java; a length beyond it is garbled."""

_LZ4_HEADER = struct.Struct("<8sBiii")
"""Of lz4-java's LZ4BlockOutputStream: magic, token, length, length of the content, checksum."""
_LZ4_MAGIC = b"LZ4Block"
_LZ4_METHOD, _LZ4_STORED = 0xF0, 0x10

_SNAPPY_HEADER_BYTES = 16
"""Of snappy-java's SnappyOutputStream: eight of a magic, two versions. A block's length follows."""
_SNAPPY_LENGTH = struct.Struct(">i")


def chunks(path: Path) -> Chunks:
    """The content of a file, decompressed as its name's ending says.

    Raises BadInput where it cannot be read, or the codec is none that can be read here.
    """
    codec = path.name.removesuffix(".inprogress").rpartition(".")[2]
    if codec == "lzf":
        raise BadInput(f"{path}: event logs compressed by lzf cannot be read here; use zstd or lz4")
    try:
        with path.open("rb") as file:
            yield from _CODECS.get(codec, _plain)(file)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from error


def _plain(file: IO[bytes]) -> Chunks:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk


def _zstd(file: IO[bytes]) -> Chunks:
    pa = _pyarrow()
    stream = pa.CompressedInputStream(pa.PythonFile(file), "zstd")
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk
    except OSError:
        return  # cut off


def _lz4(file: IO[bytes]) -> Chunks:
    codec = _pyarrow().Codec("lz4_raw")
    while len(header := file.read(_LZ4_HEADER.size)) == _LZ4_HEADER.size:
        magic, token, length, content_length, _ = _LZ4_HEADER.unpack(header)
        block = file.read(length) if magic == _LZ4_MAGIC and length >= 0 else b""
        if magic != _LZ4_MAGIC or len(block) < length:
            return
        if token & _LZ4_METHOD == _LZ4_STORED:
            yield block
        elif length:
            yield from _decompressed(codec, block, content_length)


def _snappy(file: IO[bytes]) -> Chunks:
    codec = _pyarrow().Codec("snappy")
    file.read(_SNAPPY_HEADER_BYTES)
    while len(header := file.read(_SNAPPY_LENGTH.size)) == _SNAPPY_LENGTH.size:
        [length] = _SNAPPY_LENGTH.unpack(header)
        block = file.read(length) if length > 0 else b""
        if not block or len(block) < length:
            return
        yield from _decompressed(codec, block, _snappy_content_length(block))


def _snappy_content_length(block: bytes) -> int:
    """A block begins with it, seven bits a byte, the least first; the last has no eighth bit."""
    length = 0
    for index, byte in enumerate(block[:5]):
        length |= (byte & 0x7F) << (7 * index)
        if byte < 1 << 7:
            break
    return length


def _decompressed(codec: Any, block: bytes, content_length: int) -> Chunks:
    if not 0 < content_length <= _LARGEST_BLOCK_BYTES:
        return
    try:
        yield codec.decompress(block, content_length, asbytes=True)
    except (OSError, ValueError):
        return  # garbled; the line that it was in will not be read


def _pyarrow() -> Any:
    # Most event logs are not compressed, and reading results does not need it otherwise.
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ImportError as error:
        raise BadInput(
            "reading compressed event logs takes pyarrow: pip install pyarrow"
        ) from error
    return pa


_CODECS: Mapping[str, Callable[[IO[bytes]], Chunks]] = {
    "zstd": _zstd,
    "lz4": _lz4,
    "snappy": _snappy,
}
