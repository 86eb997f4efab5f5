"""A lab of containers, for tests that need a docker engine. One serves them all: to start it takes long."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from harness.cli import main
from harness.lab.cluster import Lab, find_lab, running_lab
from harness.lab.engine import compose_program
from harness.lab.lifecycle import PORTS
from harness.model.errors import ClusterliftError
from harness.model.run import RecordedRun
from harness.records.reader import load

ROOT = Path(__file__).parents[2]
PATIENCE_S = 900
"""For what takes seconds on an idle machine."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs an engine."""
    ours = [item for item in items if "tests/lab/" in item.path.as_posix()]
    for item in ours:
        item.add_marker(pytest.mark.lab)


def eventually(holds: Callable[[], object]) -> None:
    """Wait until it does."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never did"
        time.sleep(0.2)


@contextmanager
def clusterlift(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command as a process of its own, which ends here at the latest."""
    command = [sys.executable, "-m", "harness", *arguments]
    with subprocess.Popen(command, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


def runs(results: Path) -> list[RecordedRun]:
    """All that were recorded below a directory."""
    return [load(file) for file in sorted(results.rglob("*.jsonl"))]


@pytest.fixture(scope="session")
def ports() -> dict[str, int]:
    """Free ones, by their variables: whoever runs Spark on this machine has the usual ones."""
    with ExitStack() as stack:
        held = {name: stack.enter_context(socket.create_server(("", 0))) for name in PORTS}
        return {name: server.getsockname()[1] for name, server in held.items()}


@pytest.fixture(scope="session")
def engine(ports: dict[str, int]) -> Iterator[None]:
    """One that has no lab of these tests; a user's own may be up."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COMPOSE_PROJECT_NAME", "clusterlift-test")
        for name, port in ports.items():
            patched.setenv(name, str(port))
        try:
            compose_program()
            there = find_lab()
        except ClusterliftError as error:
            pytest.skip(f"{error} (.ci/engine installs and starts one)")
        if there is not None:
            main(["lab", "down"])
        yield


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the lab puts its results."""
    place = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RESULTS", str(place))
        yield place


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Four workers and HDFS."""
    for before in ("engine", "results"):
        request.getfixturevalue(before)
    try:
        assert main(["lab", "up"]) == 0
        yield running_lab()
    finally:
        if find_lab() is not None:
            main(["lab", "down"])


@pytest.fixture(scope="session")
def dataset(lab: Lab) -> str:
    """The path of one with as many copies as there are nodes: a lost one is not made anew elsewhere."""
    rows = ["--rows", "200000", "--layout", "replicated:4", "--partitions", "12"]
    assert lab.storage == "hdfs"
    assert main(["lab", "generate", "/lab-test/rows", *rows]) == 0
    return "/lab-test/rows"
