"""The executor agent, the task on an executor that runs commands for the relay; and the messages of them all.

Agents and relay agree on a key. A short task on each executor draws a private number, keeps it in a file, and
returns the public number through Spark. A long one takes the private number: it is the agent. So nothing that
crosses the network, by Spark or by us, is of use to anybody else.

Messages travel over `multiprocessing.connection`; none is pickled. An agent first sends its fingerprint, and
both sides prove the key. From then on an object is one message in JSON:

- agent to relay: `{"channel": 0}` from a new agent, `{"channel": N}` on a connection for one command;
- relay to agent: `{"channel": N, "command": [...]}`;
- caller to relay: `{"host": ..., "command": [...]}`.

While a command runs, its input travels in messages of any length, and an empty message marks its end. Its
output, its errors and finally its exit code come back; the first byte of each message is its kind.

Executors get this module by value, so it imports the standard library alone.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import IO, Any

from harness.hosts.transports.spark.key_agreement import (
    agreed_key,
    fingerprint,
    private_number,
    public_number,
)

OUTPUT, ERRORS, EXIT_CODE = b"o", b"e", b"x"
END_OF_INPUT = b""
PIECE_BYTES = 65536
CONNECT_S = 20
HANDSHAKE_S = 10
END_S = 5
LOSS_S = 30
"""A connection is lost if the other machine has not answered for so many seconds."""
CONNECTION_LOST = (OSError, EOFError)
PRIVATE_FILE = "clusterlift-probe"

Address = tuple[str, int]


def send_object(connection: Connection, **values: object) -> None:
    """Send an object. Raise OSError if the connection is lost."""
    connection.send_bytes(json.dumps(values).encode())


def receive_object(connection: Connection) -> dict[str, Any]:
    """Return the object that comes next. Raise one of CONNECTION_LOST if none comes."""
    values: dict[str, Any] = json.loads(connection.recv_bytes())
    return values


def limit_silence(connection: Connection, seconds: int) -> None:
    """Make each read raise an OSError after so many seconds without a byte; with 0, let it wait for ever."""
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", seconds, 0))


def notice_loss(connection: socket.socket) -> None:
    """Have the kernel end a connection, or those that a listener accepts, LOSS_S after the network's end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, LOSS_S // 3)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, LOSS_S // 6)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * LOSS_S)


def executor_directory() -> Path:
    """Return the directory of this task's executor, which Spark removes after it."""
    return Path(os.environ["SPARK_LOCAL_DIRS"].partition(",")[0])


def keep_private_number(directory: Path) -> int:
    """Draw a private number, keep it in a file for its owner alone, and return the public number."""
    private = private_number()
    file = directory / PRIVATE_FILE
    file.unlink(missing_ok=True)  # an earlier attempt of this task may have failed afterwards
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(f"{private:x}")
    return public_number(private)


def take_private_number(directory: Path) -> int | None:
    """Return the private number that is kept, and delete its file; None if there is none (any more)."""
    file = directory / PRIVATE_FILE
    try:
        text = file.read_text()
        file.unlink()
    except FileNotFoundError:
        return None
    return int(text, 16)


@dataclass(frozen=True)
class RelayAccess:
    """Where the relay is, the key that it shares with one agent, and how it knows this agent."""

    address: Address
    key: bytes
    fingerprint: bytes

    def connect(self) -> Connection:
        """Return a connection on which both sides have proved the key.

        Raise OSError if the relay cannot be reached or ends the connection, and AuthenticationError if
        whoever answers there does not have the key.
        """
        with socket.create_connection(self.address, CONNECT_S) as opened:
            opened.settimeout(None)
            notice_loss(opened)
            connection = Connection(opened.detach())
        try:
            limit_silence(connection, HANDSHAKE_S)
            connection.send_bytes(self.fingerprint)
            answer_challenge(connection, self.key)
            deliver_challenge(connection, self.key)
            limit_silence(connection, 0)
        except AssertionError as error:  # from Python 3.11, about what is no challenge
            connection.close()
            raise AuthenticationError(str(error)) from error
        except (AuthenticationError, *CONNECTION_LOST):
            connection.close()
            raise
        return connection


def run_agent(address: Address, relay_public: int, private: int) -> None:
    """Run each command that the relay at `address` sends, until the connection to it is lost.

    Commands that still run are then ended. Raise OSError and AuthenticationError like `RelayAccess.connect`.
    """
    key = agreed_key(private, relay_public)
    access = RelayAccess(address, key, fingerprint(public_number(private)))
    commands: list[threading.Thread] = []
    with access.connect() as relay, suppress(*CONNECTION_LOST):
        send_object(relay, channel=0)
        while True:
            request = receive_object(relay)
            arguments = (access, request["channel"], request["command"])
            thread = threading.Thread(target=_run_command, args=arguments, daemon=True)
            thread.start()
            commands.append(thread)
    for thread in commands:
        thread.join(2 * END_S)


def _run_command(access: RelayAccess, channel: int, command: Sequence[str]) -> None:
    with suppress(AuthenticationError, *CONNECTION_LOST), access.connect() as relay:
        send_object(relay, channel=channel)
        process = subprocess.Popen(  # noqa: S603  the words of the command stay what they are
            ["sh", "-c", 'exec "$@"', "sh", *command],  # noqa: S607  which reports a missing program
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        feeder = threading.Thread(target=_feed, args=(relay, process), daemon=True)
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


def _feed(relay: Connection, process: subprocess.Popen[bytes]) -> None:
    """Pass all input on to the command; when the relay ends the connection, end the command."""
    assert process.stdin is not None  # noqa: S101  it is a pipe
    with suppress(*CONNECTION_LOST):
        while True:
            piece = relay.recv_bytes()
            # If the command reads no more, the rest is received and dropped.
            with suppress(OSError):
                if piece == END_OF_INPUT:
                    process.stdin.close()
                else:
                    process.stdin.write(piece)
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
