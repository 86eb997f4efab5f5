"""Measures all the time how fast a node's processors are, in a small process of its own.

Processors change their speed: a neighbour works on the same core, it is hot, its clock is lowered. Often
no counter of the kernel shows it; a loop that is always the same does. About 20 times a second the process
runs one and adds up the CPU time that it took, so that only the speed of the processor counts and not how
long the process waited for one. It is not niced: a niced process would run in the moments that the
trials leave, and measure those.

The process has one thread, opens no file and ends within two seconds after the process that it watches,
whatever ended that. It answers at an abstract Unix socket, which exists in one network namespace, as a
node does. Whoever asks gets the sums since it started. This file is also its program: it is sent to the
node as text (`python -c`), and imports the standard library alone.
"""

from __future__ import annotations

import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

LOOP_STEPS = 15_000
"""A third of a millisecond on a processor of 2020: 20 of them are well under 1 % of its time."""
INTERVALS_S = (0.035, 0.065)
"""The pause is random between these: a quota of the kernel has a period of 0.1 s, often."""
WATCH_EACH = 20
"""After so many loops, the process looks whether the one that it watches still runs."""
TIMEOUT_S = 10.0
_MAX_ANSWER = 4096
_CREDENTIALS = "3i"
"""Process, user and group, as the kernel has them in `struct ucred`."""

Sums = dict[str, int]
"""`started_ns` identifies the process; `loops` and `loop_ns` are their number and CPU time."""


def sums(address: str, watched: int, program: str) -> Sums | None:
    """Return the sums of the sampler at an address, None if there is none and it cannot be started.

    If there is none, start it with the text of this file as its `program`; it ends soon after the
    process `watched`.
    """
    return _ask(address) or (_ask(address) if _start(address, watched, program) else None)


def _ask(address: str) -> Sums | None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT_S)
        try:
            connection.connect(f"\0{address}")
            peer = connection.getsockopt(
                socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(_CREDENTIALS)
            )
            _, user, _ = struct.unpack(_CREDENTIALS, peer)
            if user != os.geteuid():  # a stranger has taken the name
                return None
            with connection.makefile("rb") as answer:
                found = json.loads(answer.read(_MAX_ANSWER))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None


def _start(address: str, watched: int, program: str) -> bool:
    """Start the process; it listens when this returns. Return whether that worked."""
    command = [sys.executable, "-I", "-S", "-c", program, address, str(watched)]
    nothing = subprocess.DEVNULL
    try:
        done = subprocess.run(  # noqa: S603  our own program
            command, stdin=nothing, stdout=nothing, stderr=nothing, cwd="/", timeout=TIMEOUT_S,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def serve(address: str, watched: int) -> None:
    """Listen at the address, and go on in a process that belongs to nobody."""
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(f"\0{address}")
        except OSError:  # another one has just been started
            return
        listener.listen()
        listener.settimeout(0)
        if os.fork():
            return
        os.setsid()  # Ctrl-C in the terminal, and the end of a Python worker, are not for this one
        _sample(listener, watched)


def _sample(listener: socket.socket, watched: int) -> None:
    started_ns, loops, loop_ns = time.monotonic_ns(), 0, 0
    is_watched = start_time(watched)
    while is_watched is not None:
        loop_ns += _loop_ns()
        loops += 1
        _answer(listener, {"started_ns": started_ns, "loops": loops, "loop_ns": loop_ns})
        if loops % WATCH_EACH == 0 and start_time(watched) != is_watched:
            return


def _loop_ns() -> int:
    start, number = time.thread_time_ns(), 0
    for step in range(LOOP_STEPS):
        number += step
    return time.thread_time_ns() - start


def _answer(listener: socket.socket, answer: Sums) -> None:
    """Pause until the next loop is due, and answer everyone who asks meanwhile."""
    due_s = time.monotonic() + random.uniform(*INTERVALS_S)  # noqa: S311  no secret
    while (rest_s := due_s - time.monotonic()) > 0:
        if not select.select([listener], [], [], rest_s)[0]:
            return
        try:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(0)
                connection.sendall(json.dumps(answer).encode())
        except OSError:  # whoever asked has gone
            continue


def start_time(process: int, root: Path = Path("/")) -> str | None:
    """Return when a process started, in the kernel's ticks; None if there is none, or it has ended."""
    try:
        text = (root / f"proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
