"""The messages between callers, relay and executor agents, over `multiprocessing.connection`.

An object is one message in JSON:

- agent to relay: `{"host": ...}` from a new agent, `{"channel": ...}` on a connection for one command;
- relay to agent: `{"channel": ..., "command": [...]}`;
- caller to relay: `{"host": ..., "command": [...]}`, or `{"owner": true}` from the process that the
  application belongs to.

While a command runs, its input travels in messages of any length, and an empty message marks its end. Its
output, its errors and finally its exit code come back; the first byte of each message is its kind. No message
is pickled. Executors get this module by value, so it imports the standard library alone.
"""

from __future__ import annotations

import json
from multiprocessing.connection import Connection
from typing import Any

OUTPUT, ERRORS, EXIT_CODE = b"o", b"e", b"x"
END_OF_INPUT = b""
PIECE_BYTES = 65536
UNREACHABLE = 255
"""The exit code if no executor runs the command; ssh has the same."""
EXECUTORS_LINE = "clusterlift: executors on "
"""The application prints this, and after it the hosts as a JSON array, when all agents are ready."""

CONNECTION_LOST = (OSError, EOFError)


def send_object(connection: Connection, **values: object) -> None:
    """Send an object. Raise OSError if the connection is lost."""
    connection.send_bytes(json.dumps(values).encode())


def receive_object(connection: Connection) -> dict[str, Any]:
    """Return the object that comes next. Raise one of CONNECTION_LOST if none comes."""
    values: dict[str, Any] = json.loads(connection.recv_bytes())
    return values
