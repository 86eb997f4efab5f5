"""`clusterlift probe --via spark` on a real cluster, whose hosts only Spark reaches, with a real iperf3."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.jvm import COLD_SPARK
from tests.waiting import eventually

from .conftest import TIMEOUT_S, Cluster, Completed, Spark

CLUSTERLIFT = Path(sys.executable).parent / "clusterlift"
SCRIPT = "jobs/probe_agents.py"
CLIENTS = "iperf3 -c 127.0.0."


def command(probe: str, *arguments: str, options: str) -> list[str]:
    via = ["--via", "spark", "--spark-options", options]
    return [str(CLUSTERLIFT), "probe", probe, *via, *arguments]


def probe(spark: Spark, probe: str, *arguments: str, options: str, cwd: Path) -> Completed:
    return subprocess.run(
        command(probe, *arguments, options=options),
        cwd=cwd,
        env=spark.environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def options_for(cluster: Cluster, *options: str) -> str:
    return shlex.join(["--master", cluster.url, "--conf", "spark.ui.enabled=false", *options])


def running(text: str) -> dict[int, str]:
    """Return the command lines of this machine's processes that contain `text`, by process id.

    `ps` would cut them at 80 characters: the readline library, which pytest loads, sets COLUMNS.
    """
    found = {}
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            words = (directory / "cmdline").read_bytes().decode(errors="replace").split("\0")
            found[int(directory.name)] = " ".join(words)
    return {id_: line for id_, line in found.items() if text in line}


def nothing_is_left() -> None:
    eventually(lambda: not running(CLIENTS), "iperf3 is still running")
    eventually(lambda: not running(SCRIPT), "the Spark application is still running")


needs_iperf3 = pytest.mark.skipif(
    any(shutil.which(program) is None for program in ("ip", "iperf3")),
    reason="ip and iperf3 are not installed",
)
needs_ip = pytest.mark.skipif(shutil.which("ip") is None, reason="ip is not installed")


class Probing:
    """A probe whose transfers last, in a process of its own."""

    def __init__(self, spark: Spark, options: str, directory: Path, *arguments: str) -> None:
        self._log = directory / "log"
        self._temporary = directory / "t"
        self._temporary.mkdir()
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                command("mesh", "--seconds", "600", *arguments, options=options),
                cwd=directory,
                env=spark.environment(TMPDIR=str(self._temporary)),
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def output(self) -> str:
        return self._log.read_text()

    def await_output(self, text: str) -> None:
        eventually(lambda: text in self.output, f"no {text!r}", TIMEOUT_S)

    def await_transfer(self) -> None:
        eventually(
            lambda: any(line.startswith(CLIENTS) for line in running(CLIENTS).values()),
            "no transfer",
            TIMEOUT_S,
        )

    def sockets(self) -> list[str]:
        """Return the directories of sockets that are left."""
        return [path.name for path in self._temporary.glob("clusterlift-*")]


@contextmanager
def probing(spark: Spark, options: str, directory: Path) -> Iterator[Probing]:
    started = Probing(spark, options, directory)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()
    nothing_is_left()


@needs_iperf3
@pytest.mark.smoke
def test_every_executors_host_is_measured_and_no_process_is_left(
    cluster: Cluster, tmp_path: Path
) -> None:
    """From an environment that is not activated: PATH has neither its Python nor spark-submit."""
    arguments = ("--seconds", "1", "--spark-port", "34567")
    done = subprocess.run(
        command("mesh", *arguments, options=options_for(cluster)),
        cwd=tmp_path,
        env={
            "PATH": minimal_path(tmp_path),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "JAVA_TOOL_OPTIONS": COLD_SPARK,
        },
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    # Both directions share one machine: a finding that one of them is slower is no failure.
    assert done.returncode in {0, 1}, done.stderr
    assert "failed" not in done.stdout, done.stdout
    assert re.search(r"127\.0\.0\.2 +\d", done.stdout), done.stdout
    assert re.search(r"127\.0\.0\.3 +\d", done.stdout), done.stdout
    nothing_is_left()


def minimal_path(directory: Path) -> str:
    """Return a PATH with the system's programs and a Java, but no Python of an environment."""
    java = shutil.which("java")
    assert java is not None
    (directory / "bin").mkdir()
    (directory / "bin/java").symlink_to(java)
    return f"{directory / 'bin'}:/usr/bin:/bin"


@needs_iperf3
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_if_we_are_interrupted_or_killed(
    spark: Spark, cluster: Cluster, tmp_path: Path, number: signal.Signals
) -> None:
    with probing(spark, options_for(cluster), tmp_path) as ours:
        ours.await_transfer()
        ours.process.send_signal(number)
        killed = number is signal.SIGKILL
        assert ours.process.wait(TIMEOUT_S) == (-number if killed else 130)
        nothing_is_left()
        eventually(lambda: not ours.sockets(), "a directory is left")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nor_while_spark_waits_for_executors(
    spark: Spark, cluster: Cluster, tmp_path: Path, number: signal.Signals
) -> None:
    options = options_for(cluster, "--executor-memory", "900g")
    with probing(spark, options, tmp_path) as ours:
        ours.await_output("to grant an executor")
        ours.process.send_signal(number)
        assert ours.process.wait(TIMEOUT_S) in {-number, 130}
        nothing_is_left()
        eventually(lambda: not ours.sockets(), "a directory is left")


@needs_iperf3
@pytest.mark.parametrize(
    "program", [pytest.param("java", id="spark-submit"), pytest.param("python", id="the relay")]
)
def test_a_probe_ends_with_errors_if_its_application_is_killed(
    spark: Spark, cluster: Cluster, tmp_path: Path, program: str
) -> None:
    with probing(spark, options_for(cluster), tmp_path) as ours:
        ours.await_transfer()
        lines = running(SCRIPT)
        [killed] = [id_ for id_, line in lines.items() if program in Path(line.split()[0]).name]
        os.kill(killed, signal.SIGKILL)
        assert ours.process.wait(TIMEOUT_S) == 1
        assert "the Spark application has ended" in ours.output
        assert "Traceback" not in ours.output
        nothing_is_left()


@needs_iperf3
def test_a_probe_goes_on_without_an_executor_that_is_killed(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    with probing(spark, options_for(cluster), tmp_path) as ours:
        ours.await_transfer()
        for id_, line in running("CoarseGrainedExecutorBackend").items():
            if "--hostname 127.0.0.3" in line and "java" in line.split()[0]:
                os.kill(id_, signal.SIGKILL)
        assert ours.process.wait(TIMEOUT_S) == 1
        assert "its executor has gone" in ours.output
        assert "failed: 127.0.0.2 -> 127.0.0.3: " in ours.output
        assert "Traceback" not in ours.output


@needs_ip
def test_dynamic_allocation_leaves_no_host_out(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    dynamic = ("enabled=true", "shuffleTracking.enabled=true", "executorIdleTimeout=1s")
    settings = [part for each in dynamic for part in ("--conf", f"spark.dynamicAllocation.{each}")]
    done = probe(spark, "link", options=options_for(cluster, *settings), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "127.0.0.2" in done.stdout
    assert "127.0.0.3" in done.stdout


@needs_ip
def test_of_several_executors_on_a_host_one_is_used(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    with cluster.another_worker("127.0.0.2"):
        done = probe(spark, "link", options=options_for(cluster), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("127.0.0.2") == done.stdout.count("127.0.0.3") == 1


def test_a_host_without_an_executor_is_named(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    options = options_for(cluster)
    done = probe(spark, "link", "--hosts", "node7", options=options, cwd=tmp_path)
    assert done.returncode == 2
    assert "--via spark: node7 has no executor; these hosts do: 127.0.0.2, 127.0.0.3" in done.stderr
    assert "Traceback" not in done.stderr


def test_sparks_own_error_is_shown(spark: Spark, tmp_path: Path) -> None:
    done = probe(spark, "link", options="--master nonsense", cwd=tmp_path)
    assert done.returncode == 1
    assert "Master must either be" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_in_use_is_one_line(spark: Spark, cluster: Cluster, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        fixed = ("--spark-port", port)
        done = probe(spark, "link", *fixed, options=options_for(cluster), cwd=tmp_path)
    assert done.returncode == 2
    [line] = [line for line in done.stderr.splitlines() if "error" in line]
    assert f"--via spark: --spark-port {port}: cannot listen for executors at " in line
    assert "Address already in use" in line


def test_executors_without_the_right_python_are_an_error_in_one_line(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    pythons = (f"driver.python={spark.python}", "python=/no/such/python")
    settings = [part for each in pythons for part in ("--conf", f"spark.pyspark.{each}")]
    done = probe(spark, "link", options=options_for(cluster, *settings), cwd=tmp_path)
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if "error: " in line]
    assert "/no/such/python" in line


@needs_ip
def test_strangers_on_the_port_change_nothing(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with strangers(port) as met:
        fixed = ("--spark-port", str(port))
        done = probe(spark, "link", *fixed, options=options_for(cluster), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "127.0.0.3" in done.stdout
    assert "error" not in done.stderr
    assert met, "nobody came"
    assert {received[4:15] for received in met} <= {b"", b"#CHALLENGE#"}
    assert max(map(len, met)) < 100


def answer_of(stranger: socket.socket) -> bytes:
    """Close a connection, and return what was received on it."""
    with stranger, suppress(OSError):
        stranger.setblocking(False)  # noqa: FBT003  its only parameter
        return stranger.recv(4096)
    return b""


@contextmanager
def strangers(port: int) -> Iterator[list[bytes]]:
    """Connect again and again, keep many connections open, and yield what each of them received."""
    received: list[bytes] = []
    stop = threading.Event()

    def connect() -> None:
        opened: list[socket.socket] = []
        number = 0
        messages = (b"", b"\x00", b"GET / HTTP/1.1\r\n\r\n", b"\x00\x00\x00\x20" + bytes(32))
        while not stop.is_set():
            try:
                stranger = socket.create_connection(("127.0.0.1", port), 1)
            except OSError:
                stop.wait(0.05)
                continue
            opened.append(stranger)
            with suppress(OSError):
                stranger.sendall(messages[number % len(messages)])
            number += 1
            if len(opened) > 400:
                received.append(answer_of(opened.pop(0)))
            stop.wait(0.01)
        received.extend(map(answer_of, opened))

    thread = threading.Thread(target=connect)
    thread.start()
    try:
        yield received
    finally:
        stop.set()
        thread.join()
