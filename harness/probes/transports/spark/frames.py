"""What goes over the sockets between a command's caller, the driver and an executor."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

_HEAD = ">BI"  # no struct.Struct: this goes to executors by value, and that does not
_MOST = 2**20
"""Bytes; whoever says that more will come is a stranger."""


class Kind(IntEnum):
    """An object in JSON; or, of a command that runs, a piece of its output, or its exit code."""

    TOLD = 0
    OUTPUT = 1
    ERRORS = 2
    CODE = 3


def send(to: socket.socket, kind: Kind, payload: bytes) -> None:
    """Send a frame whole."""
    to.sendall(struct.pack(_HEAD, kind, len(payload)) + payload)


def receive(of: socket.socket) -> tuple[Kind, bytes] | None:
    """The next frame; None if the other side has ended, also in the middle of one."""
    head = _exactly(of, struct.calcsize(_HEAD))
    if head is None:
        return None
    kind, size = struct.unpack(_HEAD, head)
    payload = _exactly(of, size) if size <= _MOST else None
    return None if payload is None else (Kind(kind), payload)


def tell(to: socket.socket, **values: object) -> None:
    """Send an object."""
    send(to, Kind.TOLD, json.dumps(values).encode())


def told(of: socket.socket) -> Mapping[str, Any] | None:
    """The object that comes next; None if the other side has ended, or sends something else."""
    try:
        match receive(of):
            case (Kind.TOLD, payload):
                values = json.loads(payload)
                return values if isinstance(values, dict) else None
            case _:
                return None
    except (OSError, ValueError):
        return None


def _exactly(of: socket.socket, size: int) -> bytes | None:
    pieces = bytearray()
    while len(pieces) < size:
        piece = of.recv(min(size - len(pieces), 65536))
        if not piece:
            return None
        pieces += piece
    return bytes(pieces)


EXECUTORS_LINE = "clusterlift: executors on "
"""Before the hosts, as a JSON array, in the one line that counts of what the application prints."""
