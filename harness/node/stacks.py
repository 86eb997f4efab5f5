"""Asks a Java virtual machine for the stacks of its task threads, ten times a second, in a small process.

The virtual machine answers processes of its own user at a Unix socket, as it answers `jstack`. Spark's own
RPC has thread dumps, too, but looks for the owners of locks in the whole heap: with a small heap that took
ten times as long. And every dump would be sent over the network that is measured; here nothing is sent before
the end.

This file is also its program: it is sent to the node as text (`python -c`), and imports the standard library
alone. The process ends at `stop`, and soon after the virtual machine ended.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Dict, NamedTuple

INTERVAL_S = 0.1
PAUSE = 5
"""The pause after a dump is at least this many times as long as the dump took."""
TIMEOUT_S = 10.0
POLL_S = 0.02
MAX_NODES = 200_000
"""A tree of stacks has at most this many nodes. Further stacks are cut to their top frame."""

_READY = "ready"
_STOP = "stop"
_ANSWER = "profile.json"
_REQUEST = b"1\0threaddump\0\0\0\0"
_OK = b"0\n"
_TASK = re.compile(
    r'"Executor task launch worker for task \S+ in stage (\d+)\.\d+ \(TID (\d+)\)".*? nid=(0x[0-9a-f]+|\d+)'
)
_FRAME = re.compile(r"^\tat ([^(\n]+)", re.MULTILINE)
_JAVA_STATE = re.compile(r"java\.lang\.Thread\.State: (\w+)")
_UNNAMED = re.compile(
    r"(?:(?<=\$\$Lambda)\$\d+)?/0x[0-9a-f]+|(?<=\$\$Lambda)\$\d+/\d+|(?<=Accessor)\d+"
)
"""Numbers by the virtual machine, which are others in every process."""
_BASE = "org.apache.spark.executor.Executor$TaskRunner.run"
"""Below this frame, the stacks of all tasks are the same."""
LIBRARIES = ("java.", "jdk.", "sun.", "scala.")
"""How the frames of Java's and Scala's own classes begin."""
_PYTHON = re.compile(r"\.(api|execution)\.python\.")
WORKER_RUNS = "[Python worker: running]"
WORKER_WAITS = "[Python worker: waiting]"
"""Innermost frames of a task that waits for its Python worker."""
KERNEL = "[kernel: "
"""Begins the innermost frame of a task whose native code waits."""

Answer = Dict[str, Any]
"""The counts of a process, in types that JSON has:

- `dumps`: how many dumps counted; `seconds`: from the first to the last.
- `error`: why there are no more, in one line; None if nothing went wrong.
- `frames`: names; `parents`, `frame_of`: the tree of stacks as in `harness/model/profile.py`.
- `tasks`: of each task, its stage, Spark's number of it, and for each node of the tree at which a stack of
  it ended: the node, and how many of these samples were running and waiting.
"""


class Silent(Exception):
    """A virtual machine gives no stacks. The message says why."""


def start(jvm: int | None, program: str) -> Answer:
    """Start to ask a virtual machine, and return what `stop` needs. Wait for its first answer.

    `program` is the text of this file.
    """
    if jvm is None:
        return {"error": "no virtual machine is known"}
    directory = tempfile.mkdtemp(prefix="clusterlift-stacks-")
    command = [sys.executable, "-I", "-S", "-c", program, str(jvm), directory]
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(  # noqa: S603  our own program
            command, stdin=nothing, stdout=nothing, stderr=nothing, cwd="/", start_new_session=True
        )
    except OSError as error:
        shutil.rmtree(directory, ignore_errors=True)
        return {"error": f"no process could be started: {error.strerror}"}
    _wait_for(Path(directory), _READY, _ANSWER)
    return {"process": process.pid, "jvm": jvm, "directory": directory}


def is_here(started: Mapping[str, Any], jvm: int | None) -> bool:
    """Return whether `start` began this on this node, for this virtual machine."""
    return started.get("jvm") == jvm and Path(started.get("directory", "/none")).is_dir()


def stop(started: Mapping[str, Any]) -> Answer:
    """End what `start` began, and return what was counted."""
    if "directory" not in started:
        return dict(started)
    directory = Path(started["directory"])
    try:
        (directory / _STOP).touch()
        _wait_for(directory, _ANSWER)
        answer = json.loads((directory / _ANSWER).read_text())
    except (OSError, ValueError):
        return {"error": "the process that asks for stacks did not answer"}
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return dict(answer)


def _wait_for(directory: Path, *names: str) -> None:
    """Wait until a file of these names is there, but not for ever."""
    deadline = time.monotonic() + 2 * TIMEOUT_S
    while not any((directory / name).exists() for name in names) and time.monotonic() < deadline:
        time.sleep(POLL_S)


def profile(jvm: int, directory: Path) -> None:
    """Ask until there is a file that says to stop, and write what was counted beside it."""
    stacks = Stacks()
    kernel = Kernel(jvm)
    dumped_s: list[float] = []
    error = None
    try:
        address = attached(jvm)
        dump(address, jvm)  # the first one takes longer than all others
        (directory / _READY).touch()
        due_s = time.monotonic()
        while not (directory / _STOP).exists():
            if not directory.exists():
                return
            now_s = time.monotonic()
            if now_s < due_s:
                time.sleep(min(due_s - now_s, POLL_S))
                continue
            text = dump(address, jvm)
            ended_s = time.monotonic()
            stacks.add(text, kernel)
            dumped_s.append(ended_s)
            due_s = max(due_s + INTERVAL_S, ended_s + PAUSE * (ended_s - now_s))
    except (OSError, ValueError, Silent) as reason:
        error = " ".join(str(reason).split())[:200] or type(reason).__name__
    answer = {
        "dumps": len(dumped_s),
        "seconds": dumped_s[-1] - dumped_s[0] if dumped_s else 0.0,
        "error": error,
        **stacks.tree(),
    }
    written = directory / f"{_ANSWER}.new"
    try:
        written.write_text(json.dumps(answer))
        written.rename(directory / _ANSWER)
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)
        return
    _wait_for_reader(jvm, directory)


def _wait_for_reader(jvm: int, directory: Path) -> None:
    """Remove the directory if the virtual machine ends before anyone has read the answer."""
    while directory.exists():
        if not Path(f"/proc/{jvm}").exists():
            shutil.rmtree(directory, ignore_errors=True)
        time.sleep(INTERVAL_S)


def attached(jvm: int, tmp: Path = Path("/tmp")) -> str:  # noqa: S108  where every HotSpot looks
    """Return the address of the socket at which a virtual machine answers, which listens already.

    Raise Silent if the process is none that would answer.
    """
    address = tmp / f".java_pid{jvm}"
    if not address.exists():
        if not _catches_quit(jvm):
            raise Silent("it does not listen to SIGQUIT (-Xrs?)")  # which would end it
        wish = tmp / f".attach_pid{jvm}"
        wish.touch()
        try:
            os.kill(jvm, signal.SIGQUIT)
            deadline = time.monotonic() + TIMEOUT_S
            while not address.exists():
                if time.monotonic() > deadline:
                    raise Silent("it does not open its socket (-XX:+DisableAttachMechanism?)")
                time.sleep(POLL_S)
        finally:
            wish.unlink(missing_ok=True)
    found = address.lstat()
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        raise Silent(f"{address} is another user's")
    return str(address)


def _catches_quit(process: int) -> bool:
    text = Path(f"/proc/{process}/status").read_text(errors="replace")
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", text, re.MULTILINE)
    return bool(caught and int(caught[1], 16) >> (signal.SIGQUIT - 1) & 1)


def dump(address: str, jvm: int) -> str:
    """Return the stacks of all threads. Raise OSError or Silent if there is no answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT_S)
        connection.connect(address)
        size = struct.calcsize("3i")
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        if struct.unpack("3i", peer)[0] != jvm:
            raise Silent(f"another process answers at {address}")
        connection.sendall(_REQUEST)
        with connection.makefile("rb") as answer:
            content = answer.read()
    if not content.startswith(_OK):
        raise Silent(f"it answers {content[:80]!r}")
    return content.decode(errors="replace")


class Kernel:
    """The kernel's view of the threads of a virtual machine and of its Python workers."""

    def __init__(self, jvm: int) -> None:
        self._jvm = jvm
        self._daemons: list[int] = []

    def state(self, thread: int) -> str | None:
        """Return the kernel's letter for what a thread does, such as R or S; None if that is unknown."""
        return _state(f"{self._jvm}/task/{thread}")

    def wait(self, thread: int) -> str:
        """Return the function of the kernel in which a thread waits; nothing if that is unknown."""
        found = _read(f"{self._jvm}/task/{thread}/wchan")
        if found == "0":
            return ""
        return found

    def workers(self) -> Iterator[bool]:
        """Yield for each Python worker whether it runs, or is ready to. Running ones come first."""
        if not any(Path(f"/proc/{daemon}").exists() for daemon in self._daemons):
            self._daemons = _children(self._jvm)
        running = []
        for daemon in self._daemons:
            running += [_state(str(worker)) == "R" for worker in _children(daemon)]
        yield from sorted(running, reverse=True)


def _state(process: str) -> str | None:
    fields = _read(f"{process}/stat").rpartition(")")[2].split()
    if fields:
        return fields[0]
    return None


def _children(process: int) -> list[int]:
    """Return the child processes; none where the kernel does not list them."""
    found: list[int] = []
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        found += [int(child) for child in _read(str(listed)).split()]
    return found


def _read(path: str) -> str:
    """Return the text of a file below /proc; nothing if it is not there, or if we may not read it."""
    try:
        return (Path("/proc") / path).read_text(errors="replace")
    except OSError:
        return ""


class TaskThread(NamedTuple):
    """A thread that runs a task: the kernel's number of it, Java's state, and its frames, outermost first."""

    stage: int
    task: int
    number: int
    java_state: str
    frames: list[str]


def task_threads(text: str) -> Iterator[TaskThread]:
    """Yield the threads in a dump that run a task."""
    for block in text.split("\n\n"):
        found = _TASK.match(block)
        if found is None:
            continue
        frames = [_UNNAMED.sub("", name) for name in reversed(_FRAME.findall(block))]
        # An idle thread of Spark 3.5 has the name of its last task, and no frame of a task.
        below = frames.index(_BASE) + 1 if _BASE in frames else len(frames)
        if frames[below:]:
            state = _JAVA_STATE.search(block)
            stage, task, number = found.groups()
            yield TaskThread(
                int(stage), int(task), int(number, 0), state[1] if state else "", frames[below:]
            )


def _asks_python(frames: Sequence[str]) -> bool:
    """Return whether a task reads from its Python worker."""
    for frame in reversed(frames):
        if not frame.startswith(LIBRARIES):
            return bool(_PYTHON.search(frame))
    return False


def _innermost(thread: TaskThread, kernel: Kernel, workers: Iterator[bool]) -> list[str]:
    """Return the frame that says for what a task waits in the kernel; none if that is unknown."""
    if _asks_python(thread.frames):
        # Which worker a task has is unknown: each running worker counts for one task.
        for runs in workers:
            return [WORKER_RUNS if runs else WORKER_WAITS]
        return []
    function = kernel.wait(thread.number)
    if function:
        return [f"{KERNEL}{function}]"]
    return []


class Stacks:
    """The stacks of all tasks as a tree, and how often each was seen."""

    def __init__(self) -> None:
        self._frames: dict[str, int] = {}
        self._nodes: dict[tuple[int, int], int] = {}
        self._tasks: dict[tuple[int, int], dict[int, list[int]]] = {}

    def add(self, text: str, kernel: Kernel) -> None:
        """Count the stacks of a dump, with what the kernel knows about their threads at this moment."""
        workers = kernel.workers()  # read at the first task that needs one
        for thread in task_threads(text):
            # Java calls a thread runnable that waits in the kernel, as for a native client.
            is_runnable = thread.java_state == "RUNNABLE"
            state = kernel.state(thread.number)
            is_running = is_runnable if state is None else state == "R"
            frames = thread.frames
            if is_runnable and not is_running:
                frames = frames + _innermost(thread, kernel, workers)
            if len(self._nodes) >= MAX_NODES:
                frames = frames[-1:]
            seen = self._tasks.setdefault((thread.stage, thread.task), {})
            seen.setdefault(self._node(frames), [0, 0])[not is_running] += 1

    def _node(self, frames: list[str]) -> int:
        node = 0
        for name in frames:
            frame = self._frames.setdefault(name, len(self._frames))
            node = self._nodes.setdefault((node, frame), len(self._nodes) + 1)
        return node

    def tree(self) -> Answer:
        """Return frames, tree and tasks as in an Answer."""
        tasks = []
        for (stage, task), seen in self._tasks.items():
            samples = [[node, running, waiting] for node, (running, waiting) in seen.items()]
            tasks.append([stage, task, samples])
        return {
            "frames": list(self._frames),
            "parents": [parent for parent, _ in self._nodes],
            "frame_of": [frame for _, frame in self._nodes],
            "tasks": tasks,
        }


if __name__ == "__main__":
    profile(int(sys.argv[1]), Path(sys.argv[2]))
