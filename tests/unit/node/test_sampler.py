"""The sampler: a process that sums up loops, answers its user alone, and ends with what it watches."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.node import sampler
from harness.node.sampler import start_time, sums
from tests.waiting import eventually

PROGRAM = Path(sampler.__file__).read_text()


@pytest.fixture
def address() -> str:
    return f"clusterlift test {uuid.uuid4()}"


@pytest.fixture
def watched() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits until its input ends."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def process_of(address: str) -> Path:
    """The directory in /proc of the process that samples for an address."""
    [found] = [
        file.parent
        for file in Path("/proc").glob("[0-9]*/cmdline")
        if address.encode() in file.read_bytes().split(b"\0")
    ]
    return found


def is_running(address: str) -> bool:
    return sampler._ask(address) is not None


def test_sums_grow(address: str, watched: subprocess.Popen[bytes]) -> None:
    first = sums(address, watched.pid, PROGRAM)
    assert first is not None

    def grown() -> bool:
        now = sums(address, watched.pid, PROGRAM)
        assert now is not None
        assert now["started_ns"] == first["started_ns"]
        return now["loops"] > first["loops"] and now["loop_ns"] > first["loop_ns"]

    eventually(grown)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_when_the_watched_process_was_killed(
    address: str, watched: subprocess.Popen[bytes], end: signal.Signals
) -> None:
    """Even if nobody waits for that process, so that it remains as a zombie."""
    assert sums(address, watched.pid, PROGRAM)
    os.kill(watched.pid, end)
    eventually(lambda: not is_running(address))
    assert start_time(watched.pid) is None


def test_it_outlives_whoever_started_it(address: str, watched: subprocess.Popen[bytes]) -> None:
    """Such as a Python worker, which Spark ends with its whole process group."""
    starting = (
        "import os, signal, sys; sys.path[0] = sys.argv[1]; from harness.node import sampler;"
        "print(sampler.sums(sys.argv[2], int(sys.argv[3]), sys.stdin.read()) is not None, flush=True);"
        "os.killpg(0, signal.SIGKILL)"
    )
    root = str(Path(sampler.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", starting, root, address, str(watched.pid)],
        input=PROGRAM, text=True, stdout=subprocess.PIPE, start_new_session=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("True\n", -signal.SIGKILL)
    assert is_running(address)


def test_several_that_start_at_the_same_time_are_one(
    address: str, watched: subprocess.Popen[bytes]
) -> None:
    command = [sys.executable, "-c", PROGRAM, address, str(watched.pid)]
    starts = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in starts] == [0] * 4
    answers = {sums(address, watched.pid, PROGRAM)["started_ns"] for _ in range(4)}  # type: ignore[index]
    assert len(answers) == 1


def test_it_keeps_no_file_and_no_directory(address: str, watched: subprocess.Popen[bytes]) -> None:
    """Nothing waits for the end of its output, and the cluster can delete the directory it started in."""
    sums(address, watched.pid, PROGRAM)
    process = process_of(address)
    assert (process / "cwd").readlink() == Path("/")
    opened = {str(file.readlink()).partition(":")[0] for file in (process / "fd").iterdir()}
    assert opened == {"/dev/null", "socket"}


def test_a_watched_process_that_is_gone_gives_no_sums(address: str) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    sums(address, gone.pid, PROGRAM)
    eventually(lambda: not is_running(address))


def test_a_program_that_fails_gives_no_sums(address: str) -> None:
    assert sums(address, os.getpid(), "raise SystemExit(1)") is None


@pytest.mark.parametrize("answer", [b"", b"{", b"\xff", b"7" * 50, b"[1]"])
def test_an_answer_that_is_none_gives_no_sums(address: str, answer: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(f"\0{address}")
        stranger.listen()
        # The connection waits in the queue until accept(), so one thread is enough.
        asking = subprocess.Popen(
            [sys.executable, "-c", ASK, str(Path(sampler.__file__).parents[2]), address],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        connection, _ = stranger.accept()
        with connection:
            connection.sendall(answer)
        assert asking.communicate()[0] == "None\n"


ASK = (
    "import sys; sys.path[0] = sys.argv[1]; from harness.node import sampler;"
    "print(sampler._ask(sys.argv[2]))"
)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")
def test_a_stranger_who_took_the_name_is_not_believed(address: str) -> None:
    squatting = (
        "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX);"
        "s.bind('\\0' + sys.argv[1]); s.listen(); print(flush=True);"
        'c, _ = s.accept(); c.sendall(b\'{"started_ns": 1, "loops": 1, "loop_ns": 1}\'); c.close();'
        "input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", squatting, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as stranger:
        assert stranger.stdout is not None
        stranger.stdout.readline()
        assert sampler._ask(address) is None
        stranger.kill()


def test_a_stranger_who_asks_and_does_not_read_does_not_stop_it(
    address: str, watched: subprocess.Popen[bytes]
) -> None:
    first = sums(address, watched.pid, PROGRAM)
    assert first is not None
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(f"\0{address}")

        def grown() -> bool:
            now = sums(address, watched.pid, PROGRAM)
            return now is not None and now["loops"] > first["loops"] + 2

        eventually(grown)
