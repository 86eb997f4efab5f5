"""The Spark transport as it is, without Spark: caller and relay are processes and threads of this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path

import pytest

from harness.model.errors import BadInput, ClusterliftError
from harness.probes.remote_process import CompletedCommand, run_all
from harness.probes.transports.host import Host, HostError
from harness.probes.transports.spark.agent import run_agent
from harness.probes.transports.spark.application import executor_host, spark_transport
from harness.probes.transports.spark.relay import UNREACHABLE, Relay
from tests.waiting import eventually

TIMEOUT_S = 20

RELAY = """
import sys, time
from pathlib import Path
from harness.probes.transports.spark.relay import Relay
relay = Relay(Path(sys.argv[1]))
print(relay.port, relay.key.hex(), flush=True)
print(*relay.await_agents(1, 60), flush=True)
time.sleep(600)
"""


@dataclass(frozen=True)
class SparkTransport:
    """A relay with one agent, both on this machine."""

    relay: Relay
    path: Path

    @property
    def address(self) -> tuple[str, int]:
        return ("127.0.0.1", self.relay.port)

    def host(self, name: str = "node1") -> Host:
        return executor_host(self.path, name)

    def run(
        self, *command: str, name: str = "node1", stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self.host(name).argv(*command),
            input=stdin,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )


@pytest.fixture
def transport(tmp_path: Path) -> Iterator[SparkTransport]:
    path = tmp_path / "relay"
    with Relay(path) as relay:
        transport = SparkTransport(relay, path)
        agent = threading.Thread(target=run_agent, args=(transport.address, relay.key, "node1"))
        agent.start()
        assert relay.await_agents(1, TIMEOUT_S) == {"node1"}
        yield transport
    agent.join(TIMEOUT_S)
    assert not agent.is_alive()


class TestCommand:
    def test_has_its_output_its_errors_and_its_exit_code(self, transport: SparkTransport) -> None:
        done = transport.run("sh", "-c", "echo out; echo err >&2; exit 7")
        assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 7)

    @pytest.mark.parametrize(
        ("command", "stdin", "output"),
        [
            pytest.param(["sort"], b"b\na\n", b"a\nb\n", id="it reads its input to the end"),
            pytest.param(
                ["head", "-c", "3000000", "/dev/zero"], b"", bytes(3_000_000), id="megabytes out"
            ),
            pytest.param(["wc", "-c"], bytes(3_000_000), b"3000000\n", id="megabytes in"),
            pytest.param(
                ["head", "-c", "1"], b"ab" * 1_000_000, b"a", id="it ends before its input"
            ),
            pytest.param(
                ["printf", "%s|", "a b", "$(id)", "'"], b"", b"a b|$(id)|'|", id="words unchanged"
            ),
        ],
    )
    def test_has_all_its_input_and_output(
        self, transport: SparkTransport, command: list[str], stdin: bytes, output: bytes
    ) -> None:
        done = transport.run(*command, stdin=stdin)
        assert (done.stdout, done.returncode) == (output, 0)

    def test_that_is_not_installed_is_an_error(self, transport: SparkTransport) -> None:
        done = transport.run("no-such-program")
        assert done.returncode == 127
        assert b"no-such-program: not found" in done.stderr

    def test_loses_its_input_when_its_caller_is_killed(
        self, transport: SparkTransport, tmp_path: Path
    ) -> None:
        mark = tmp_path / "mark"
        mark.touch()
        script = f"echo started > {mark}; cat; echo ended > {mark}"
        caller = subprocess.Popen(transport.host().argv("sh", "-c", script), stdin=subprocess.PIPE)
        eventually(lambda: mark.read_text() == "started\n")
        caller.kill()
        caller.wait()
        eventually(lambda: mark.read_text() == "ended\n")

    def test_loses_its_input_when_the_relay_is_killed(self, tmp_path: Path) -> None:
        path, mark = tmp_path / "relay", tmp_path / "mark"
        with subprocess.Popen(
            [sys.executable, "-c", RELAY, str(path)], stdout=subprocess.PIPE, text=True
        ) as relay:
            assert relay.stdout is not None
            port, key = relay.stdout.readline().split()
            arguments = (("127.0.0.1", int(port)), bytes.fromhex(key), "node1")
            agent = threading.Thread(target=run_agent, args=arguments)
            agent.start()
            assert relay.stdout.readline() == "node1\n"
            script = f"echo started; cat; echo ended > {mark}"
            with subprocess.Popen(
                executor_host(path, "node1").argv("sh", "-c", script),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as caller:
                assert caller.stdout is not None
                assert caller.stdout.readline() == b"started\n"
                relay.kill()
                assert caller.wait(TIMEOUT_S) == UNREACHABLE
        agent.join(TIMEOUT_S)
        assert not agent.is_alive()
        eventually(mark.exists)

    def test_is_a_remote_process_like_any_other(self, transport: SparkTransport) -> None:
        [completed] = run_all([(transport.host(), ("uname", "-n"))])
        assert isinstance(completed, CompletedCommand)
        assert completed.output == os.uname().nodename

    def test_runs_beside_others(self, transport: SparkTransport, tmp_path: Path) -> None:
        """One writes to a pipe that the other reads: one after the other, they would never end."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        commands = ("sh", "-c", f"echo hello >{pipe}"), ("cat", str(pipe))
        completed = run_all((transport.host(), command) for command in commands)
        outputs = [done.output for done in completed if isinstance(done, CompletedCommand)]
        assert outputs == ["", "hello"]


class TestUnreachable:
    def test_a_host_without_an_executor(self, transport: SparkTransport) -> None:
        done = transport.run("true", name="node2")
        assert (done.returncode, done.stderr) == (UNREACHABLE, b"no executor answers on node2\n")
        [error] = run_all([(transport.host("node2"), ("true",))])
        assert isinstance(error, HostError)
        assert str(error) == "node2: no executor answers on node2"

    def test_an_application_that_has_ended(self, tmp_path: Path) -> None:
        argv = executor_host(tmp_path / "gone", "node1").argv("true")
        done = subprocess.run(argv, capture_output=True, timeout=TIMEOUT_S, check=False)
        assert done.returncode == UNREACHABLE
        assert done.stderr.startswith(b"the Spark application has ended")

    def test_a_relay_whose_port_is_closed_to_the_agent(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        with pytest.raises(OSError, match="refused"):
            run_agent(("127.0.0.1", port), b"key", "node1")


class TestStranger:
    """Whoever connects to the relay's port without its key gets nothing, and stops nobody else."""

    def test_with_another_key_is_rejected(self, transport: SparkTransport) -> None:
        with pytest.raises(AuthenticationError):
            run_agent(transport.address, transport.relay.key[:-1], "node9")
        assert transport.run("true", name="node9").returncode == UNREACHABLE
        assert transport.run("true").returncode == 0

    def test_that_stays_silent_sees_no_key_and_blocks_nobody(
        self, transport: SparkTransport
    ) -> None:
        with socket.create_connection(transport.address) as stranger:
            assert transport.run("true").returncode == 0
            with Client(transport.address, authkey=transport.relay.key):
                pass
            stranger.shutdown(socket.SHUT_WR)
            stranger.settimeout(TIMEOUT_S)
            assert transport.relay.key not in b"".join(iter(lambda: stranger.recv(4096), b""))

    @pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\n\r\n", b"\x00\x00\x00\x03abc"])
    def test_that_speaks_another_protocol_is_disconnected(
        self, transport: SparkTransport, sent: bytes
    ) -> None:
        with socket.create_connection(transport.address) as stranger:
            stranger.settimeout(TIMEOUT_S)
            stranger.sendall(sent)
            eventually(lambda: is_disconnected(stranger))
        assert transport.run("true").returncode == 0

    def test_that_stays_silent_for_long_is_disconnected(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.probes.transports.spark.relay.ANSWER_S", 1)
        with (
            Relay(tmp_path / "relay") as relay,
            socket.create_connection(("127.0.0.1", relay.port)) as stranger,
        ):
            stranger.settimeout(TIMEOUT_S)
            eventually(lambda: is_disconnected(stranger))

    def test_that_announces_gigabytes_is_disconnected(self, transport: SparkTransport) -> None:
        with socket.create_connection(transport.address) as stranger:
            stranger.settimeout(TIMEOUT_S)
            stranger.sendall(b"\x7f\xff\xff\xff")
            eventually(lambda: is_disconnected(stranger))


def is_disconnected(connection: socket.socket) -> bool:
    try:
        return connection.recv(4096) == b""
    except ConnectionResetError:
        return True


class TestRelay:
    def test_listens_on_a_port_of_the_users_choice(
        self, transport: SparkTransport, tmp_path: Path
    ) -> None:
        with pytest.raises(OSError, match="in use"):
            Relay(tmp_path / "other", transport.relay.port)

    def test_waits_no_longer_than_agents_can_come(self, tmp_path: Path) -> None:
        with Relay(tmp_path / "relay") as relay:
            relay.expect_no_more_agents()
            assert relay.await_agents(1, 3600) == set()


class TestApplication:
    @staticmethod
    def fake_spark(directory: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
        (directory / "jars").mkdir()
        (directory / "bin").mkdir()
        program = directory / "bin" / "spark-submit"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("SPARK_HOME", str(directory))

    def test_needs_spark(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))
        with pytest.raises(BadInput, match="SPARK_HOME"), spark_transport([]):
            pass

    def test_that_fails_is_an_error_and_its_output_is_shown(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.fake_spark(tmp_path, monkeypatch, "echo no master at $1; exit 1")
        with pytest.raises(ClusterliftError, match="ended before"), spark_transport(["spark://x"]):
            pass
        assert capsys.readouterr().err == "no master at spark://x\n"
