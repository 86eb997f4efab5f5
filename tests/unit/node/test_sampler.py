"""The sampler: it sums up loops, takes samples, answers its user alone, and ends with what it watches."""

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from harness.node import sampler
from harness.node.sampler import (
    MAX_SAMPLES,
    READ,
    Answer,
    Disks,
    Samples,
    begin,
    link_bytes,
    start_time,
)
from tests.unit.builders import known
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
    return sampler._ask(address, READ) is not None


def ask(address: str, watched: subprocess.Popen[bytes], request: str = READ) -> Answer:
    return known(sampler.ask(address, request, watched.pid, PROGRAM))


def test_sums_grow(address: str, watched: subprocess.Popen[bytes]) -> None:
    first = ask(address, watched)

    def grown() -> bool:
        now = ask(address, watched)
        assert now["started_ns"] == first["started_ns"]
        return all(now[name] > first[name] for name in ("loops", "loop_ns"))

    eventually(grown)


def test_it_ends_when_the_watched_process_was_killed(
    address: str, watched: subprocess.Popen[bytes]
) -> None:
    """Even if that process remains as a zombie because its parent does not wait for it."""
    ask(address, watched)
    os.kill(watched.pid, signal.SIGKILL)
    eventually(lambda: not is_running(address))
    assert start_time(watched.pid) is None


def test_it_outlives_whoever_started_it(address: str, watched: subprocess.Popen[bytes]) -> None:
    """Such as a Python worker, which Spark ends with its whole process group."""
    starting = (
        "import os, signal, sys; sys.path[0] = sys.argv[1]; from harness.node import sampler;"
        "print(sampler.ask(sys.argv[2], 'read', int(sys.argv[3]), sys.stdin.read()) is not None, flush=True);"
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
    answers = {ask(address, watched)["started_ns"] for _ in range(4)}
    assert len(answers) == 1


@pytest.mark.parametrize("answer", [b"{", b"[1]"])
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
    "print(sampler._ask(sys.argv[2], 'read'))"
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
        known(stranger.stdout).readline()
        assert sampler._ask(address, READ) is None
        stranger.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")
def test_a_stranger_who_asks_gets_nothing_and_changes_nothing(
    address: str, watched: subprocess.Popen[bytes]
) -> None:
    ask(address, watched, begin([], []))
    first = ask(address, watched)["samples"][0]
    asking = (
        "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX);"
        "s.connect('\\0' + sys.argv[1]);\n"
        "try:\n s.sendall(b'begin\\n'); print(s.recv(9))\n"
        "except OSError:\n print(b'')"
    )
    done = subprocess.run(
        [sys.executable, "-c", asking, address], capture_output=True, text=True, check=True
    )
    assert done.stdout == "b''\n"
    assert ask(address, watched)["samples"][0] == first


@pytest.mark.parametrize("request_", ["", "x" * 100_000])
def test_what_is_no_request_gets_no_answer_and_does_not_stop_it(
    address: str, watched: subprocess.Popen[bytes], request_: str
) -> None:
    first = ask(address, watched)
    assert sampler._ask(address, request_) is None
    assert ask(address, watched)["started_ns"] == first["started_ns"]


class TestSamples:
    def test_are_taken_again_and_again_and_read_as_often_as_one_likes(
        self, address: str, watched: subprocess.Popen[bytes]
    ) -> None:
        """So that all executors of a node have the same answer."""
        assert "samples" not in ask(address, watched, begin(["lo"], []))
        eventually(lambda: len(ask(address, watched)["samples"]) > 3)
        once, again = (ask(address, watched)["samples"] for _ in range(2))
        assert again[: len(once)] == once
        for column in zip(*again, strict=True):
            counted = [count for count in column if count is not None]
            assert counted == sorted(counted)

    def test_are_of_the_interfaces_that_were_named(
        self, address: str, watched: subprocess.Popen[bytes]
    ) -> None:
        ask(address, watched, begin(["lo"], []))
        _, received, sent, disk_ms = ask(address, watched)["samples"][-1]
        assert received == sent is not None
        assert disk_ms is None
        ask(address, watched, begin(["no-such-interface"], []))
        assert ask(address, watched)["samples"][-1][1:3] == [None, None]

    def test_of_a_long_time_are_few_and_evenly_spread(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An hour of them, on a clock of the test's own."""
        now_s = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: now_s)
        monkeypatch.setattr(time, "monotonic_ns", lambda: round(now_s * 1e9))
        monkeypatch.setattr(sampler, "_read", lambda _: "")
        samples = Samples()
        samples.begin([], [])
        for step in range(round(3600 / 0.05)):
            now_s = step * 0.05
            samples.take_if_due()
        times_s = [sample[0] / 1e9 for sample in samples.taken if sample[0] is not None]
        assert MAX_SAMPLES / 2 <= len(times_s) <= MAX_SAMPLES
        assert (times_s[0], now_s - times_s[-1] < 8) == (0, True)
        gaps_s = {round(b - a, 3) for a, b in pairwise(times_s)}
        assert max(gaps_s) <= 2 * min(gaps_s)


class TestKernelFiles:
    NET = (
        "Inter-|   Receive  |  Transmit\n face |bytes    packets|bytes\n"
        "    lo: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n  eth0:100 7 0 0 0 0 0 0 10 9 0 0 0 0 0 0\n"
        "  eth1: 200 7 0 0 0 0 0 0 20 9 0 0 0 0 0 0\n eth10: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n"
    )

    def test_links_are_summed(self) -> None:
        assert link_bytes(self.NET, {"eth0", "eth1"}) == (300, 30)

    @pytest.mark.parametrize("text", ["", NET])
    def test_unknown_links_are_unknown_and_not_0(self, text: str) -> None:
        assert link_bytes(text, {"eth7"}) == (None, None)

    DISKS = (
        "   7       0 loop0 9 0 9 9 9 0 9 9 0 9 9\n"
        " 254       0 vda 56237 8806 1000 11053 41514 54688 500 37243 0 {vda} 50123 9407 46 3664896 1529\n"
        " 254       1 vda1 1 0 7 1 1 0 7 1 0 {vda} 1\n"
        "   8       0 sda 1 0 20 1 1 0 10 1 0 {sda} 1\n"
    )

    def busy_ms(self, disks: Disks, vda_ms: int, sda_ms: int) -> int | None:
        return disks.busy_ms(self.DISKS.format(vda=vda_ms, sda=sda_ms))

    def test_the_time_is_that_of_whichever_disk_is_the_busiest(self) -> None:
        disks = Disks(["vda", "sda"])
        times_ms = [(1000, 5000), (1150, 5020), (1150, 5120), (1160, 5120)]
        busy_ms = [self.busy_ms(disks, *each) for each in times_ms]
        assert busy_ms == [0, 150, 250, 260]
        assert disks.busiest() == "vda"

    def test_a_disk_whose_counter_starts_again_was_not_busy_for_less_than_nothing(self) -> None:
        disks = Disks(["sda"])
        assert [self.busy_ms(disks, 0, ms) for ms in (2**32 - 90, 10, 30)] == [0, 0, 20]

    def test_disks_that_do_nothing_have_no_busiest(self) -> None:
        disks = Disks(["vda", "sda"])
        assert [self.busy_ms(disks, 8, 9) for _ in range(2)] == [0, 0]
        assert disks.busiest() is None

    @pytest.mark.parametrize("text", ["", "   8       1 sda1 1 0 20 1 1 0 10 1 0 9 1\n"])
    def test_unknown_disks_are_unknown_and_not_0(self, text: str) -> None:
        assert Disks(["sda"]).busy_ms(text) is None
