"""The proxy command: run a command on an executor's host, `python -m ...spark.proxy SOCKET HOST COMMAND...`.

Input, output and exit code are those of the command; the exit code is 255 if no executor runs it.
"""

import os
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Client, Connection
from typing import NoReturn

from harness.hosts.transports.spark.agent import (
    CONNECTION_LOST,
    END_OF_INPUT,
    ERRORS,
    EXIT_CODE,
    PIECE_BYTES,
    send_object,
)
from harness.hosts.transports.spark.relay import UNREACHABLE
from harness.terminal import say


def run_command(path: str, host: str, *command: str) -> int:
    """Run a command through the relay whose socket is at `path`, and return its exit code."""
    try:
        relay = Client(path)
        send_object(relay, host=host, command=command)
    except OSError as error:
        return _unreachable(f"the Spark application has ended: {error.strerror}")
    threading.Thread(target=_forward_input, args=(relay,), daemon=True).start()
    with suppress(*CONNECTION_LOST):
        while True:
            message = relay.recv_bytes()
            kind, payload = message[:1], message[1:]
            if kind == EXIT_CODE:
                return int(payload)
            _write(2 if kind == ERRORS else 1, payload)
    return _unreachable("the Spark application has ended")


def _unreachable(reason: str) -> int:
    say(reason)
    return UNREACHABLE


def _forward_input(relay: Connection) -> None:
    with suppress(OSError):
        while piece := os.read(0, PIECE_BYTES):
            relay.send_bytes(piece)
        relay.send_bytes(END_OF_INPUT)


def _write(file: int, payload: bytes) -> None:
    while payload:
        payload = payload[os.write(file, payload) :]


def main() -> NoReturn:
    """Leave without waiting for the thread that reads the input: it may never end."""
    code = run_command(*sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
