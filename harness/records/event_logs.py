"""Spark's event logs of users' own applications: their files, in which order, and their lines, decompressed.

A log is a file, or a directory of parts: `events_1_...`, `events_2_...`. What a file is compressed with is
known by its first bytes. A compressed file that is cut off or damaged ends there, like a plain one.
"""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from harness.eventlog.application import Application
from harness.model.errors import BadInput
from harness.model.run import RecordedRun
from harness.records.document import MAX_REASON
from harness.records.files import regular_file
from harness.words import shorten

MAX_LINE = 2**27
"""Bytes. The plan of a long query takes a few MB."""
MAX_BLOCK = 2**25
"""Bytes: what lz4-java writes at most."""
_CHUNK = 2**13
"""Bytes that are decompressed at once: so much is lost where a file is cut off."""

_PART = re.compile(r"events_(\d{1,9})_.+")
_COMPACTED = ".compact"


def read_logs(paths: Sequence[Path]) -> list[tuple[RecordedRun, ...]]:
    """Return the applications whose logs each path denotes, one or more, as runs in the order of their start.

    If they are of several names, the names of what they executed begin with the application's. Raise
    BadInput, which names file and line, if there are none, or another file.
    """
    found = [[(files[0], _read(files)) for files in logs_in(path)] for path in paths]
    names = {application.name for each in found for _, application in each}
    runs = [
        [
            application.recorded(str(path), str(file), f"{application.name}: " * (len(names) > 1))
            for file, application in each
        ]
        for path, each in zip(paths, found, strict=True)
    ]
    return [tuple(sorted(each, key=lambda one: (one.run.started_at, one.run.id))) for each in runs]


def _read(files: Sequence[Path]) -> Application:
    application = Application()
    for path in files:
        for number, line in enumerate(lines_of(path), 1):
            if path is files[-1] and not line.endswith(b"\n"):
                break  # it is being written, or was cut off
            try:
                application.add(line)
            except ValueError as error:
                version = f"Spark {application.version}: " if application.version else ""
                reason = shorten(str(error), MAX_REASON)
                raise BadInput(f"{path}:{number}: {version}{reason}") from error
    if not application.name:
        raise BadInput(
            f"{files[0]} is no event log of Spark, or lacks its start: no application starts in it"
        )
    return application


def logs_in(path: Path) -> list[list[Path]]:
    """Return the files of each log that `path` denotes: it is a log, or a directory of logs.

    Hidden files, and directories that are no logs, are left out. Raise BadInput if nothing is left.
    """
    entries = _entries(path)
    if entries is None:
        return [[path]]
    if parts := _parts(entries):
        return [parts]
    below = [(each, _entries(each)) for each in entries]
    logs = [[each] if inside is None else _parts(inside) for each, inside in below]
    if not any(logs):
        raise BadInput(
            f"the directory {path} has no event logs; name the directory of spark.eventLog.dir, or of some "
            "logs that you copied from it"
        )
    return [log for log in logs if log]


def _entries(path: Path) -> list[Path] | None:
    """Return what a directory has, without hidden files; None of what is no directory."""
    try:
        if not path.is_dir():
            return None
        return sorted(each for each in path.iterdir() if not each.name.startswith("."))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error


def _parts(entries: list[Path]) -> list[Path]:
    """Return the parts of a log in their order, from the last on that has what is left of those before."""
    parts = sorted(
        (int(match[1]), path.suffix == _COMPACTED, path)
        for path in entries
        if (match := _PART.fullmatch(path.name))
    )
    compacted = (place for place, (_, is_compacted, _) in enumerate(parts) if is_compacted)
    return [path for _, _, path in parts[max(compacted, default=0) :]]


def lines_of(path: Path) -> Iterator[bytes]:
    r"""Yield the lines of a file, each with its `\n`; one that is cut off has none.

    Raise BadInput, which names the file, if it cannot be read, or if a line is longer than MAX_LINE.
    """
    with regular_file(path) as file:
        read, pieces, size = _reader(path, file), list[bytes](), 0
        for chunk in read:
            first, *others = chunk.split(b"\n")
            pieces.append(first)
            size += len(first)
            for piece in others:
                yield b"".join(pieces) + b"\n"
                pieces, size = [piece], len(piece)
            if size > MAX_LINE:
                raise BadInput(f"{path}: a line has more than {MAX_LINE:,} bytes: not an event log")
        if rest := b"".join(pieces):
            yield rest


def _reader(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Return the content of a file in chunks, decompressed."""
    start = file.read(max(map(len, _READERS)))
    file.seek(0)
    name, read = next(
        (_READERS[magic] for magic in _READERS if start.startswith(magic)), ("", None)
    )
    if not name:
        return iter(lambda: file.read(_CHUNK), b"")
    if read is None:
        raise BadInput(
            f"{path} is compressed with {name}, which cannot be read; run the application with "
            "spark.eventLog.compression.codec=zstd"
        )
    try:
        import pyarrow as pa  # noqa: PLC0415  most logs, and all other results, need none
    except ModuleNotFoundError as error:
        raise BadInput(f"{path} is compressed: to read it, pip install pyarrow") from error
    return _undamaged(read(file, pa))


def _undamaged(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the chunks before the first that cannot be decompressed."""
    try:
        yield from chunks
    except (OSError, ValueError, struct.error):
        return


def _stream(codec: str, file: BinaryIO, pa: Any) -> Iterator[bytes]:
    stream = pa.CompressedInputStream(file, codec)
    return iter(lambda: stream.read(_CHUNK), b"")


def _lz4(file: BinaryIO, pa: Any) -> Iterator[bytes]:
    """The stream of lz4-java: blocks with a header of their own, which are not LZ4's frames."""
    codec, header = pa.Codec("lz4_raw"), struct.Struct("<8sBiii")
    while start := file.read(header.size):
        _, token, stored, size, _ = header.unpack(start)
        if not (0 <= stored <= MAX_BLOCK and 0 <= size <= MAX_BLOCK):
            raise ValueError("not a block")
        block = file.read(stored)
        is_raw = token & 0xF0 == _LZ4_RAW
        yield block if is_raw else codec.decompress(block, size, asbytes=True)


_LZ4_RAW = 0x10
_READERS: dict[bytes, tuple[str, Callable[[BinaryIO, Any], Iterator[bytes]] | None]] = {
    b"\x28\xb5\x2f\xfd": ("zstd", partial(_stream, "zstd")),
    b"\x1f\x8b": ("gzip", partial(_stream, "gzip")),
    b"LZ4Block": ("lz4", _lz4),
    b"\x82SNAPPY": ("snappy", None),
    b"ZV": ("lzf", None),
}
"""What files are compressed with, by their first bytes."""
