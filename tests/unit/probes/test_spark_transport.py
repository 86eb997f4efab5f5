"""Commands on executors' hosts: caller, hub and hand as they are, without Spark between them."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.model.errors import BadInput, ClusterliftError
from harness.probes.remote_process import CompletedCommand, run_all
from harness.probes.transports.host import Host, HostError
from harness.probes.transports.spark.agent import hand
from harness.probes.transports.spark.application import spark_host, spark_transport
from harness.probes.transports.spark.frames import tell
from harness.probes.transports.spark.proxy import UNREACHED
from harness.probes.transports.spark.relay import Relay

PATIENCE_S = 20


@dataclass(frozen=True)
class Transport:
    """To one executor's host, which is this one."""

    relay: Relay
    path: Path

    def host(self, name: str = "node1") -> Host:
        return spark_host(self.path, name)

    def run(
        self, *command: str, name: str = "node1", said: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self.host(name).argv(*command),
            input=said,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )


@pytest.fixture
def way(tmp_path: Path) -> Iterator[Transport]:
    path = tmp_path / "hub"
    with Relay(path) as relay:
        arguments = (("127.0.0.1", relay.port), relay.secret, "node1")
        lent = threading.Thread(target=hand, args=arguments)
        lent.start()
        assert relay.await_hands(1, PATIENCE_S) == {"node1"}
        yield Transport(relay, path)
    lent.join(PATIENCE_S)
    assert not lent.is_alive()


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


class TestACommand:
    def test_has_its_output_its_errors_and_its_exit_code(self, way: Transport) -> None:
        done = way.run("sh", "-c", "echo out; echo err >&2; exit 7")
        assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 7)

    def test_has_its_input_and_knows_where_it_ends(self, way: Transport) -> None:
        assert way.run("sort", said=b"b\na\n").stdout == b"a\nb\n"

    def test_may_say_much(self, way: Transport) -> None:
        assert way.run("head", "-c", "3000000", "/dev/zero").stdout == bytes(3_000_000)

    def test_gets_its_words_as_they_are(self, way: Transport) -> None:
        assert way.run("printf", "%s|", "a b", "$(id)", "'").stdout == b"a b|$(id)|'|"

    def test_that_is_not_there_says_so(self, way: Transport) -> None:
        done = way.run("no-such-program")
        assert (done.returncode, done.stderr) == (
            127,
            b"no-such-program: No such file or directory\n",
        )

    def test_ends_with_its_caller(self, way: Transport, tmp_path: Path) -> None:
        mark = tmp_path / "pid"
        script = f"echo $$ > {mark}; cat; echo over > {mark}"
        caller = subprocess.Popen(way.host().argv("sh", "-c", script), stdin=subprocess.PIPE)
        assert eventually(lambda: mark.exists() and mark.read_text() != "")
        caller.kill()
        caller.wait()
        assert eventually(lambda: mark.read_text() == "over\n")

    def test_works_on_a_leash_like_any(self, way: Transport) -> None:
        [answer] = run_all([(way.host(), ("uname", "-n"))])
        assert isinstance(answer, CompletedCommand)
        assert answer.output == os.uname().nodename


class TestWhatCannotBeReached:
    def test_a_host_without_an_executor(self, way: Transport) -> None:
        done = way.run("true", name="node2")
        assert (done.returncode, done.stderr) == (UNREACHED, b"no executor answers on node2\n")
        [trouble] = run_all([(way.host("node2"), ("true",))])
        assert isinstance(trouble, HostError)
        assert str(trouble) == "node2: no executor answers on node2"

    def test_an_application_that_has_ended(self, way: Transport) -> None:
        way.path.unlink()
        done = way.run("true")
        assert done.returncode == UNREACHED
        assert done.stderr.startswith(b"the Spark application has ended")

    def test_a_hand_that_does_not_know_the_secret(self, way: Transport) -> None:
        with socket.create_connection(("127.0.0.1", way.relay.port)) as stranger:
            tell(stranger, secret=way.relay.secret[:-1], host="node9")
            assert stranger.recv(1) == b""
        assert way.run("true", name="node9").returncode == UNREACHED

    def test_a_stranger_that_promises_gigabytes(self, way: Transport) -> None:
        with socket.create_connection(("127.0.0.1", way.relay.port)) as stranger:
            stranger.sendall(b"\x00\xff\xff\xff\xff")
            assert stranger.recv(1) == b""


class TestTheBridge:
    def submit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
        program = tmp_path / "spark-submit"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def test_needs_spark_submit(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(BadInput, match="spark-submit"), spark_transport([]):
            pass

    def test_shows_what_an_application_said_that_failed(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.submit(tmp_path, monkeypatch, "echo no master there: $1; exit 1")
        with pytest.raises(ClusterliftError, match="ended before"), spark_transport(["spark://x"]):
            pass
        assert capsys.readouterr().err == "no master there: spark://x\n"
