"""The real programs between real interfaces: network namespaces, skipped where they cannot be made."""

from __future__ import annotations

from functools import cache

import pytest

from tests.probes.networks import missing


@cache
def _reason() -> str:
    return missing()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs namespaces."""
    ours = [item for item in items if "tests/probes/" in item.path.as_posix()]
    for item in ours:
        item.add_marker(pytest.mark.netns)


@pytest.fixture(autouse=True)
def networks() -> None:
    if _reason():
        pytest.skip(_reason())
