"""Daemons and clusters: nothing is left behind, and no other process is ever touched."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from harness.minicluster import cluster as clusters
from harness.minicluster import lifecycle
from harness.minicluster.cluster import Cluster, find
from harness.minicluster.daemon import Daemon, Launch, end, starting
from harness.minicluster.lifecycle import down, up
from harness.model.errors import BadInput, ClusterliftError
from tests.daemons import find_all
from tests.unit.fake_file_system import SERVE, WAIT, FakeFileSystem
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of the test's own; whatever still runs in it is stopped after the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path / "clusterlift" / "minicluster"
    for cluster in find_all("fake"):
        down(cluster)


def start_script(tmp_path: Path, script: str, name: str = "d") -> Daemon:
    launch = Launch(name, ["sh", "-c", script, name])
    with starting(launch, tmp_path / f"{name}.log", tmp_path) as daemon:
        pass
    return daemon


def first_log_line(daemon: Daemon) -> str:
    log = Path(daemon.log)
    eventually(lambda: "\n" in log.read_text())
    return log.read_text().splitlines()[0]


def wait_until_dead(daemon: Daemon) -> None:
    eventually(lambda: not daemon.is_alive())


class TestDaemon:
    def test_runs_in_its_own_session_until_it_is_ended(self, tmp_path: Path) -> None:
        daemon = start_script(tmp_path, WAIT)
        assert daemon.is_alive()
        assert os.getsid(daemon.pid) == daemon.pid != os.getsid(0)
        end([daemon])
        assert not daemon.is_alive()

    @pytest.mark.parametrize("seconds_apart", [-60, 60])
    def test_a_process_that_got_its_id_later_is_not_touched(
        self, seconds_apart: float, tmp_path: Path
    ) -> None:
        daemon = start_script(tmp_path, WAIT)
        other = replace(daemon, create_time=daemon.create_time + seconds_apart)
        assert not other.is_alive()
        end([other])
        assert daemon.is_alive()
        end([daemon])

    def test_a_corrected_clock_does_not_change_who_it_is(self, tmp_path: Path) -> None:
        daemon = start_script(tmp_path, WAIT)
        assert replace(daemon, create_time=daemon.create_time + 1).is_alive()
        end([daemon])

    def test_neither_it_nor_its_children_can_refuse_to_end(self, tmp_path: Path) -> None:
        daemon = start_script(tmp_path, "trap '' TERM INT HUP; sleep 600 & echo $!; wait")
        child = Path("/proc") / first_log_line(daemon) / "cmdline"
        end([daemon])
        assert not daemon.is_alive()
        eventually(lambda: not child.exists() or not child.read_bytes())  # gone, or not reaped yet

    def test_has_ended_only_when_its_children_have(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A child that waits for a disk dies after its parent: here, one that SIGKILL does not reach."""
        daemon = start_script(tmp_path, "sleep 1 & echo $!; wait")
        child = Path("/proc") / first_log_line(daemon) / "cmdline"
        monkeypatch.setattr(os, "killpg", os.kill)
        end([daemon])
        assert not child.exists() or not child.read_bytes()  # gone, or not reaped yet

    def test_a_program_that_cannot_be_started_is_named(self, tmp_path: Path) -> None:
        with (
            pytest.raises(ClusterliftError, match=r"^cannot start /no/such: there is no such prog"),
            starting(Launch("d", ["/no/such"]), tmp_path / "log", tmp_path),
        ):
            pass

    def test_it_starts_only_after_it_is_recorded(self, tmp_path: Path) -> None:
        launch = Launch("d", ["sh", "-c", "echo started"])
        with suppress(ZeroDivisionError), starting(launch, tmp_path / "log", tmp_path) as daemon:
            assert daemon.is_alive()
            raise ZeroDivisionError  # as if the record could not be written
        wait_until_dead(daemon)
        assert (tmp_path / "log").read_text() == ""

    def test_it_gets_its_environment_and_directory(self, tmp_path: Path) -> None:
        launch = Launch("d", ["sh", "-c", "echo $X $PWD"], {"X": "1"})
        with starting(launch, tmp_path / "log", tmp_path) as daemon:
            pass
        wait_until_dead(daemon)
        assert daemon.closing_message() == f"1 {tmp_path}"


class TestUp:
    def test_a_cache_that_cannot_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        with pytest.raises(
            BadInput,
            match=r"Not a directory; set XDG_CACHE_HOME to a directory",
        ):
            up(FakeFileSystem(), "a", 1)


class TestAStartThatFails:
    def fail_to_start(self, scripts: dict[str, str]) -> tuple[str, Cluster]:
        """Return the error message and the cluster; it may leave nothing but logs."""
        system = FakeFileSystem(scripts)
        pids = []

        def live(cluster: Cluster) -> int | None:
            pids.extend(daemon.pid for daemon in cluster.daemons)
            return FakeFileSystem.live_servers(system, cluster)

        system.live_servers = live  # type: ignore[method-assign]
        with pytest.raises(ClusterliftError) as error:
            up(system, "a", 2)
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
        assert find_all("fake") == []
        cluster = system.attempts[-1]
        assert not cluster.directory.exists()
        return str(error.value), cluster

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
        cluster = up(system, "a", 1)
        assert len(system.attempts) == 2
        assert cluster.dead() == []

    def test_it_tries_three_times_at_most(self) -> None:
        system = FakeFileSystem({"head": "echo 'Address already in use'; exit 1"})
        with pytest.raises(ClusterliftError, match="head died: Address already in use"):
            up(system, "a", 1)
        assert len(system.attempts) == 3

    def test_a_disk_without_room_for_its_state_is_no_other_cluster(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Path, "write_bytes", Mock(side_effect=OSError(28, "No space left")))
        with pytest.raises(OSError, match="No space left"):
            up(FakeFileSystem(), "a", 1)

    def test_a_missing_program_leaves_nothing(self, cache: Path) -> None:
        class Incomplete(FakeFileSystem):
            def prepare(self, cluster: Cluster) -> None:
                raise BadInput("no Java")

        with pytest.raises(BadInput, match="no Java"):
            up(Incomplete(), "a", 2)
        assert list(cache.iterdir()) == [cache / "logs"]
        assert list((cache / "logs").iterdir()) == []


class TestDown:
    def test_does_not_follow_symbolic_links(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "file").touch()
        cluster = up(FakeFileSystem(), "a", 1)
        (cluster.directory / "home").symlink_to(tmp_path / "elsewhere")
        down(cluster)
        assert (tmp_path / "elsewhere" / "file").exists()

    def test_can_be_tried_again_after_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def denied(path: Path) -> None:
            raise PermissionError(13, "Permission denied", str(path))

        cluster = up(FakeFileSystem(), "a", 1)
        cluster.conf_directory.mkdir()
        with monkeypatch.context() as patch:
            patch.setattr(clusters.shutil, "rmtree", denied)
            with pytest.raises(PermissionError):
                down(cluster)
        down(find("fake", "a"))
        assert not cluster.directory.exists()
