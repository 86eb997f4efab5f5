"""The commands of `clusterlift local`, tested with a file system of shell scripts."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.commands import local
from harness.commands.cli import main
from harness.minicluster.cluster import root
from tests.daemons import find_all, kill, running_daemons
from tests.tracked import ROOT
from tests.unit.fake_file_system import WAIT, FakeFileSystem
from tests.waiting import PATIENCE_S, eventually

COMMAND = [sys.executable, "-m", "tests.unit.fake_file_system"]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


Fake = Callable[..., Done]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Fake:
    """A function that runs a command of a file system of shell scripts."""
    commands = local.file_system(FakeFileSystem(), servers=2)
    monkeypatch.setitem(local.local.commands, "fake", commands)

    def run(*arguments: str) -> Done:
        code = main(["local", "fake", *arguments])
        return Done(code, *capfd.readouterr())

    return run


def in_background(*arguments: str) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, as a shell does."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=os.setpgrp,
    )


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["run", "--servers", "0", "--", "true"], "Invalid value for '--servers'"),
            (["run"], "Missing argument 'COMMAND...'"),
            (["run", "--", "no-such-program"], "COMMAND: there is no program 'no-such-program'"),
        ],
    )
    def test_are_one_line_and_exit_code_2(
        self, fake: Fake, arguments: list[str], message: str
    ) -> None:
        done = fake(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"clusterlift: error: {message}")
        assert done.stderr.count("\n") == 1


class TestRun:
    def start(self, script: str, *, ready: Path) -> tuple[subprocess.Popen[str], Path]:
        """Start `run` and wait until its command has created the file `ready`."""
        process = in_background("run", "--", "sh", "-c", script, str(ready))
        eventually(ready.exists)
        [cluster] = find_all("fake")
        assert len(running_daemons(cluster)) == 3
        return process, cluster

    def outcome(self, process: subprocess.Popen[str], cluster: Path) -> tuple[int, str]:
        """Return its exit code and what it printed after the start; check that nothing is left."""
        _, error = process.communicate(timeout=PATIENCE_S)
        assert running_daemons(cluster) == {}
        assert find_all("fake") == []
        return process.returncode, error.removeprefix("starting FakeFS with 2 servers\n")

    def test_gives_the_command_its_uri_and_returns_its_exit_code(self, fake: Fake) -> None:
        done = fake("run", "--servers", "1", "sh", "-c", "echo $CLUSTERLIFT_FS $FAKE_CONF; exit 7")
        assert done.returncode == 7
        uri, conf = done.stdout.split()
        assert uri.startswith("fake://127.0.0.1:")
        assert conf.endswith("/conf")
        assert find_all("fake") == []

    def test_options_after_the_command_belong_to_the_command(self, fake: Fake) -> None:
        done = fake("run", "echo", "--servers", "-h")
        assert done.stdout == "--servers -h\n"

    def test_the_exit_code_of_a_killed_command(self, fake: Fake) -> None:
        assert fake("run", "sh", "-c", "kill -9 $$").returncode == 128 + 9

    @pytest.mark.parametrize(
        ("number", "send"),
        [
            (signal.SIGINT, os.killpg),  # as a terminal does at Ctrl-C
            (signal.SIGTERM, os.kill),
            (signal.SIGHUP, os.kill),
        ],
    )
    def test_a_signal_ends_the_command_and_the_cluster(
        self, number: signal.Signals, send: Callable[[int, int], None], tmp_path: Path
    ) -> None:
        process, cluster = self.start("touch $0; exec sleep 600", ready=tmp_path / "ready")
        send(process.pid, number)
        assert self.outcome(process, cluster) == (128 + number, "")

    def test_a_command_that_survives_ctrl_c_keeps_its_cluster(self, tmp_path: Path) -> None:
        script = "trap 'touch $0.caught' INT; touch $0; while [ ! -e $0.go ]; do sleep 0.05; done"
        ready = tmp_path / "ready"
        process, cluster = self.start(f"{script}; exit 3", ready=ready)
        os.killpg(process.pid, signal.SIGINT)
        eventually(Path(f"{ready}.caught").exists)
        assert len(running_daemons(cluster)) == 3
        Path(f"{ready}.go").touch()
        assert self.outcome(process, cluster) == (3, "")

    @pytest.fixture
    def starting(self, monkeypatch: pytest.MonkeyPatch) -> tuple[subprocess.Popen[str], Path]:
        """A `run` whose second server does not get ready."""
        monkeypatch.setenv("FAKE_SCRIPTS", json.dumps({"server-2": WAIT}))
        process = in_background("run", "true")
        eventually(lambda: any(len(running_daemons(cluster)) == 3 for cluster in find_all("fake")))
        return process, find_all("fake")[0]

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_a_signal_during_the_start_undoes_it(
        self, number: signal.Signals, starting: tuple[subprocess.Popen[str], Path]
    ) -> None:
        process, cluster = starting
        process.send_signal(number)
        code, error = self.outcome(process, cluster)
        assert (code, error.split()) == (130, ["clusterlift:", "error:", "interrupted"])

    def test_repeated_ctrl_c_does_not_interrupt_the_removal(
        self, starting: tuple[subprocess.Popen[str], Path]
    ) -> None:
        process, cluster = starting
        for _ in range(20):
            process.send_signal(signal.SIGINT)
            time.sleep(0.005)
        code, error = self.outcome(process, cluster)
        assert code in {130, -signal.SIGINT}  # the last signal may arrive after everything is done
        assert error.split()[:3] == ["clusterlift:", "error:", "interrupted"], error

    def test_kill_9_ends_the_command_and_the_cluster_too(self, tmp_path: Path) -> None:
        script = "echo $$ > $0.pid; touch $0; exec sleep 600"
        process, cluster = self.start(script, ready=tmp_path / "ready")
        command = Path("/proc", (tmp_path / "ready.pid").read_text().strip(), "cmdline")
        process.kill()
        process.wait(timeout=PATIENCE_S)
        eventually(
            lambda: not (command.exists() and command.read_bytes()), "the command still runs"
        )
        eventually(lambda: not cluster.exists(), "the cluster's data is left")
        eventually(lambda: not running_daemons(cluster), "daemons still run")

    def test_kill_9_during_the_start_does_so_too(
        self, starting: tuple[subprocess.Popen[str], Path]
    ) -> None:
        process, cluster = starting
        process.kill()
        eventually(lambda: not cluster.exists(), "the cluster's data is left")
        eventually(lambda: not running_daemons(cluster), "daemons still run")

    def test_a_daemon_that_dies_in_the_meantime_is_reported(self, tmp_path: Path) -> None:
        ready = tmp_path / "ready"
        wait = "touch $0; while [ ! -e $0.go ]; do sleep 0.05; done"
        process, cluster = self.start(wait, ready=ready)
        kill(cluster, "server-2")
        Path(f"{ready}.go").touch()
        log = root() / "logs" / cluster.name / "server-2.log"
        message = f"server-2 died in the meantime: no message; see {log}\n"
        assert self.outcome(process, cluster) == (0, message)
        assert log.exists()
