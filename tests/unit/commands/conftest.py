"""What tests of commands that submit runs share."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from harness.trials.time_budget import TimeBudget
from tests.unit.commands.fake_spark import FakeSpark


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLUSTERLIFT_FS", raising=False)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    for command in ("run", "bench"):  # the tests' own load
        monkeypatch.setattr(f"harness.commands.{command}.warn_of_faults", lambda: None)
    monkeypatch.setattr("harness.trials.order.shuffled", lambda items, *_: list(items))
    return FakeSpark(tmp_path / "spark")


@pytest.fixture
def take(spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that says how many seconds each run takes from now on; nothing else takes time."""

    def take(seconds: float) -> None:
        before = len(spark.calls())
        budget = partial(TimeBudget, clock=lambda: seconds * (len(spark.calls()) - before))
        monkeypatch.setattr("harness.commands.run.TimeBudget", budget)

    return take
