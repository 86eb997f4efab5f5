"""What tests of commands that submit runs share."""

from pathlib import Path

import pytest

from tests.unit.commands.fake_spark import FakeSpark


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLUSTERLIFT_FS", raising=False)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.setattr("harness.commands.run.warn_of_faults", lambda: None)  # the tests' own load
    return FakeSpark(tmp_path / "spark")
