"""Daemons and their clusters: nothing is left behind, and nothing else is ever touched."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.minicluster import lifecycle, state
from harness.minicluster.cluster import Cluster
from harness.minicluster.daemon import Daemon, Launch, complaint, end, start
from harness.minicluster.lifecycle import check_free, down, free_ports, running, up
from harness.minicluster.state import find, find_all
from harness.model.errors import BadInput, ClusterliftError
from harness.runtime.interrupt import deferred_signals
from tests.unit.fake_file_system import SERVE, WAIT, Fake


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own, in which nothing runs any more when the test is over."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path / "clusterlift" / "loopback"
    for cluster in find_all("fake"):
        down(cluster)


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is none of ours."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def started(tmp_path: Path, script: str, name: str = "d") -> Daemon:
    return start(Launch(name, ["sh", "-c", script, name]), tmp_path / f"{name}.log", tmp_path)


def first_line(file: Path) -> str:
    eventually(lambda: "\n" in file.read_text())
    return file.read_text().splitlines()[0]


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def until_dead(daemon: Daemon) -> None:
    eventually(lambda: not daemon.is_alive())


class TestDaemon:
    def test_runs_in_a_session_of_its_own_until_it_is_ended(self, tmp_path: Path) -> None:
        daemon = started(tmp_path, WAIT)
        assert daemon.is_alive()
        assert os.getsid(daemon.pid) == daemon.pid != os.getsid(0)
        end([daemon])
        assert not daemon.is_alive()
        assert not Path(f"/proc/{daemon.pid}").exists()

    def test_whoever_got_its_id_is_not_touched(self, tmp_path: Path) -> None:
        daemon = started(tmp_path, WAIT)
        gone = replace(daemon, start_ticks=daemon.start_ticks - 1)
        assert not gone.is_alive()
        end([gone])
        assert daemon.is_alive()
        end([daemon])

    def test_one_that_ended_by_itself_is_not_alive(self, tmp_path: Path) -> None:
        daemon = started(tmp_path, "echo bye; exit 3")
        until_dead(daemon)
        assert daemon.complaint() == "bye"

    def test_neither_it_nor_its_children_can_refuse(self, tmp_path: Path) -> None:
        daemon = started(tmp_path, "trap '' TERM INT HUP; sleep 600 & echo $!; wait")
        child = Path("/proc") / first_line(Path(daemon.log)) / "cmdline"
        end([daemon])
        assert not daemon.is_alive()
        eventually(lambda: not child.exists() or not child.read_bytes())  # gone, or unreaped

    def test_a_name_that_looks_like_the_rest_of_its_line_in_proc(self, tmp_path: Path) -> None:
        odd = tmp_path / "x) R 1 (y"
        odd.symlink_to("/bin/sleep")
        daemon = start(Launch("odd", [str(odd), "600"]), tmp_path / "log", tmp_path)
        assert daemon.is_alive()
        end([daemon])

    def test_what_cannot_be_started_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ClusterliftError, match=r"^cannot start /no/such: No such file"):
            start(Launch("d", ["/no/such"]), tmp_path / "log", tmp_path)

    def test_its_environment_and_directory(self, tmp_path: Path) -> None:
        launch = Launch("d", ["sh", "-c", "echo $X $PWD"], {"X": "1"})
        daemon = start(launch, tmp_path / "log", tmp_path)
        until_dead(daemon)
        assert daemon.complaint() == f"1 {tmp_path}"

    @pytest.mark.parametrize(
        ("log", "line"),
        [
            ("", "it said nothing"),
            ("one\ntwo\n\n", "two"),
            ("a INFO x\nb FATAL - no space\nc INFO ending\n", "b FATAL - no space"),
            ("java.net.BindException: in use\n\tat A.b(C.java:1)\n\t... 12 more\n/****/\n", None),
            ("\xff ERROR: \x00\n", "\xff ERROR: \x00"),
        ],
    )
    def test_the_line_that_says_why(self, log: str, line: str | None, tmp_path: Path) -> None:
        (tmp_path / "log").write_text(log)
        assert complaint(tmp_path / "log") == (line or "java.net.BindException: in use")


class TestPorts:
    def test_are_different_and_free(self) -> None:
        ports = free_ports(20)
        assert len(set(ports)) == 20
        for port in ports:
            check_free(port)

    def test_one_that_is_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with pytest.raises(BadInput, match=f"^--port {port} is taken on 127.0.0.1; "):
                check_free(port)


class TestDeferral:
    def test_a_signal_waits(self) -> None:
        done = []

        def work() -> None:
            with deferred_signals():
                signal.raise_signal(signal.SIGINT)
                done.append("all of it")

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                work()
            assert done == ["all of it"]
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        finally:
            signal.signal(signal.SIGINT, before)

    def test_what_is_ignored_stays_so(self) -> None:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with deferred_signals():
                signal.raise_signal(signal.SIGHUP)
        finally:
            signal.signal(signal.SIGHUP, before)


class TestUp:
    def test_is_found_by_its_name(self, cache: Path) -> None:
        cluster = up(Fake(), "a", 2)
        assert find("fake", "a") == cluster
        assert cluster.uri == f"fake://127.0.0.1:{cluster.ports[0]}"
        assert cluster.directory == cache / "fake-a"
        assert [daemon.name for daemon in cluster.daemons] == ["head", "server-1", "server-2"]
        assert cluster.dead() == []

    def test_two_side_by_side(self) -> None:
        a, b = up(Fake(), "a", 1), up(Fake(), "b", 1)
        assert find_all("fake") == [a, b]
        down(a)
        assert find_all("fake") == [b]
        assert b.dead() == []

    def test_a_name_that_is_up(self) -> None:
        cluster = up(Fake(), "a", 1)
        with pytest.raises(
            BadInput, match=r"'a' is up already; .*: clusterlift fake down --name a"
        ):
            up(Fake(), "a", 1)
        assert cluster.dead() == []
        assert find("fake", "a") == cluster

    @pytest.mark.parametrize("name", ["", ".", "../x", "a b", "-a", "x" * 65, "a\n"])
    def test_a_name_that_cannot_be_one(self, name: str, cache: Path) -> None:
        with pytest.raises(BadInput, match=r"^--name "):
            up(Fake(), name, 1)
        assert not cache.exists()

    def test_a_port_that_is_asked_for(self) -> None:
        [port] = free_ports(1)
        assert up(Fake(), "a", 1, port).uri == f"fake://127.0.0.1:{port}"

    def test_a_port_that_is_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            with pytest.raises(BadInput, match=f"--port {port} is taken"):
                up(Fake(), "a", 1, port)
        assert find_all("fake") == []

    def test_a_cache_that_cannot_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        with pytest.raises(BadInput, match=r"Not a directory; set XDG_CACHE_HOME$"):
            up(Fake(), "a", 1)


class TestAStartThatFails:
    def failing(self, scripts: dict[str, str]) -> tuple[str, Cluster]:
        """What is said, and the cluster that was to be; nothing of which is left but logs."""
        system = Fake(scripts)
        pids = []

        def live(cluster: Cluster) -> int | None:
            pids.extend(daemon.pid for daemon in cluster.daemons)
            return Fake.live_servers(system, cluster)

        system.live_servers = live  # type: ignore[method-assign]
        with pytest.raises(ClusterliftError) as told:
            up(system, "a", 2)
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
        assert find_all("fake") == []
        cluster = system.attempts[-1]
        assert not cluster.directory.exists()
        return str(told.value), cluster

    def test_a_daemon_that_dies_is_told_with_its_last_words(self) -> None:
        said, cluster = self.failing({"server-2": "echo FATAL: no space; echo bye; exit 1"})
        log = cluster.logs / "server-2.log"
        assert said == (
            f"FakeFS did not start: server-2 died and said: FATAL: no space; its log is {log}"
        )
        assert log.read_text() == "FATAL: no space\nbye\n"

    def test_one_that_is_never_ready(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lifecycle, "READY_S", 0.3)
        said, cluster = self.failing({"server-2": WAIT, "head": f"echo waiting; {SERVE}"})
        assert said == (
            "FakeFS is not ready after 0 s: 1 of 2 servers live; head says: waiting; "
            f"its log is {cluster.logs / 'head.log'}"
        )

    def test_a_port_that_was_lost_is_chosen_anew(self) -> None:
        taken = (
            "[ -e ../again ] || { touch ../again; echo 'bind: Address already in use'; exit 1; }"
        )
        system = Fake({"head": f"{taken}; {SERVE}"})
        cluster = up(system, "a", 1)
        assert len(system.attempts) == 2
        assert cluster.dead() == []

    def test_but_not_for_ever(self) -> None:
        system = Fake({"head": "echo 'Address already in use'; exit 1"})
        with pytest.raises(ClusterliftError, match="head died and said: Address already in use"):
            up(system, "a", 1)
        assert len(system.attempts) == 3

    def test_an_interrupted_start(self) -> None:
        class Interrupted(Fake):
            seen: Cluster

            def live_servers(self, cluster: Cluster) -> int | None:
                Interrupted.seen = cluster
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            up(Interrupted(), "a", 2)
        assert len(Interrupted.seen.dead()) == 3
        assert not Interrupted.seen.directory.exists()

    def test_a_full_disk_is_one_line(self) -> None:
        class Full(Fake):
            def prepare(self, cluster: Cluster) -> None:
                raise OSError(28, "No space left on device", "/x")

        with pytest.raises(ClusterliftError, match=r"FakeFS cannot be started: No space .*: /x$"):
            up(Full(), "a", 1)
        assert find_all("fake") == []

    def test_what_is_missing_leaves_nothing(self, cache: Path) -> None:
        class Incomplete(Fake):
            def prepare(self, cluster: Cluster) -> None:
                raise BadInput("no Java")

        with pytest.raises(BadInput, match="no Java"):
            up(Incomplete(), "a", 2)
        assert list(cache.iterdir()) == [cache / "logs"]
        assert list((cache / "logs").iterdir()) == []


class TestDown:
    def test_leaves_nothing(self, cache: Path) -> None:
        cluster = up(Fake(), "a", 2)
        down(cluster)
        assert len(cluster.dead()) == 3
        assert list(cache.rglob("*a*")) == []
        with pytest.raises(BadInput, match=r"^--name: no fake is called 'a' \(there: none\)$"):
            find("fake", "a")

    def test_follows_no_link_out(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "file").touch()
        cluster = up(Fake(), "a", 1)
        (cluster.directory / "home").symlink_to(tmp_path / "elsewhere")
        down(cluster)
        assert (tmp_path / "elsewhere" / "file").exists()

    def test_ends_no_process_that_got_the_id_of_one_of_its_daemons(
        self, stranger: subprocess.Popen[bytes]
    ) -> None:
        cluster = up(Fake(), "a", 1)
        file = cluster.directory / "cluster.json"
        kept = json.loads(file.read_text())
        end(cluster.daemons)
        for daemon in kept["daemons"]:
            daemon |= {"pid": stranger.pid, "start_ticks": 1}
        file.write_text(json.dumps(kept))
        down(find("fake", "a"))
        assert stranger.poll() is None
        assert find_all("fake") == []

    def test_twice_is_as_good_as_once(self) -> None:
        cluster = up(Fake(), "a", 1)
        down(cluster)
        down(cluster)

    def test_what_could_not_be_removed_can_be_tried_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def denied(path: Path) -> None:
            raise PermissionError(13, "Permission denied", str(path))

        cluster = up(Fake(), "a", 1)
        cluster.conf_directory.mkdir()
        with monkeypatch.context() as patch:
            patch.setattr(state.shutil, "rmtree", denied)
            with pytest.raises(ClusterliftError, match=r"^fake 'a' cannot be stopped: Permission"):
                down(cluster)
        down(find("fake", "a"))
        assert not cluster.directory.exists()

    @pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"daemons": [{}]}'])
    def test_a_state_that_is_none(self, text: str) -> None:
        cluster = up(Fake(), "a", 1)
        file = cluster.directory / "cluster.json"
        good = file.read_text()
        file.write_text(text)
        with pytest.raises(BadInput, match=r"cluster.json is not a state file of this clusterlift"):
            find("fake", "a")
        file.write_text(good)


class TestRunning:
    def test_stops_and_removes_what_it_started(self, cache: Path) -> None:
        with running(Fake(), 2) as cluster:
            assert cluster.dead() == []
        assert len(cluster.dead()) == 3
        assert not cluster.directory.exists()

    def test_also_after_an_error(self) -> None:
        with pytest.raises(ZeroDivisionError), running(Fake(), 1) as cluster:
            raise ZeroDivisionError
        assert len(cluster.dead()) == 2

    def test_a_daemon_can_be_killed(self) -> None:
        with running(Fake(), 2) as cluster:
            cluster.kill("server-1")
            assert [daemon.name for daemon in cluster.dead()] == ["server-1"]
            with pytest.raises(BadInput, match=r"'x' \(there: head, server-1, server-2\)"):
                cluster.kill("x")
