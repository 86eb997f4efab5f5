"""Our way to the executors: a Spark application of our own, for as long as it is needed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from harness.model.errors import BadInput, ClusterliftError
from harness.probes.preflight import is_ip
from harness.probes.transports.host import Host
from harness.probes.transports.spark.frames import EXECUTORS_LINE, tell

SCRIPT = Path(__file__).resolve().parents[4] / "jobs" / "probe_agents.py"
END_S = 20


@contextmanager
def spark_transport(options: Sequence[str]) -> Iterator[Mapping[str, Host]]:
    """The hosts that have an executor, by name, while the application runs; `options` are spark-submit's.

    Raises BadInput without spark-submit, and ClusterliftError if no executor answers.
    """
    program = shutil.which("spark-submit")
    if program is None:
        raise BadInput("--via spark: no 'spark-submit' is on the PATH")
    with tempfile.TemporaryDirectory(prefix="clusterlift-") as directory:  # its owner's alone
        path = Path(directory) / "hub"
        command = [program, *options, str(SCRIPT), "--socket", str(path)]
        with (
            subprocess.Popen(  # noqa: S603  an argument vector, no shell of ours
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,  # what a JVM says that is interrupted is for nobody
                start_new_session=True,
            ) as process,
            socket.socket(socket.AF_UNIX) as keeper,
        ):
            try:
                hosts = _hosts(process)
                keeper.connect(str(path))
                tell(keeper, keep=True)
            except BaseException:
                _kill(process)
                raise
            threading.Thread(target=_show, args=(process.stdout,), daemon=True).start()
            try:
                yield {name: spark_host(path, name) for name in hosts}
            finally:
                keeper.close()
                _await_end(process)


def _hosts(process: subprocess.Popen[bytes]) -> list[str]:
    assert process.stdout is not None  # noqa: S101  it was asked for
    for line in process.stdout:
        text = line.decode(errors="replace")
        if text.startswith(EXECUTORS_LINE):
            return list(map(str, json.loads(text.removeprefix(EXECUTORS_LINE))))
        print(text, end="", file=sys.stderr)
    raise ClusterliftError("--via spark: the Spark application ended before an executor answered")


def spark_host(path: Path, name: str) -> Host:
    """An executor's host, by the hub's socket."""
    prefix = (sys.executable, "-m", "harness.probes.transports.spark.proxy", str(path), name)
    return Host(name, name if is_ip(name) else "", prefix)


def _show(output: IO[bytes]) -> None:
    for line in output:
        print(line.decode(errors="replace"), end="", file=sys.stderr)


def _await_end(process: subprocess.Popen[bytes]) -> None:
    """It ends when nobody keeps it any more; what does not is made to."""
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """spark-submit is two: a JVM, and the script under it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
