"""The Spark application that reaches the executors' hosts; it runs as long as the probes need it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Client
from pathlib import Path
from typing import IO

from harness.local_spark import ROOT, spark_environment, spark_submit_command
from harness.model.errors import ClusterliftError
from harness.probes.transports.host import Host, is_ip_address
from harness.probes.transports.spark.agent import send_object
from harness.probes.transports.spark.relay import EXECUTORS_LINE
from harness.terminal import say

SCRIPT = ROOT / "jobs" / "probe_agents.py"
END_S = 20


@contextmanager
def spark_transport(options: Sequence[str]) -> Iterator[Mapping[str, Host]]:
    """Start the application, and yield the hosts that have an executor, by name; end it afterwards.

    `options` are options of spark-submit. Raise BadInput if this machine has no Spark, and
    ClusterliftError if no executor answers.
    """
    submit = [*spark_submit_command(), *options, str(SCRIPT)]
    with tempfile.TemporaryDirectory(prefix="clusterlift-") as directory:  # for its owner alone
        socket = Path(directory) / "relay"
        with subprocess.Popen(  # noqa: S603  an argument vector, no shell of ours
            [*submit, "--socket", str(socket)],
            env=spark_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # so that an interrupted JVM's messages are not shown
            start_new_session=True,
        ) as process:
            try:
                names = _await_hosts(process)
                owner = Client(str(socket))
                send_object(owner, owner=True)
            except BaseException:
                _kill(process)
                raise
            threading.Thread(target=_show, args=(process.stdout,), daemon=True).start()
            try:
                yield {name: executor_host(socket, name) for name in names}
            finally:
                owner.close()
                _await_end(process)


def executor_host(socket: Path, name: str) -> Host:
    """Return the host that the relay at `socket` reaches under this name."""
    prefix = (sys.executable, "-m", "harness.probes.transports.spark.proxy", str(socket), name)
    return Host(name, name if is_ip_address(name) else "", prefix)


def _await_hosts(process: subprocess.Popen[bytes]) -> list[str]:
    """Return the hosts that the application announces; show what else it prints."""
    assert process.stdout is not None  # noqa: S101  it is a pipe
    for line in process.stdout:
        text = line.decode(errors="replace")
        if text.startswith(EXECUTORS_LINE):
            return list(map(str, json.loads(text.removeprefix(EXECUTORS_LINE))))
        say(text.rstrip())
    raise ClusterliftError("--via spark: the Spark application ended before an executor answered")


def _show(output: IO[bytes]) -> None:
    for line in output:
        say(line.decode(errors="replace").rstrip())


def _await_end(process: subprocess.Popen[bytes]) -> None:
    """Wait until the application notices that its owner has gone; kill it if it does not."""
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End both processes of spark-submit: a JVM, and the script that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
