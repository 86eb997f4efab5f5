"""The application behind `probe --via spark`, with Spark in local mode: one executor, on this machine."""

import json
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness.hosts.transports.spark.application import executor_host
from harness.hosts.transports.spark.relay import EXECUTORS_LINE, Relay
from harness.model.errors import BadInput, ClusterliftError
from jobs.probe_agents import relay_commands
from tests.waiting import PATIENCE_S


def test_commands_run_on_the_executors_host_until_the_relay_ends(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    relays: list[Relay] = []

    def keep(*arguments: object) -> Relay:
        relays.append(Relay(*arguments))  # type: ignore[arg-type]
        return relays[-1]

    def announce(text: str) -> None:
        lines.append(text)
        announced.set()

    lines: list[str] = []
    announced = threading.Event()
    monkeypatch.setattr("jobs.probe_agents.Relay", keep)
    monkeypatch.setattr("jobs.probe_agents.show", announce)
    path = tmp_path / "relay"
    serving = threading.Thread(target=relay_commands, args=(spark, path, 0))
    serving.start()
    assert announced.wait(PATIENCE_S)
    [(host, agent)] = json.loads(lines[0].removeprefix(EXECUTORS_LINE))
    argv = executor_host(path, host, agent).argv("echo", "hello")
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.stdout == "hello\n"
    [relay] = relays
    relay.__exit__()
    serving.join(PATIENCE_S)
    assert not serving.is_alive()


def test_agents_that_never_come_are_an_error(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.probe_agents.run_agent", print)  # which connects to nothing
    message = r"the executors did not reach the driver at 127\.0\.0\.1, port \d+: open that port"
    with pytest.raises(ClusterliftError, match=message):
        relay_commands(spark, tmp_path / "relay", 0)


def test_a_port_that_is_in_use_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        message = f"^--spark-port {port}: cannot listen for executors at 127.0.0.1: .*in use"
        with pytest.raises(BadInput, match=message):
            relay_commands(spark, tmp_path / "relay", port)
