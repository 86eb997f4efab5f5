"""Tests of the real programs in network namespaces; they are skipped where none can be made."""

from functools import cache

import pytest

from tests.probes.networks import missing


@cache
def _reason() -> str:
    return missing()


@pytest.fixture(autouse=True)
def require_namespaces() -> None:
    if reason := _reason():
        pytest.skip(reason)
