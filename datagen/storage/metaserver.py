"""The text protocol of a QFS metaserver, for what QFS's Java classes do not report.

QFS's own status page uses the same protocol. A metaserver that requires authentication refuses it.
"""

from __future__ import annotations  # for Python 3.8

import csv
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Dict, Tuple

TIMEOUT_S = 10.0
VERSION = 116
"""The version of the protocol in QFS 2.2."""

CHUNK_BYTES = 64 * 2**20
MAX_ANSWER_BYTES = 2**26

Answer = Tuple[Dict[str, str], str]
"""The headers and the body."""


def _chunks(body: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the position and the servers of each chunk.

    The body has `offset id version count` for each chunk, then `host port` of each of its servers.
    Raise ValueError if words are missing.
    """
    words = iter(body.split())
    for offset in words:
        _chunk, _version, count = islice(words, 3)
        length = 2 * int(count)
        servers = list(islice(words, length))
        if len(servers) < length:
            raise ValueError(f"a chunk lacks some of its {count} servers")
        pairs = zip(servers[::2], servers[1::2])
        yield int(offset) // CHUNK_BYTES, [f"{host}:{port}" for host, port in pairs]


class Metaserver:
    """A connection to a metaserver.

    Every method raises OSError if the connection fails, and ValueError for an answer that cannot be read.
    """

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), TIMEOUT_S)
        self._stream = self._socket.makefile("rb")
        self._requests = 0

    def __enter__(self) -> Metaserver:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError), self._socket:
            self._stream.close()

    def ask(self, operation: str, **fields: object) -> Answer:
        """Return the answer to an operation. In the names of the fields, write `_` for `-`."""
        self._requests += 1
        request = f"{operation}\r\nVersion: KFS/1.0\r\nCseq: {self._requests}\r\n"
        request += f"Client-Protocol-Version: {VERSION}\r\n"
        for name, value in fields.items():
            request += f"{name.replace('_', '-')}: {value}\r\n"
        self._socket.sendall(f"{request}\r\n".encode())
        answer = self._read_headers()
        length = int(answer.get("Content-length", "0"))
        if not 0 <= length <= MAX_ANSWER_BYTES:
            raise ValueError(f"it announces an answer of {length:,} bytes")
        if len(body := self._stream.read(length)) < length:
            raise ConnectionError("it closed the connection")
        if (status := int(answer.get("Status", "-1"))) < 0:
            raise OSError(-status, answer.get("Status-message", f"{operation} was refused"))
        return answer, body.decode()

    def _read_headers(self) -> dict[str, str]:
        self._stream.readline()  # OK or FAILED; the header Status repeats it
        headers: dict[str, str] = {}
        for line in self._stream:
            name, colon, value = line.decode().strip().partition(":")
            if not colon:
                return headers
            headers[name] = value.strip()
        raise ConnectionError("it closed the connection")

    def servers_up(self) -> int:
        """Return how many chunk servers are connected."""
        headers, _ = self.ask("PING")
        return sum(bool(server.strip()) for server in headers.get("Servers", "").split("\t"))

    def holders(self, file_id: int) -> dict[int, list[str]]:
        """Return the servers of each chunk of a file, as `host:port`, by the chunk's position.

        Positions count chunks; in every group, the parity chunks follow the data chunks.
        """
        found: dict[int, list[str]] = {}
        more = True
        while more:
            start = (max(found, default=-1) + 1) * CHUNK_BYTES
            fields = {"File_handle": file_id, "Start_offset": start, "Continue_if_no_replicas": 1}
            headers, body = self.ask("GETLAYOUT", **fields)
            chunks = dict(_chunks(body))
            more = headers.get("Has-more-chunks") == "1" and not chunks.keys() <= found.keys()
            found.update(chunks)
        return found

    def buffered_io(self) -> bool | None:
        """Return whether chunk servers use the page cache; None if they differ or do not report it."""
        _, body = self.ask("GET_CHUNK_SERVER_DIRS_COUNTERS")
        values = {row.get("Buffered-io") for row in csv.DictReader(body.splitlines())}
        if len(values) == 1:
            return {"0": False, "1": True}.get(values.pop() or "")
        return None
