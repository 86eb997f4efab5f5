"""Guards of this directory's tests lock files of their own, so that tests can run at the same time."""

from pathlib import Path

import pytest

from harness.settings import guard


@pytest.fixture(autouse=True)
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "locks"
    directory.mkdir()
    monkeypatch.setattr(guard, "LOCKS", str(directory))
    return directory
