"""The executor agent, the task on an executor that runs commands for the relay; and the messages of them all.

Messages travel over `multiprocessing.connection`; none is pickled. An object is one message in JSON:

- agent to relay: `{"host": ...}` from a new agent, `{"channel": ...}` on a connection for one command;
- relay to agent: `{"channel": ..., "command": [...]}`;
- caller to relay: `{"host": ..., "command": [...]}`, or `{"owner": true}` from the process that the
  application belongs to.

While a command runs, its input travels in messages of any length, and an empty message marks its end. Its
output, its errors and finally its exit code come back; the first byte of each message is its kind.

Executors get this module by value, so it imports the standard library alone.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Client, Connection
from typing import IO, Any

OUTPUT, ERRORS, EXIT_CODE = b"o", b"e", b"x"
END_OF_INPUT = b""
PIECE_BYTES = 65536
END_S = 5
CONNECTION_LOST = (OSError, EOFError)

Address = tuple[str, int]


def send_object(connection: Connection, **values: object) -> None:
    """Send an object. Raise OSError if the connection is lost."""
    connection.send_bytes(json.dumps(values).encode())


def receive_object(connection: Connection) -> dict[str, Any]:
    """Return the object that comes next. Raise one of CONNECTION_LOST if none comes."""
    values: dict[str, Any] = json.loads(connection.recv_bytes())
    return values


def run_agent(address: Address, key: bytes, host: str) -> None:
    """Run each command that the relay at `address` sends, until the relay closes the connection.

    Commands that still run then lose their input. Raise OSError if the relay cannot be reached from here,
    and AuthenticationError if it has another key.
    """
    commands: list[threading.Thread] = []
    with Client(address, authkey=key) as relay, suppress(*CONNECTION_LOST):
        send_object(relay, host=host)
        while True:
            request = receive_object(relay)
            arguments = (address, key, request["channel"], request["command"])
            thread = threading.Thread(target=_run_command, args=arguments, daemon=True)
            thread.start()
            commands.append(thread)
    for thread in commands:
        thread.join(END_S)


def _run_command(address: Address, key: bytes, channel: int, command: Sequence[str]) -> None:
    with suppress(*CONNECTION_LOST), Client(address, authkey=key) as relay:
        send_object(relay, channel=channel)
        process = subprocess.Popen(  # noqa: S603  the words of the command stay what they are
            ["sh", "-c", 'exec "$@"', "sh", *command],  # noqa: S607  which reports a missing program
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        feeder = threading.Thread(target=_feed, args=(relay, process.stdin), daemon=True)
        sending = threading.Lock()
        readers = [
            threading.Thread(target=_send_stream, args=(stream, kind, relay, sending), daemon=True)
            for stream, kind in ((process.stdout, OUTPUT), (process.stderr, ERRORS))
        ]
        for thread in (feeder, *readers):
            thread.start()
        code = process.wait()
        for reader in readers:
            reader.join(END_S)
        with suppress(OSError), sending:
            relay.send_bytes(EXIT_CODE + str(code).encode())
        # Closing a connection with unread input would discard what the relay has not read yet.
        feeder.join()


def _send_stream(
    stream: IO[bytes], kind: bytes, relay: Connection, sending: threading.Lock
) -> None:
    # The stream is read to its end even if nobody receives it: a full pipe would block the command.
    while piece := stream.read(PIECE_BYTES):
        with suppress(OSError), sending:
            relay.send_bytes(kind + piece)


def _feed(relay: Connection, stdin: IO[bytes]) -> None:
    """Pass all input on to the command; if the command reads no more, receive the rest and drop it."""
    with suppress(*CONNECTION_LOST):
        while piece := relay.recv_bytes():
            with suppress(OSError):
                stdin.write(piece)
    with suppress(OSError):
        stdin.close()
