"""The proxy command: run a command on an executor's host, `python -m ...spark.proxy SOCKET AGENT COMMAND...`.

Input, output and exit code are those of the command; the exit code is 255 if no executor runs it.
"""

import json
import os
import re
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Client, Connection

from harness.hosts.transports.spark.agent import (
    CONNECTION_LOST,
    END_OF_INPUT,
    ERRORS,
    EXIT_CODE,
    MAX_MESSAGE_BYTES,
    PIECE_BYTES,
)
from harness.hosts.transports.spark.relay import UNREACHABLE
from harness.terminal import say

_CODE = re.compile(rb"-?[0-9]{1,3}")


def run_command(path: str, agent: str, *command: str) -> int:
    """Run a command through the relay whose socket is at `path`, and return its exit code."""
    reason = ""
    try:
        relay = Client(path)
        relay.send_bytes(json.dumps([agent, *command]).encode())
    except OSError as error:
        reason = f": {error.strerror}"
    else:
        threading.Thread(target=_forward_input, args=(relay,), daemon=True).start()
        with suppress(*CONNECTION_LOST):
            while True:
                message = relay.recv_bytes(MAX_MESSAGE_BYTES)
                kind, payload = message[:1], message[1:]
                if kind == EXIT_CODE:
                    if _CODE.fullmatch(payload):
                        return int(payload)
                    say("an executor's answer cannot be read")
                    return UNREACHABLE
                while payload:
                    payload = payload[os.write(2 if kind == ERRORS else 1, payload) :]
    say(f"the Spark application has ended{reason}")
    return UNREACHABLE


def _forward_input(relay: Connection) -> None:
    with suppress(OSError):
        while piece := os.read(0, PIECE_BYTES):
            relay.send_bytes(piece)
        relay.send_bytes(END_OF_INPUT)


if __name__ == "__main__":
    code = run_command(*sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)  # without waiting for the thread that reads the input: it may never end
