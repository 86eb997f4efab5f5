"""The campaign's size and seed, from the environment: KILLS and SEED."""

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .campaign import cases

KILLS = int(os.environ.get("KILLS") or 10)
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", list(cases(SEED, KILLS)), ids=str)


def pytest_report_header() -> str:
    return f"kills: KILLS={KILLS} SEED={SEED}"


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for what is made once and copied for each case."""
    return tmp_path_factory.mktemp("templates")


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """A place for one case, removed after it: a hundred cases would fill a disk."""
    yield tmp_path / "case"
    shutil.rmtree(tmp_path, ignore_errors=True)
