"""A lab of containers, for tests that need a docker engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.cli import main
from harness.errors import ClusterliftError
from harness.lab.cluster import Lab, find_lab, running_lab
from harness.lab.engine import compose_program


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs an engine."""
    ours = [item for item in items if "tests/lab/" in item.path.as_posix()]
    for item in ours:
        item.add_marker(pytest.mark.lab)


@pytest.fixture(scope="session")
def engine() -> None:
    try:
        compose_program()
        there = find_lab()
    except ClusterliftError as error:
        pytest.skip(f"{error} (.ci/engine installs and starts one)")
    if there is not None:
        pytest.skip("a lab is up, which these tests would take down: clusterlift lab down")


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Four workers and HDFS."""
    request.getfixturevalue("engine")
    try:
        assert main(["lab", "up"]) == 0
        yield running_lab()
    finally:
        if find_lab() is not None:
            main(["lab", "down"])
