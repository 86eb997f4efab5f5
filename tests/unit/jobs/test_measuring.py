"""The rounds that a run plans, and the dataset that it reads."""

from unittest.mock import Mock

import pytest

from datagen.dataset import Dataset
from jobs.measuring import plan_rounds
from jobs.options import parse
from jobs.proven_dataset import proven_dataset


@pytest.mark.parametrize(
    ("options", "total"),
    [("--warmup 2 --trials 6 --profile 1", 18), ("--warmup auto --trials 6", None)],
)
def test_the_number_of_trials_is_known_unless_the_warm_up_is_auto(
    options: str, total: int | None
) -> None:
    assert plan_rounds(parse(options.split()), ("a", "b")).total == total


@pytest.mark.parametrize(
    ("found", "proven", "times"),
    [("f1", "f1", 0), ("f1", "f2 f1", 0), ("f1", "f2", 1), ("f1", "", 1), ("", "", 1)],
)
def test_rows_that_a_run_of_the_series_proved_are_not_read_again(
    monkeypatch: pytest.MonkeyPatch, found: str, proven: str, times: int
) -> None:
    manifest, verify = Mock(), Mock()
    manifest.recipe.rows = 3
    dataset = Dataset(Mock(), manifest, Mock(), fingerprint=found)
    monkeypatch.setattr("jobs.proven_dataset.open_dataset", Mock(return_value=dataset))
    monkeypatch.setattr("jobs.proven_dataset.verify_content", verify)
    monkeypatch.setenv("CLUSTERLIFT_PROVEN", proven)
    first_use_s = proven_dataset(Mock(), parse(["--dataset", "d"])).first_use_s
    assert (verify.call_count, first_use_s is not None) == (times, bool(times))
