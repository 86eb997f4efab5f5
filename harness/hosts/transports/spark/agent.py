"""The executor agent: a task on an executor, which runs commands for the relay on Spark's driver.

An agent always has one connection on which it waits for a command. When one comes, the agent opens the next
connection. On each, both sides first prove that they have the key, by the HMAC challenges of
`multiprocessing.connection`; then the agent sends its name. The relay sends the command, as JSON, and its
input; an empty message ends the input. The output, the errors and finally the exit code come back; the first
byte of each message is its kind. Nothing that is received is ever unpickled, and every message has a limit.

The key reaches the agents with their code, through Spark. So it is as secret as what Spark sends: whoever can
read that, where spark.network.crypto.enabled is not set, can pose as an agent. What follows the challenges is
neither encrypted nor authenticated: whoever can change packets on the way can change commands.

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
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import IO

OUTPUT, ERRORS, EXIT_CODE = b"o", b"e", b"x"
END_OF_INPUT = b""
PIECE_BYTES = 65536
MAX_MESSAGE_BYTES = 1 + PIECE_BYTES
MAX_COMMAND_BYTES = 1 << 22
CONNECT_S = 20
HANDSHAKE_S = 10
END_S = 5
LOSS_S = 30
"""A connection is lost if the other machine has not answered for this many seconds."""
CONNECTION_LOST = (OSError, EOFError)

Address = tuple[str, int]


def limit_silence(connection: Connection, seconds: int) -> None:
    """Make each read raise an OSError after this many seconds without a byte; 0: let it wait for ever."""
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", seconds, 0))


def notice_loss(connection: socket.socket) -> None:
    """Have the kernel end a connection, or those that a listener accepts, LOSS_S after the network's end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, LOSS_S // 3)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, LOSS_S // 6)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * LOSS_S)


def connect(address: Address, key: bytes, name: str) -> Connection:
    """Return a connection of the agent `name` to the relay, on which both sides have proved the key.

    Raise one of CONNECTION_LOST if the relay cannot be reached or ends the connection, and
    AuthenticationError if whoever answers there does not have the key.
    """
    with socket.create_connection(address, CONNECT_S) as opened:
        opened.settimeout(None)
        notice_loss(opened)
        relay = Connection(opened.detach())
    try:
        limit_silence(relay, HANDSHAKE_S)
        answer_challenge(relay, key)
        deliver_challenge(relay, key)
        limit_silence(relay, 0)
        relay.send_bytes(name.encode())
    except AssertionError as error:  # from Python 3.11, about what is no challenge
        relay.close()
        raise AuthenticationError(str(error)) from error
    except (AuthenticationError, *CONNECTION_LOST):
        relay.close()
        raise
    return relay


def run_agent(address: Address, key: bytes, name: str) -> None:
    """Run each command that the relay at `address` sends, until a connection to it is lost.

    Commands that still run are then ended. Raise the errors of `connect` if the first connection fails.
    """
    commands: list[threading.Thread] = []
    relay = connect(address, key, name)
    with suppress(AuthenticationError, *CONNECTION_LOST):
        while True:
            command = json.loads(relay.recv_bytes(MAX_COMMAND_BYTES))
            commands.append(threading.Thread(target=_run, args=(relay, command), daemon=True))
            commands[-1].start()
            relay = connect(address, key, name)
    for thread in commands:
        thread.join(2 * END_S)


def _run(relay: Connection, command: Sequence[str]) -> None:
    with suppress(*CONNECTION_LOST), relay:
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
            piece = relay.recv_bytes(MAX_MESSAGE_BYTES)
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
