"""A QFS metaserver's text protocol, for what QFS's Java classes do not tell.

It is the one that QFS's own status page speaks. A metaserver that wants authentication does not
answer it.
"""

from __future__ import annotations

import csv
import socket
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

TIMEOUT_S = 10.0
VERSION = 116
"""Of the protocol, as QFS 2.2 speaks it."""

CHUNK_BYTES = 64 * 2**20

Answer = tuple[dict[str, str], str]
"""The headers and the body."""


def _chunks(body: str) -> Iterator[tuple[int, list[str]]]:
    """Position and servers of each chunk: `offset id version count`, then `host port` of each server."""
    words = body.split()
    while words:
        offset, _chunk, _version, count = words[:4]
        end = 4 + 2 * int(count)
        servers, words = words[4:end], words[end:]
        named = zip(servers[::2], servers[1::2], strict=True)
        yield int(offset) // CHUNK_BYTES, [f"{host}:{port}" for host, port in named]


class Metaserver:
    """A connection to a metaserver. Everything raises OSError if it cannot be had."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), TIMEOUT_S)
        self._stream = self._socket.makefile("rb")
        self._asked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self._socket.close()

    def ask(self, operation: str, **fields: object) -> Answer:
        """The answer to an operation; in the names of its fields `_` stands for `-`."""
        self._asked += 1
        whole = {"Version": "KFS/1.0", "Cseq": self._asked, "Client-Protocol-Version": VERSION}
        whole |= {name.replace("_", "-"): value for name, value in fields.items()}
        lines = [operation, *(f"{name}: {value}" for name, value in whole.items()), "", ""]
        self._socket.sendall("\r\n".join(lines).encode())
        headers = self._headers()
        body = self._stream.read(int(headers.get("Content-length", "0"))).decode()
        if (status := int(headers.get("Status", "-1"))) < 0:
            raise OSError(-status, headers.get("Status-message", f"{operation} was refused"))
        return headers, body

    def _headers(self) -> dict[str, str]:
        self._stream.readline()  # whether it went well; the status says that, too
        headers: dict[str, str] = {}
        for line in self._stream:
            name, colon, value = line.decode().strip().partition(":")
            if not colon:
                return headers
            headers[name] = value.strip()
        raise ConnectionError("it hung up")

    def servers_up(self) -> int:
        """How many chunk servers are connected."""
        headers, _ = self.ask("PING")
        return sum(bool(server.strip()) for server in headers.get("Servers", "").split("\t"))

    def holders(self, file_id: int) -> dict[int, list[str]]:
        """The servers, as `host:port`, of each chunk of a file, by its physical position.

        Positions count the chunks; those of parity follow those of data in every group.
        """
        found: dict[int, list[str]] = {}
        more = True
        while more:
            start = (max(found, default=-1) + 1) * CHUNK_BYTES
            fields = {"File_handle": file_id, "Start_offset": start, "Continue_if_no_replicas": 1}
            headers, body = self.ask("GETLAYOUT", **fields)
            chunks = dict(_chunks(body))
            found |= chunks
            more = headers.get("Has-more-chunks") == "1" and bool(chunks)
        return found

    def buffered_io(self) -> bool | None:
        """Whether chunk servers use the page cache; None if they differ, or do not say."""
        _, body = self.ask("GET_CHUNK_SERVER_DIRS_COUNTERS")
        values = {row.get("Buffered-io") for row in csv.DictReader(body.splitlines())}
        return {"0": False, "1": True}.get(values.pop() or "") if len(values) == 1 else None
