"""Hosts that a test answers for, in virtual time: the harness's own code talks to them, and no process runs.

`subprocess`, `threading` and `time` of the rooms that reach hosts are replaced. What a host prints comes at
a moment of the world's clock, which goes on when somebody waits or sleeps. So a host that never answers costs
a test nothing, and what the user would have waited can be read from the clock.
"""

import heapq
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from types import MethodType, SimpleNamespace
from typing import Any

import pytest

from harness.hosts import host_process, lease
from harness.hosts.host_process import BEGUN, HostProcess
from harness.hosts.remote_process import READY
from harness.probes import soak
from harness.settings.guard import _ARMED
from tests.simulated_hosts import NoThread

LOGIN_S = 0.1
PIECE_BYTES = 2**16
NAME = 3
"""Where an argument vector of `ip netns exec NAME` has the host's name."""


@dataclass(frozen=True)
class Answer:
    """What a command prints: `output` and `errors` `after_s`, then its end with `code`.

    - `later`: more output, and how many seconds after the start it comes.
    - `stays`: it does not end by itself, as a server.
    - `is_deaf`: it does not end either when our end of the connection is closed, as on a host that has died.
    - `logs_in`: whether the host answers at all; `banner` is what it prints before.
    """

    output: bytes = b""
    errors: bytes = b""
    code: int = 0
    after_s: float = 0.1
    later: tuple[tuple[float, bytes], ...] = ()
    stays: bool = False
    is_deaf: bool = False
    logs_in: bool = True
    banner: bytes = b""


@dataclass(frozen=True)
class Asked:
    """A command that runs on a host, as its words or the text of a script; `number` counts the same ones."""

    host: str
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """All words in one line."""
        return " ".join(self.words)


Answers = Callable[[Asked], Answer]
GuardAnswers = Callable[[str, str], Answer]
"""Takes the host and a line that its guard gets, `arm` at its start."""


@dataclass
class World:
    """The clock, and what is going to happen."""

    answer: Answers
    answer_of_guard: GuardAnswers
    now_s: float = 1000.0
    started: int = 0
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _number: int = 0

    def monotonic(self) -> float:
        """Return the time on the world's clock."""
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """Let everything happen until then."""
        self.wait_for(lambda: False, seconds)

    def wait_for(self, condition: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Let things happen until the condition is met, or until the time is over."""
        until_s = float("inf") if timeout_s is None else self.now_s + max(0.0, timeout_s)
        while not condition() and self._events and self._events[0][0] <= until_s:
            moment_s, _, happen = heapq.heappop(self._events)
            self.now_s = max(self.now_s, moment_s)
            happen()
        if not condition():
            assert timeout_s is not None, "somebody would wait for ever"
            self.now_s = until_s
        return condition()

    def at(self, after_s: float, happen: Callable[[], None]) -> None:
        """Let something happen after these seconds."""
        self._number += 1
        heapq.heappush(self._events, (self.now_s + after_s, self._number, happen))


@lru_cache(maxsize=2**10)
def words_of(text: str) -> tuple[str, ...]:
    """Return the words that a shell makes of a text. They are the same again and again, and take long."""
    return tuple(shlex.split(text))


def unescaped(line: str) -> str:
    """Return the script that a line has, as `printf %b` prints it."""
    return line.replace("\\n", "\n").replace("\\\\", "\\")


class Process:
    """In place of Popen: a command on a host of the world."""

    def __init__(self, world: World, argv: Sequence[str], **_: object) -> None:
        self._world = world
        self.host = argv[NAME]
        self.stdin = self
        self.stdout = self.stderr = None
        self.reader: HostProcess | None = None
        self.code: int | None = None
        self._answer = Answer()
        self._is_closed = self._has_script = self._is_guard = False
        self._words: tuple[str, ...] = ()
        world.started += 1

    def attach(self, reader: HostProcess) -> None:
        """Start to answer the reader of the output."""
        self.reader = reader
        self._world.at(LOGIN_S, self._log_in)

    def _log_in(self) -> None:
        if self.code is not None or self.reader is None:
            return
        script = unescaped(self.reader._waiting[0])
        begun = f"\n{BEGUN}\n".encode()
        if _ARMED in script:
            self._is_guard = True
            self._print(begun)
            self._run(self._world.answer_of_guard(self.host, "arm"))
            return
        self._words = words_of(script.partition("\nset -- ")[2].partition("\nlease=")[0])
        # A script is known when it comes.
        self._answer = (
            self._world.answer(Asked(self.host, self._words)) if self._words else Answer()
        )
        if not self._answer.logs_in:
            self._run(replace(self._answer, logs_in=True))
            return
        self._print(self._answer.banner + begun + READY.encode() + b"\n")

    def write(self, line: bytes) -> int:
        """Take a line by standard input: it starts the command, or tells a guard what to do."""
        if self._is_closed or self.code is not None:
            raise BrokenPipeError
        if self._has_script:
            self._hear(bytes(line).decode().removesuffix("\n"))
        self._has_script = True
        return len(line)

    def _hear(self, text: str) -> None:
        if self._is_guard:
            self._run(self._world.answer_of_guard(self.host, text))
            return
        if not self._words:
            self._answer = self._world.answer(Asked(self.host, (unescaped(text),)))
        self._run(self._answer)

    def _run(self, answer: Answer) -> None:
        self._answer = answer
        after_s = answer.after_s
        self._world.at(after_s, lambda: self._print(answer.output, answer.errors))
        for moment_s, text in answer.later:
            self._world.at(moment_s, partial(self._print, text))
            after_s = max(after_s, moment_s)
        if not answer.stays:
            self._world.at(after_s, lambda: self._end(answer.code))

    def _print(self, output: bytes, errors: bytes = b"") -> None:
        reader = self.reader
        assert reader is not None
        for text, take in ((output, reader._take_output), (errors, reader._error_bytes.extend)):
            for start in range(0, len(text), PIECE_BYTES):
                if self.code is None:
                    reader._take(text[start : start + PIECE_BYTES], take)
                    if reader._left_bytes < 0:
                        self.kill()

    def _end(self, code: int) -> None:
        if self.code is None and self.reader is not None:
            self.code = code
            self.reader._take_output(b"")
            self.reader._end()

    def close(self) -> None:
        """Close the standard input, with which every command ends unless its host has died."""
        if not self._is_closed and not self._answer.is_deaf:
            self._world.at(LOGIN_S, lambda: self._end(143))
        self._is_closed = True

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self.code

    def wait(self, timeout_s: float | None = None) -> int:
        """Wait for the end. Raise TimeoutExpired."""
        if not self._world.wait_for(lambda: self.code is not None, timeout_s):
            raise subprocess.TimeoutExpired("", timeout_s or 0.0)
        assert self.code is not None
        return self.code

    def kill(self) -> None:
        """End our side of it."""
        self._end(-9)


class _Condition:
    def __init__(self, world: World) -> None:
        self.wait_for = world.wait_for

    def notify_all(self) -> None:
        pass

    def __enter__(self) -> "_Condition":
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _Reader:
    """In place of the thread that reads what a process prints."""

    def __init__(self, target: MethodType, **_: object) -> None:
        self._reader: Any = target.__self__

    def start(self) -> None:
        self._reader._process.attach(self._reader)

    def join(self, timeout_s: float = 0) -> None:
        pass


@contextmanager
def world_of(answer: Answers, answer_of_guard: GuardAnswers) -> Iterator[World]:
    """Replace this machine's processes, threads and clock by a world's."""
    world = World(answer, answer_of_guard)
    threads = {
        "Lock": threading.Lock,
        "Event": threading.Event,
        "Condition": lambda: _Condition(world),
        "Thread": _Reader,
    }
    clock = SimpleNamespace(
        monotonic=world.monotonic, sleep=world.sleep, time=time.time, perf_counter=world.monotonic
    )
    processes = SimpleNamespace(
        Popen=partial(Process, world),
        PIPE=subprocess.PIPE,
        TimeoutExpired=subprocess.TimeoutExpired,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_process, "subprocess", processes)
        patch.setattr(host_process, "threading", SimpleNamespace(**threads))
        patch.setattr(lease, "threading", SimpleNamespace(Event=threading.Event, Thread=NoThread))
        patch.setattr(soak, "Soak", partial(soak.Soak, clock=world.monotonic))
        for name, module in list(sys.modules.items()):
            if name.startswith("harness.") and getattr(module, "time", None) is time:
                patch.setattr(module, "time", clock)
        yield world
