"""A lab of containers for tests that need a Docker engine. All tests share it: its start takes long."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from harness.base.errors import ClusterliftError
from harness.commands.cli import main
from harness.lab.cluster import Lab, find_lab, running_lab
from harness.lab.engine import compose_program
from harness.lab.lifecycle import PORTS
from harness.model.run import RecordedRun
from harness.records.reader import load
from tests import waiting
from tests.tracked import ROOT

PATIENCE_S = 900
"""A time limit for what takes seconds on an idle machine."""

WORKERS = 3
SHAPE = ("--nodes", str(WORKERS), "--cpus", "1")
"""Fewer and faster nodes than a user's: most of the time, they start Java."""
QUICK = tuple(
    f"--conf=spark.{jvm}.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    for jvm in ("driver", "executor")
)


def eventually(condition: Callable[[], object], what: str) -> None:
    """Wait until the condition holds; fail with `what` if it does not in 15 minutes."""
    waiting.eventually(condition, what, seconds=PATIENCE_S)


@contextmanager
def clusterlift(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the command as a separate process while entered; kill it on leaving."""
    command = [sys.executable, "-m", "harness", *arguments]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def new_lab(*options: str) -> Iterator[Lab]:
    """Provide a new lab while entered; a lab that is up is removed first."""
    remove_lab()
    try:
        assert main(["lab", "up", *options]) == 0
        yield running_lab()
    finally:
        remove_lab()


def remove_lab() -> None:
    if find_lab() is not None:
        main(["lab", "down"])


def runs(results: Path) -> list[RecordedRun]:
    """Return all runs that were recorded below a directory."""
    return [load(file) for file in sorted(results.rglob("*.jsonl"))]


@pytest.fixture(scope="session")
def ports() -> dict[str, int]:
    """Free ports by their variables: the default ports may be used by a Spark on this machine."""
    with ExitStack() as stack:
        servers = {name: stack.enter_context(socket.create_server(("", 0))) for name in PORTS}
        return {name: server.getsockname()[1] for name, server in servers.items()}


@pytest.fixture(scope="session")
def engine(ports: dict[str, int]) -> Iterator[None]:
    """Use an engine without a lab of an earlier test; a user's own lab may be up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPOSE_PROJECT_NAME", "clusterlift-test")
        for name, port in ports.items():
            patch.setenv(name, str(port))
        try:
            compose_program()
        except ClusterliftError as error:
            pytest.skip(f"{error} (.ci/engine installs and starts one)")
        remove_lab()
        yield


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory to which the lab writes its results."""
    directory = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RESULTS", str(directory))
        yield directory


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A lab with HDFS."""
    for fixture in ("engine", "results"):
        request.getfixturevalue(fixture)
    with new_lab(*SHAPE) as lab:
        yield lab


@pytest.fixture(scope="session")
def dataset(lab: Lab) -> str:
    """A dataset with a replica on every node: HDFS has no other node on which to restore a lost one."""
    rows = ["--rows", "200000", "--layout", f"replicated:{WORKERS}", "--partitions", "12"]
    assert lab.storages == ("hdfs",)
    assert main(["lab", "generate", "/lab-test/rows", *rows, *QUICK]) == 0
    return "/lab-test/rows"
