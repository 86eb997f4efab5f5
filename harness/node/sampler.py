"""Measures all the time how fast a node's processors are, and what the node does, in a small process.

Processors change their speed: a neighbour works on the same core, the core is hot, or its clock is lowered.
Often no counter of the kernel shows that, but a loop that is always the same does. About 15 times a second,
the process runs such a loop and adds up its CPU time. So the speed of the processor counts, and not how long
the process waited for one. The process is not niced: a niced one would run, and measure, in the moments that
trials leave.

About five times a second it also reads what the node's links and disks have counted, and keeps it
until the end of the trial.

The process has one thread, keeps no file open and ends within two seconds after the process that it
watches. It answers at an abstract Unix socket, which exists in one network namespace,
as a node does. This file is also its program: it is sent to the node as text (`python -c`), and imports the
standard library alone.
"""

from __future__ import annotations

import json
import math
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Dict, List, Optional

LOOP_STEPS = 15_000
"""A third of a millisecond on a processor of 2020: 15 of them are half a percent of its time."""
INTERVALS_S = (0.045, 0.085)
"""The pause is random between these: a quota of the kernel has a period of 0.1 s, often."""
LOOPS_PER_CHECK = 20
"""Loops between checks that the watched process is alive."""
SAMPLE_EACH_S = 0.2
MAX_SAMPLES = 1200
"""When there are more, the sampler drops every second one and takes the next ones half as often."""
TIMEOUT_S = 10.0
PATIENCE_S = 0.1
"""How long the process waits for a request after a connection."""
READ = "read"
"""The request for the samples."""
_BEGIN = "begin"
"""The first word of the request for new samples."""
_MAX_REQUEST = 65_536
_MAX_ANSWER = 1_048_576
_CREDENTIALS = "3i"
"""Process, user and group, as the kernel has them in `struct ucred`."""
_INBOUND_DEVICE = "clusterlift0"
"""As in model/interface.py, which this program cannot import."""
_RECEIVED = 0
_SENT = 8
"""Columns of /proc/net/dev, after the name."""
_DISK = 2
_BUSY_MS = 12
"""Columns of /proc/diskstats."""
_DISKS = "/"
"""Separates interfaces from disks in a request. Neither has this name."""

Answer = Dict[str, Any]
"""`started_ns` identifies the process. `loops` and `loop_ns` are their number and CPU time. To the request
READ, also the `samples`, and `busiest_disk`: the name of the disk that was busy for longest while they were
taken, None if none was."""
Sample = List[Optional[int]]
"""The time in ns (CLOCK_MONOTONIC), and what was counted until then: bytes that the links received and
sent, and ms in which the disk was busy that was the busiest at that time. None is unknown."""


def begin(interfaces: Iterable[str], disks: Iterable[str]) -> str:
    """Return the request to forget all samples and to take new ones, of these interfaces and disks."""
    return " ".join([_BEGIN, *interfaces, _DISKS, *disks])


def ask(address: str, request: str, watched: int, program: str) -> Answer | None:
    """Return the answer of the sampler at an address, None if there is none and it cannot be started.

    If there is none, start it with the text of this file as its `program`. It ends soon after the process
    `watched`.
    """
    answer = _ask(address, request)
    if answer is None and _start(address, watched, program):
        return _ask(address, request)
    return answer


def _ask(address: str, request: str) -> Answer | None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT_S)
        try:
            connection.connect(f"\0{address}")
            if _user(connection) != os.geteuid():  # a stranger has taken the name
                return None
            connection.sendall(f"{request}\n".encode())
            with connection.makefile("rb") as answer:
                found = json.loads(answer.read(_MAX_ANSWER))
        except (OSError, ValueError):
            return None
    if isinstance(found, dict):
        return found
    return None


def _user(connection: socket.socket) -> int:
    """Return the user at the other end."""
    peer = connection.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(_CREDENTIALS)
    )
    _, user, _ = struct.unpack(_CREDENTIALS, peer)
    return int(user)


def _start(address: str, watched: int, program: str) -> bool:
    """Start the process, and return whether that worked. Then it listens already."""
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
    """Listen at the address, and go on in a process of its own."""
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
    sums = {"started_ns": time.monotonic_ns(), "loops": 0, "loop_ns": 0}
    samples = Samples()
    is_watched = start_time(watched)
    while is_watched is not None:
        sums["loop_ns"] += _loop_ns()
        sums["loops"] += 1
        samples.take_if_due()
        _answer(listener, sums, samples)
        if sums["loops"] % LOOPS_PER_CHECK == 0 and start_time(watched) != is_watched:
            return


def _loop_ns() -> int:
    number = 0
    start = time.thread_time_ns()
    for step in range(LOOP_STEPS):
        number += step
    return time.thread_time_ns() - start


class Samples:
    """The samples since the last request to begin: at most MAX_SAMPLES, evenly spread."""

    def __init__(self) -> None:
        self.taken: list[Sample] = []
        self.disks = Disks(())
        self._interfaces: Collection[str] = ()
        self._interval_s = SAMPLE_EACH_S
        self._due_s = math.inf

    def begin(self, interfaces: Iterable[str], disks: Iterable[str]) -> None:
        """Forget all samples, and take the first one of these interfaces and disks."""
        self._interfaces = frozenset(interfaces)
        self.disks = Disks(disks)
        self.taken = []
        self._interval_s = SAMPLE_EACH_S
        self._due_s = time.monotonic()
        self.take()

    def take_if_due(self) -> None:
        """Take a sample if the last one is old enough."""
        if time.monotonic() >= self._due_s:
            self.take()

    def take(self) -> None:
        """Take a sample now."""
        received, sent = link_bytes(_read("/proc/self/net/dev"), self._interfaces)
        busy_ms = self.disks.busy_ms(_read("/proc/diskstats"))
        self.taken.append([time.monotonic_ns(), received, sent, busy_ms])
        if len(self.taken) > MAX_SAMPLES:
            del self.taken[1::2]
            self._interval_s *= 2
        self._due_s = max(self._due_s + self._interval_s, time.monotonic())


class Disks:
    """How long disks were busy since they were named. Now one and now another may be the busiest."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._first: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._busiest_ms = 0

    def busy_ms(self, text: str) -> int | None:
        """Return for how long the busiest disk was busy, by the text of /proc/diskstats; None if unknown."""
        busy_ms = {}
        for line in text.splitlines():
            row = line.split(maxsplit=_BUSY_MS + 1)
            if row[_DISK] in self._names:
                busy_ms[row[_DISK]] = int(row[_BUSY_MS])
        if not busy_ms:
            return None
        self._first = self._first or busy_ms
        grown_ms = [now - self._last.get(name, now) for name, now in busy_ms.items()]
        self._busiest_ms += max([0, *grown_ms])
        self._last = busy_ms
        return self._busiest_ms

    def busiest(self) -> str | None:
        """Return the disk that was busy for longest; None if none was, or nothing is known."""
        busiest = None
        most_ms = 0
        for name, now in self._last.items():
            grown_ms = now - self._first.get(name, now)
            if grown_ms > most_ms:
                busiest = name
                most_ms = grown_ms
        return busiest


def _read(path: str) -> str:
    """Return the content of a file of the kernel; nothing if it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  Path.open takes twice as long
            return file.read().decode()
    except OSError:
        return ""


def interface_bytes(lines: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return the bytes that each interface received and sent, by the lines of /proc/net/dev.

    A slower link would not have carried the packets that a limit of ours drops. So if the node has one
    interface, only bytes that passed the limit count as received.
    """
    found = {}
    for line in lines:
        name, colon, counts = line.partition(":")
        if colon:
            columns = counts.split()
            found[name.strip()] = (int(columns[_RECEIVED]), int(columns[_SENT]))
    links = [name for name in found if name not in ("lo", _INBOUND_DEVICE) and any(found[name])]
    if _INBOUND_DEVICE in found and len(links) == 1:
        received, _ = found[_INBOUND_DEVICE]
        _, sent = found[links[0]]
        found[links[0]] = (received, sent)
    return found


def link_bytes(text: str, interfaces: Collection[str]) -> tuple[int | None, int | None]:
    """Return the bytes that interfaces received and sent, by the text of /proc/net/dev; None if unknown."""
    counted = interface_bytes(text.splitlines())
    found = [counted[name] for name in interfaces if name in counted]
    if not found:
        return None, None
    return sum(received for received, _ in found), sum(sent for _, sent in found)


def _answer(listener: socket.socket, sums: Answer, samples: Samples) -> None:
    """Pause until the next loop is due, and answer everyone who asks meanwhile."""
    due_s = time.monotonic() + random.uniform(*INTERVALS_S)  # noqa: S311  no secret
    rest_s = due_s - time.monotonic()
    while rest_s > 0 and select.select([listener], [], [], rest_s)[0]:
        try:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(PATIENCE_S)
                if _user(connection) == os.geteuid():
                    with connection.makefile("rb") as request:
                        words = request.readline(_MAX_REQUEST).decode().split()
                    answer = {**sums, **_samples(words, samples)}
                    connection.sendall(json.dumps(answer).encode())
        except (OSError, ValueError):  # the other side has gone, or says nothing
            pass
        rest_s = due_s - time.monotonic()


def _samples(request: list[str], samples: Samples) -> Answer:
    """Do what a request demands, and return what the answer to it has besides the sums."""
    if request == [READ]:
        samples.take()
        return {"samples": samples.taken, "busiest_disk": samples.disks.busiest()}
    if request[:1] == [_BEGIN]:
        disks_from = request.index(_DISKS)
        samples.begin(request[1:disks_from], request[disks_from + 1 :])
        return {}
    raise ValueError("not a request")


def start_time(process: int) -> str | None:
    """Return when a process started, in the kernel's ticks; None if there is none, or it has ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()
    if state in "ZX":
        return None
    return fields[18]


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
