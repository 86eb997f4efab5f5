"""`python -m harness.probes.transports.spark.proxy SOCKET HOST COMMAND...`: a command on an executor's host.

Its input, output and exit code are those of the command over there; 255 if it could not be reached.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from harness.probes.transports.spark.frames import Kind, receive, tell

UNREACHED = 255


def main(path: str, host: str, *command: str) -> int:
    """Run it; the exit code is the command's."""
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(path)
            tell(line, host=host, command=command)
        except OSError as error:
            return _unreached(f"the Spark application has ended: {error.strerror}")
        threading.Thread(target=_pass_on_input, args=(line,), daemon=True).start()
        with suppress(OSError):
            while frame := receive(line):
                match frame:
                    case (Kind.CODE, payload):
                        return int(payload)
                    case (Kind.ERRORS, payload):
                        os.write(2, payload)
                    case (_, payload):
                        _write(payload)
    return _unreached("the executor has gone")


def _unreached(what: str) -> int:
    print(what, file=sys.stderr)
    return UNREACHED


def _pass_on_input(line: socket.socket) -> None:
    with suppress(OSError):
        while piece := os.read(0, 65536):
            line.sendall(piece)
        line.shutdown(socket.SHUT_WR)


def _write(payload: bytes) -> None:
    while payload:
        payload = payload[os.write(1, payload) :]


def run() -> NoReturn:
    """As the command line says. Leaves at once: the thread that reads our input may never end."""
    code = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
