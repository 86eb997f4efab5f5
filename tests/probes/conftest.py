"""Tests of the real programs in network namespaces; they are skipped where none can be made."""

from functools import cache

import pytest

from tests.probes.networks import missing


@cache
def _reason() -> str:
    return missing()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this directory."""
    for item in items:
        if "tests/probes/" in item.path.as_posix():
            item.add_marker(pytest.mark.netns)


@pytest.fixture(autouse=True)
def require_namespaces() -> None:
    if reason := _reason():
        pytest.skip(reason)
