"""The Spark application that reaches the executors' hosts; it runs as long as the probes need it."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from harness.hosts.transports.host import Host, check_name, is_ip_address
from harness.hosts.transports.spark.owner import RELAY, owner_socket
from harness.hosts.transports.spark.relay import EXECUTORS_LINE
from harness.local_spark import (
    script_error,
    script_path,
    spark_environment,
    spark_submit_command,
)
from harness.model.errors import ClusterliftError
from harness.terminal import say

SCRIPT = "jobs/probe_agents.py"
SETTINGS = (
    *("--deploy-mode", "client"),  # callers and relay share a Unix socket
    *("--conf", "spark.dynamicAllocation.enabled=false"),  # it would start with one executor
    *("--conf", "spark.speculation=false"),  # a second agent would end the first
)
"""They come after the user's options, and so override them."""
ANY_PORT = 0
END_S = 20


@contextmanager
def spark_transport(options: Sequence[str], port: int = ANY_PORT) -> Iterator[Mapping[str, Host]]:
    """Start the application, and yield the hosts that have an executor, by name; end it afterwards.

    `options` are options of spark-submit; executors connect to `port` of the driver. Raise BadInput if this
    machine has no Spark or cannot listen there, and ClusterliftError if no executor answers.
    """
    submit = [*spark_submit_command(), *options, *SETTINGS, script_path(SCRIPT)]
    with tempfile.TemporaryDirectory(prefix="clusterlift-") as name:  # for its owner alone
        directory = Path(name)
        with (
            owner_socket(directory) as owner,
            subprocess.Popen(  # noqa: S603  an argument vector, no shell of ours
                [*submit, "--directory", name, "--port", str(port)],
                env=spark_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,  # so that an interrupted JVM's messages are not shown
                start_new_session=True,
            ) as process,
        ):
            try:
                agents = _await_agents(process)
            except BaseException:
                _signal(process, signal.SIGTERM)
                _end(process)
                raise
            threading.Thread(target=_show, args=(process.stdout,), daemon=True).start()
            try:
                yield {
                    host: executor_host(directory / RELAY, host, agent)
                    for host, agent in agents.items()
                }
            finally:
                owner.close()
                _end(process)


def executor_host(socket: Path, name: str, agent: str) -> Host:
    """Return the host on which the relay at `socket` knows this agent."""
    prefix = (sys.executable, "-m", "harness.hosts.transports.spark.proxy", str(socket), agent)
    return Host(name, name if is_ip_address(name) else "", prefix)


def _await_agents(process: subprocess.Popen[bytes]) -> dict[str, str]:
    """Return the hosts that the application announces, and their agents.

    Show what else it prints, but raise its error.
    """
    assert process.stdout is not None  # noqa: S101  it is a pipe
    lines = []
    for line in process.stdout:
        text = line.decode(errors="replace").rstrip()
        if text.startswith(EXECUTORS_LINE):
            return _agents(text.removeprefix(EXECUTORS_LINE))
        lines.append(text)
        if not text.startswith(f"{Path(SCRIPT).name}: error: "):
            say(text)
    error = script_error(lines, SCRIPT, process.wait())
    raise type(error)(f"--via spark: {error}")


def _agents(text: str) -> dict[str, str]:
    """Return the agents by host. Raise ClusterliftError if that is no name of a host.

    An executor chooses what its host is called, and the name is a word of commands on other hosts.
    """
    try:
        agents = dict(msgspec.json.decode(text, type=list[tuple[str, str]]))
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise ClusterliftError(
            f"--via spark: its list of executors cannot be read: {error}"
        ) from error
    for host in agents:
        check_name("--via spark", host)
    return agents


def _show(output: IO[bytes]) -> None:
    for line in output:
        say(line.decode(errors="replace").rstrip())


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait until the application notices that its owner has gone; end it by force if it does not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
            return
        _signal(process, number)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to both processes of spark-submit: a JVM, and the script that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
