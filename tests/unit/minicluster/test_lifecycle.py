"""Daemons and clusters: nothing is left behind, and no other process is ever touched."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.errors import BadInput, ClusterliftError
from harness.minicluster import lifecycle
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import Daemon, Launch, guarded, start
from harness.minicluster.lifecycle import running
from tests.daemons import find_all, running_daemons
from tests.unit.builders import known
from tests.unit.fake_file_system import SERVE, WAIT, FakeFileSystem
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "clusterlift" / "minicluster"


def is_running(process: str) -> bool:
    """Return whether a process is there, and not only not yet reaped."""
    command = Path("/proc", process, "cmdline")
    return command.exists() and bool(command.read_bytes())


class TestDaemon:
    @pytest.fixture
    def directory(self, tmp_path: Path) -> Path:
        (tmp_path / "d").mkdir()
        return tmp_path / "d"

    @pytest.fixture
    def group(self, directory: Path) -> Iterator[int]:
        with guarded(directory) as group:
            yield group

    def start_script(self, script: str, directory: Path, group: int, **environment: str) -> Daemon:
        launch = Launch("d", ["sh", "-c", script, "d"], environment)
        return start(launch, directory.with_name("log"), directory, group)

    def first_log_line(self, daemon: Daemon) -> str:
        eventually(lambda: "\n" in daemon.log.read_text())
        return daemon.log.read_text().splitlines()[0]

    def test_ctrl_c_in_a_terminal_does_not_reach_it(self, directory: Path, group: int) -> None:
        daemon = self.start_script(WAIT, directory, group)
        assert daemon.is_alive()
        assert os.getpgid(daemon.process.pid) == group != os.getpgid(0)

    def test_neither_it_nor_its_children_can_refuse_to_end(self, directory: Path) -> None:
        with guarded(directory) as group:
            script = "trap '' TERM INT HUP; sleep 600 & echo $!; wait"
            daemon = self.start_script(script, directory, group)
            child = self.first_log_line(daemon)
        daemon.process.wait()
        eventually(lambda: not is_running(child))
        assert not directory.exists()

    def test_what_is_written_until_the_end_is_removed(self, directory: Path) -> None:
        with guarded(directory) as group:
            script = "echo begun; while :; do mkdir -p $PWD/$((n += 1)); done"
            daemon = self.start_script(script, directory, group)
            self.first_log_line(daemon)
        daemon.process.wait()
        assert not directory.exists()

    def test_symbolic_links_are_not_followed(self, directory: Path) -> None:
        directory.with_name("file").touch()
        with guarded(directory):
            (directory / "home").symlink_to(directory.parent)
        assert directory.with_name("file").exists()

    def test_a_program_that_cannot_be_started_is_named(self, directory: Path, group: int) -> None:
        with pytest.raises(ClusterliftError, match=r"^cannot start /no/such: No such file"):
            start(Launch("d", ["/no/such"]), directory / "log", directory, group)

    def test_it_gets_its_environment_and_directory(self, directory: Path, group: int) -> None:
        daemon = self.start_script("echo $X $PWD", directory, group, X="1")
        assert self.first_log_line(daemon) == f"1 {directory}"
        eventually(lambda: not daemon.is_alive())
        assert daemon.closing_message() == f"1 {directory}"


class TestAStartThatFails:
    def fail_to_start(self, scripts: dict[str, str]) -> tuple[str, Cluster]:
        """Return the error message and the cluster; it may leave nothing but logs."""
        system = FakeFileSystem(scripts)
        with pytest.raises(ClusterliftError) as error, running(system, 2):
            pass
        cluster = system.attempts[-1]
        assert cluster.dead() == cluster.daemons
        assert running_daemons(cluster.directory) == {}
        assert find_all("fake") == []
        return str(error.value), cluster

    def test_a_cache_that_cannot_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        message = "Not a directory; set XDG_CACHE_HOME to a directory"
        with pytest.raises(BadInput, match=message), running(FakeFileSystem(), 1):
            pass

    def test_a_daemon_that_dies_is_reported_with_its_error(self) -> None:
        message, cluster = self.fail_to_start(
            {"server-2": "echo FATAL: no space; echo bye; exit 1"}
        )
        log = cluster.logs / "server-2.log"
        assert message == f"FakeFS did not start: server-2 died: FATAL: no space; see {log}"
        assert log.read_text() == "FATAL: no space\nbye\n"

    def test_a_server_that_is_never_ready(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lifecycle, "READY_S", 0.3)
        message, cluster = self.fail_to_start({"server-2": WAIT, "head": f"echo waiting; {SERVE}"})
        assert message == (
            "FakeFS is not ready after 0 s: 1 of 2 servers live; head: waiting; "
            f"see {cluster.logs / 'head.log'}"
        )

    def test_after_another_program_took_a_port_it_tries_again_with_others(self) -> None:
        taken = "[ -e ../again ] || { touch ../again; echo bind: Address already in use; exit 1; }"
        system = FakeFileSystem({"head": f"{taken}; {SERVE}"})
        with running(system, 1) as cluster:
            assert len(system.attempts) == 2
            assert cluster.dead() == []
            assert find_all("fake") == [cluster.directory]

    def test_it_tries_three_times_at_most(self) -> None:
        system = FakeFileSystem({"head": "echo 'Address already in use'; exit 1"})
        message = "head died: Address already in use"
        with pytest.raises(ClusterliftError, match=message), running(system, 1):
            pass
        assert len(system.attempts) == 3

    def test_a_missing_program_leaves_nothing(self, cache: Path) -> None:
        class Incomplete(FakeFileSystem):
            def prepare(self, cluster: Cluster) -> None:
                raise BadInput("no Java")

        with pytest.raises(BadInput, match="no Java"), running(Incomplete(), 2):
            pass
        assert list(cache.iterdir()) == []


def test_the_logs_stay_if_a_daemon_died_and_go_else(cache: Path) -> None:
    with running(FakeFileSystem(), 1) as cluster:
        pass
    assert not cluster.logs.exists()
    with running(FakeFileSystem(), 1) as cluster:
        cluster.daemons[1].process.kill()
        cluster.daemons[1].process.wait()
    assert sorted(log.name for log in cluster.logs.iterdir()) == ["head.log", "server-1.log"]
    assert list(cache.iterdir()) == [cache / "logs"]


OWNER = """
import sys
from pathlib import Path
from harness.minicluster.daemon import Launch, guarded, start
directory = Path(sys.argv[1])
with guarded(directory) as group:
    directory.mkdir()
    if len(sys.argv) > 2:
        start(Launch("d", ["sh", "-c", sys.argv[2]]), directory / "log", directory, group)
    print(group, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("scripts", [[], ["trap '' TERM; while :; do mkdir -p new; done"]])
def test_a_guard_cleans_up_after_a_process_that_was_killed(
    scripts: list[str], tmp_path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, tmp_path / "d", *scripts],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as owner:
        group = known(owner.stdout).readline().decode().strip()
        owner.kill()
    eventually(lambda: not (tmp_path / "d").exists() and not is_running(group))
