"""The Spark transport as it is, without Spark: caller and relay are processes and threads of this machine."""

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from pathlib import Path
from typing import Self

import pytest

from harness.hosts.remote_process import CompletedCommand, run_all
from harness.hosts.transports.host import Host, HostError
from harness.hosts.transports.spark import application
from harness.hosts.transports.spark.agent import (
    CONNECTION_LOST,
    EXIT_CODE,
    LOSS_S,
    MAX_MESSAGE_BYTES,
    Address,
    connect,
    run_agent,
)
from harness.hosts.transports.spark.application import executor_host, spark_transport
from harness.hosts.transports.spark.owner import end_with_owner, owner_socket
from harness.hosts.transports.spark.relay import UNREACHABLE, Relay, executors_line
from harness.model.errors import BadInput, ClusterliftError
from harness.terminal import show
from tests.waiting import PATIENCE_S, eventually

KEY = bytes(32)
RELAY = """
import sys, time
from pathlib import Path
from harness.hosts.transports.spark.relay import Relay
relay = Relay(Path(sys.argv[1]), ("127.0.0.1", 0))
print(relay.port, relay.key.hex(), flush=True)
print(*relay.await_agents(1, 60), flush=True)
time.sleep(600)
"""
AGENT = """
import sys
from harness.hosts.transports.spark.agent import run_agent
run_agent(("127.0.0.1", int(sys.argv[1])), bytes.fromhex(sys.argv[2]), "node2")
"""


@dataclass
class SparkTransport:
    """A relay, and agents on this machine under the names of other hosts."""

    relay: Relay
    path: Path

    @property
    def address(self) -> Address:
        return ("127.0.0.1", self.relay.port)

    def start_agent(self, name: str, address: Address | None = None) -> threading.Thread:
        arguments = (address or self.address, self.relay.key, name)
        agent = threading.Thread(target=run_agent, args=arguments)
        agent.start()
        eventually(lambda: name in self.relay.await_agents(0, 0))
        return agent

    def host(self, name: str = "node1") -> Host:
        return executor_host(self.path, name, name)

    def run(
        self, *command: str, name: str = "node1", stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self.host(name).argv(*command),
            input=stdin,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )


@pytest.fixture
def transport(tmp_path: Path) -> Iterator[SparkTransport]:
    """A relay with an agent on node1."""
    path = tmp_path / "relay"
    with Relay(path, ("127.0.0.1", 0)) as relay:
        transport = SparkTransport(relay, path)
        agent = transport.start_agent("node1")
        yield transport
    agent.join(PATIENCE_S)
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

    def test_may_run_on_after_the_end_of_its_input(self, transport: SparkTransport) -> None:
        assert transport.run("sh", "-c", "cat; sleep 1; echo end").stdout == b"end\n"

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

    def test_is_killed_after_its_caller_if_it_does_not_end(
        self, transport: SparkTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.hosts.transports.spark.agent.END_S", 0.1)
        mark = tmp_path / "mark"
        mark.touch()
        script = f"trap '' TERM INT HUP; echo $$ > {mark}; while :; do sleep 0.1; done"
        caller = subprocess.Popen(transport.host().argv("sh", "-c", script), stdin=subprocess.PIPE)
        eventually(lambda: mark.read_text().endswith("\n"))
        caller.kill()
        caller.wait()
        eventually(lambda: not is_running(int(mark.read_text())))

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
                executor_host(path, "node1", "node1").argv("sh", "-c", script),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as caller:
                assert caller.stdout is not None
                assert caller.stdout.readline() == b"started\n"
                relay.kill()
                assert caller.wait(PATIENCE_S) == UNREACHABLE
        agent.join(PATIENCE_S)
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
        assert (done.returncode, done.stderr) == (UNREACHABLE, b"no executor answers\n")
        [error] = run_all([(transport.host("node2"), ("true",))])
        assert isinstance(error, HostError)
        assert str(error) == "node2: no executor answers"

    def test_a_host_that_is_excluded_for_a_reason(self, transport: SparkTransport) -> None:
        transport.relay.exclude("node2", "its executor did not reach the driver")
        [error] = run_all([(transport.host("node2"), ("true",))])
        assert str(error) == "node2: its executor did not reach the driver"

    def test_a_host_whose_executor_dies(self, transport: SparkTransport) -> None:
        numbers = (str(transport.relay.port), transport.relay.key.hex())
        agent = subprocess.Popen([sys.executable, "-c", AGENT, *numbers])
        assert transport.relay.await_agents(2, PATIENCE_S) == {"node1", "node2"}
        with subprocess.Popen(
            transport.host("node2").argv("sh", "-c", "echo started; cat"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as caller:
            assert caller.stdout is not None
            assert caller.stderr is not None
            assert caller.stdout.readline() == b"started\n"
            eventually(lambda: transport.relay._waiting["node2"], "the agent is on its way")
            agent.kill()
            agent.wait()
            assert caller.wait(PATIENCE_S) == UNREACHABLE
            assert caller.stderr.read() == b"its executor has gone\n"
        eventually(lambda: transport.relay.await_agents(0, 0) == {"node1"})
        done = transport.run("true", name="node2")
        assert (done.returncode, done.stderr) == (UNREACHABLE, b"its executor has gone\n")
        assert transport.run("true").returncode == 0

    def test_an_application_that_has_ended(self, tmp_path: Path) -> None:
        argv = executor_host(tmp_path / "gone", "node1", "node1").argv("true")
        done = subprocess.run(argv, capture_output=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == UNREACHABLE
        assert done.stderr.startswith(b"the Spark application has ended")

    def test_a_relay_whose_port_is_closed_to_the_agent(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        with pytest.raises(OSError, match="refused"):
            run_agent(("127.0.0.1", port), KEY, "node1")

    def test_what_is_no_relay(self) -> None:
        """An agent leaves when something else answers at the address."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = listener.getsockname()

            def answer() -> None:
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(b"\x00\x00\x00\x03abc")
                    connection.recv(4096)

            threading.Thread(target=answer, daemon=True).start()
            with pytest.raises(AuthenticationError):
                run_agent(address, KEY, "node1")


class TestStranger:
    """Whoever connects to the relay's port without a key gets nothing, and stops nobody else."""

    def test_with_another_key_is_rejected(self, transport: SparkTransport) -> None:
        with pytest.raises(AuthenticationError):
            connect(transport.address, KEY, "node1")
        assert transport.run("true").returncode == 0

    @pytest.mark.parametrize(
        "sent",
        [
            pytest.param(b"", id="nothing"),
            pytest.param(b"\x00\x00", id="half a message"),
            pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="HTTP"),
            pytest.param(b"\x00\x00\x00\x03abc", id="another message"),
            pytest.param(b"\x00\x00\x00\x10" + bytes(16), id="another digest"),
            pytest.param(b"\x7f\xff\xff\xff", id="2 GB announced"),
            pytest.param(b"\xff\xff\xff\xff" + b"\x7f" * 8, id="exabytes announced"),
            pytest.param(os.urandom(100_000), id="garbage"),
        ],
    )
    def test_without_proof_gets_a_challenge_and_no_more(
        self, transport: SparkTransport, sent: bytes
    ) -> None:
        with socket.create_connection(transport.address, PATIENCE_S) as stranger:
            assert transport.run("true").returncode == 0
            send_all(stranger, sent)
            assert only_a_challenge(everything(stranger))
        assert transport.run("true").returncode == 0

    @pytest.mark.parametrize("sent", [b"", b"\x00\x00"])
    def test_that_stays_silent_is_disconnected(
        self, transport: SparkTransport, monkeypatch: pytest.MonkeyPatch, sent: bytes
    ) -> None:
        monkeypatch.setattr("harness.hosts.transports.spark.relay.HANDSHAKE_S", 1)
        with socket.create_connection(transport.address, PATIENCE_S) as stranger:
            stranger.sendall(sent)
            assert only_a_challenge(everything(stranger))

    def test_gives_way_to_those_who_come_later(
        self, transport: SparkTransport, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.hosts.transports.spark.relay.MAX_STRANGERS", 3)
        monkeypatch.setattr("harness.hosts.transports.spark.relay.HANDSHAKE_S", 3600)
        strangers = [socket.create_connection(transport.address, PATIENCE_S) for _ in range(10)]
        # Three, and two for the only agent, may stay.
        assert all(only_a_challenge(everything(stranger)) for stranger in strangers[:5])
        assert transport.run("true").returncode == 0
        for stranger in strangers:
            stranger.close()

    def test_that_has_recorded_everything_can_replay_nothing(
        self, transport: SparkTransport
    ) -> None:
        with Recorder(transport.address) as recorder:
            agent = transport.start_agent("node2", recorder.address)
            assert transport.run("echo", "hello", name="node2").stdout == b"hello\n"
            for sent in recorder.sent:
                with socket.create_connection(transport.address, PATIENCE_S) as stranger:
                    send_all(stranger, bytes(sent))
                    received = everything(stranger)
                assert b"#WELCOME#" not in received
                assert b"echo" not in received
            assert transport.run("echo", "again", name="node2").stdout == b"again\n"
            recorder.close()
        agent.join(PATIENCE_S)

    def test_that_has_recorded_everything_has_no_key(self, transport: SparkTransport) -> None:
        with Recorder(transport.address) as recorder:
            agent = transport.start_agent("node2", recorder.address)
            assert transport.run("echo", "hello", name="node2").stdout == b"hello\n"
            recorded = b"".join(map(bytes, [*recorder.sent, *recorder.received]))
            recorder.close()
        agent.join(PATIENCE_S)
        assert b"hello" in recorded  # so a key would have been seen
        assert transport.relay.key not in recorded

    def test_on_the_way_that_cuts_a_connection_ends_its_command(
        self, transport: SparkTransport, tmp_path: Path
    ) -> None:
        mark = tmp_path / "mark"
        with Recorder(transport.address) as recorder:
            agent = transport.start_agent("node2", recorder.address)
            with subprocess.Popen(
                transport.host("node2").argv("sh", "-c", f"echo started; cat; touch {mark}"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as caller:
                assert caller.stdout is not None
                assert caller.stdout.readline() == b"started\n"
                recorder.close()
                assert caller.wait(PATIENCE_S) == UNREACHABLE
        agent.join(PATIENCE_S)
        eventually(mark.exists)


class TestLimits:
    """Whoever has the key, and is no agent of ours, cannot fill the driver's memory either."""

    def test_a_message_that_is_too_long_ends_its_connection(
        self, transport: SparkTransport
    ) -> None:
        with (
            connect(transport.address, transport.relay.key, "node2") as other,
            subprocess.Popen(
                transport.host("node2").argv("true"), stderr=subprocess.PIPE
            ) as caller,
        ):
            assert other.recv_bytes() == b'["true"]'
            with suppress(OSError):
                other.send_bytes(bytes(MAX_MESSAGE_BYTES + 1))
            assert caller.wait(PATIENCE_S) == UNREACHABLE
        assert transport.run("true").returncode == 0

    @pytest.mark.parametrize("code", [b"", b"0x7f", b"1" * 5000, "\u0663".encode(), b"1e9"])
    def test_what_is_no_exit_code_is_no_answer_of_a_command(
        self, transport: SparkTransport, code: bytes
    ) -> None:
        with (
            connect(transport.address, transport.relay.key, "node2") as other,
            subprocess.Popen(
                transport.host("node2").argv("true"), stderr=subprocess.PIPE
            ) as caller,
        ):
            assert other.recv_bytes() == b'["true"]'
            other.send_bytes(EXIT_CODE + code)
            assert caller.wait(PATIENCE_S) == UNREACHABLE
            assert caller.stderr is not None
            assert caller.stderr.read() == b"an executor's answer cannot be read\n"

    def test_a_name_that_is_too_long_is_no_name(self, transport: SparkTransport) -> None:
        with (
            connect(transport.address, transport.relay.key, "x" * 1000) as other,
            pytest.raises(CONNECTION_LOST),
        ):
            other.recv_bytes()
        assert transport.relay.await_agents(0, 0) == {"node1"}


class Recorder:
    """Someone on the wire: passes on connections to an address, and keeps what both sides send."""

    def __init__(self, target: Address) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self.address: Address = self._listener.getsockname()
        self.sent: list[bytearray] = []
        self.received: list[bytearray] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            self._sockets += [client, server]
            for source, sink, log in (
                (client, server, self.sent),
                (server, client, self.received),
            ):
                log.append(bytearray())
                threading.Thread(target=copy, args=(source, sink, log[-1]), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all connections."""
        shut_down(self._listener)
        for each in self._sockets:
            shut_down(each)


def copy(source: socket.socket, sink: socket.socket, log: bytearray) -> None:
    try:
        while data := source.recv(65536):
            log += data
            sink.sendall(data)
    except OSError:
        pass
    shut_down(sink)


def shut_down(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def send_all(connection: socket.socket, data: bytes) -> None:
    """Send data, and nothing after it, to a side that may disconnect meanwhile."""
    with suppress(OSError):
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)


def everything(connection: socket.socket) -> bytes:
    """Return what comes until the other side disconnects; fail if it does not."""
    received = b""
    try:
        while data := connection.recv(4096):
            received += data
    except ConnectionResetError:
        pass
    return received


def only_a_challenge(received: bytes) -> bool:
    """Whether there is nothing but one challenge, or not even that."""
    return not received or (received[4:].startswith(b"#CHALLENGE#") and len(received) < 100)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


class TestRelay:
    def test_listens_on_a_port_of_the_users_choice(
        self, transport: SparkTransport, tmp_path: Path
    ) -> None:
        with pytest.raises(OSError, match="in use"):
            Relay(tmp_path / "other", transport.address)

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
    def test_listens_at_the_drivers_address_alone(self, tmp_path: Path, host: str) -> None:
        try:
            relay = Relay(tmp_path / "relay", (host, 0))
        except OSError as error:
            pytest.skip(f"this machine has no {host}: {error}")
        with relay:
            socket.create_connection((host.strip("[]"), relay.port), PATIENCE_S).close()
            with pytest.raises(OSError, match="refused"):
                socket.create_connection(("127.0.0.2", relay.port), PATIENCE_S)

    def test_waits_no_longer_than_agents_can_come(self, tmp_path: Path) -> None:
        with Relay(tmp_path / "relay", ("127.0.0.1", 0)) as relay:
            relay.expect_no_more_agents()
            assert relay.await_agents(1, 3600) == set()

    def test_takes_no_agent_whose_name_has_been_excluded(self, transport: SparkTransport) -> None:
        transport.relay.exclude("node2", "it has gone")
        run_agent(transport.address, transport.relay.key, "node2")  # returns: it is disconnected
        assert transport.relay.await_agents(0, 0) == {"node1"}

    def test_both_sides_notice_a_network_that_has_vanished(self, transport: SparkTransport) -> None:
        # The kernel does it; tests/probes waits until it does.
        with connect(transport.address, transport.relay.key, "node2") as ours:
            transport.relay.await_agents(2, PATIENCE_S)
            [theirs] = transport.relay._waiting["node2"]
            for connection in (ours, theirs):
                with socket.socket(fileno=os.dup(connection.fileno())) as same:
                    assert same.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                    timeout_ms = same.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
                    assert timeout_ms == 1000 * LOSS_S


OWNER = """
import sys, time
from pathlib import Path
from harness.hosts.transports.spark.owner import owner_socket
owner = owner_socket(Path(sys.argv[1]))
print("listens", flush=True)
time.sleep(600)
"""
OWNED = """
import sys, time
from pathlib import Path
from harness.hosts.transports.spark.owner import RELAY, end_with_owner
end_with_owner(Path(sys.argv[1]))
(Path(sys.argv[1]) / RELAY).touch()
print("ready", flush=True)
time.sleep(600)
"""


class TestOwner:
    @staticmethod
    def start(script: str, directory: Path) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(directory)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline()
        return process

    def test_that_ends_ends_the_application_and_leaves_no_directory(self, tmp_path: Path) -> None:
        directory = tmp_path / "sockets"
        directory.mkdir()
        owner = owner_socket(directory)
        with self.start(OWNED, directory) as owned:
            owner.close()
            assert owned.wait(PATIENCE_S) == 1
        assert not directory.exists()

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_that_is_killed_ends_the_application_and_leaves_no_directory(
        self, tmp_path: Path, number: signal.Signals
    ) -> None:
        directory = tmp_path / "sockets"
        directory.mkdir()
        with self.start(OWNER, directory) as owner, self.start(OWNED, directory) as owned:
            owner.send_signal(number)
            assert owned.wait(PATIENCE_S) == 1
        assert not directory.exists()

    def test_that_has_ended_before_is_an_error_and_leaves_no_directory(
        self, tmp_path: Path
    ) -> None:
        directory = tmp_path / "sockets"
        directory.mkdir()
        owner_socket(directory).close()
        with pytest.raises(
            ClusterliftError, match=r"nobody listens at .*/owner: Connection refused"
        ):
            end_with_owner(directory)
        assert not directory.exists()

    def test_that_never_was_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ClusterliftError, match="starts this application, in client mode"):
            end_with_owner(tmp_path)
        assert tmp_path.exists()

    def test_needs_a_short_path(self, tmp_path: Path) -> None:
        directory = tmp_path / ("x" * 120)
        directory.mkdir()
        with pytest.raises(ClusterliftError, match="set TMPDIR to a short path"):
            owner_socket(directory)


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
        message = r"^--via spark: spark-submit probe_agents\.py failed: no master at spark://x$"
        with pytest.raises(ClusterliftError, match=message), spark_transport(["spark://x"]):
            pass
        assert capsys.readouterr().err == "no master at spark://x\n"

    @pytest.mark.parametrize(("code", "kind"), [(1, ClusterliftError), (2, BadInput)])
    def test_that_reports_an_error_has_it_raised_instead_of_printed(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        code: int,
        kind: type[ClusterliftError],
    ) -> None:
        script = f"echo waiting; echo probe_agents.py: error: port in use; exit {code}"
        self.fake_spark(tmp_path, monkeypatch, script)
        with (
            pytest.raises(ClusterliftError, match=r"^--via spark: port in use$") as raised,
            spark_transport([]),
        ):
            pass
        assert type(raised.value) is kind
        assert capsys.readouterr().err == "waiting\n"

    def test_runs_in_client_mode_with_executors_that_stay(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        self.fake_spark(tmp_path, monkeypatch, 'echo "$@"; exit 1')
        users = ["--deploy-mode", "cluster", "--conf", "spark.dynamicAllocation.enabled=true"]
        with pytest.raises(ClusterliftError) as raised, spark_transport(users, 7100):
            pass
        words = str(raised.value).split()
        # Of an option that is given twice, spark-submit takes the last.
        assert words.index("client") > words.index("cluster")
        assert words.index("spark.dynamicAllocation.enabled=false") > words.index(users[-1])
        assert words[-2:] == ["--port", "7100"]

    def test_announces_hosts_whatever_they_are_called(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr(application, "END_S", 0.2)
        show(executors_line({"token1": "1", "n2": "n2"}))
        self.fake_spark(tmp_path, monkeypatch, f"echo '{capsys.readouterr().out}'; exec sleep 60")
        with spark_transport([]) as hosts:
            assert {name: host.prefix[-1] for name, host in hosts.items()} == {
                "token1": "1",
                "n2": "n2",
            }

    def test_that_does_not_notice_its_owners_end_is_killed(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(application, "END_S", 0.2)
        announced = 'clusterlift: executors on [["a", "0"]]'
        script = f"trap '' TERM; echo '{announced}'; while :; do sleep 1; done"
        self.fake_spark(tmp_path, monkeypatch, script)
        with spark_transport([]) as hosts:
            assert list(hosts) == ["a"]
            [socket_path] = {Path(host.prefix[-2]) for host in hosts.values()}
            assert stat.S_IMODE(socket_path.parent.stat().st_mode) == 0o700
        assert not socket_path.parent.exists()
