"""What a task does on an executor: run commands for the driver, until it hangs up."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from harness.probes.transports.spark.frames import Kind, send, tell, told

CONNECT_S = 10
END_S = 5
NOT_FOUND = 127

Address = tuple[str, int]


def hand(address: Address, secret: str, host: str) -> None:
    """Be the hand on this host. A command that still runs afterwards has lost its input.

    Raises OSError if the driver cannot be reached from here.
    """
    serving: list[threading.Thread] = []
    with socket.create_connection(address, CONNECT_S) as line:
        line.settimeout(None)
        tell(line, secret=secret, host=host)
        while order := told(line):
            arguments = (address, secret, order["order"], order["command"])
            thread = threading.Thread(target=_serve, args=arguments, daemon=True)
            thread.start()
            serving.append(thread)
    for thread in serving:
        thread.join(END_S)


def _serve(address: Address, secret: str, order: int, command: Sequence[str]) -> None:
    with suppress(OSError), socket.create_connection(address, CONNECT_S) as line:
        line.settimeout(None)
        tell(line, secret=secret, order=order)
        try:
            process = subprocess.Popen(  # noqa: S603  an argument vector, no shell of ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            send(line, Kind.ERRORS, f"{command[0]}: {error.strerror}\n".encode())
            send(line, Kind.CODE, str(NOT_FOUND).encode())
            return
        code = _attended(process, line)
        send(line, Kind.CODE, str(code).encode())
        line.shutdown(socket.SHUT_WR)  # closing alone would wait for whoever still reads it


def _attended(process: subprocess.Popen[bytes], line: socket.socket) -> int:
    """Its exit code, when all that it said has been passed on."""
    one_at_a_time = threading.Lock()
    speakers = [
        threading.Thread(target=_pass_on, args=(stream, kind, line, one_at_a_time), daemon=True)
        for stream, kind in ((process.stdout, Kind.OUTPUT), (process.stderr, Kind.ERRORS))
    ]
    for thread in (*speakers, threading.Thread(target=_feed, args=(line, process), daemon=True)):
        thread.start()
    code = process.wait()
    for thread in speakers:
        thread.join(END_S)
    return code


def _pass_on(stream: IO[bytes], kind: Kind, line: socket.socket, alone: threading.Lock) -> None:
    # Who does not listen any more has closed the command's input, too; it is read to its end.
    while piece := stream.read(65536):
        with suppress(OSError), alone:
            send(line, kind, piece)


def _feed(line: socket.socket, process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None  # noqa: S101  it was asked for
    with suppress(OSError):
        while piece := line.recv(65536):
            process.stdin.write(piece)
    with suppress(OSError):
        process.stdin.close()
