"""The rounds that a run plans, and the summary that it prints."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from datagen.dataset import Dataset
from harness.model.run import Phase
from jobs.options import parse
from jobs.run import plan_rounds, proven_dataset
from jobs.summary import summary
from tests.unit.builders import failed, ok


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
    monkeypatch.setattr("jobs.run.open_dataset", Mock(return_value=dataset))
    monkeypatch.setattr("jobs.run.verify_content", verify)
    monkeypatch.setenv("CLUSTERLIFT_PROVEN", proven)
    first_use_s = proven_dataset(Mock(), parse(["--dataset", "d"])).first_use_s
    assert (verify.call_count, first_use_s is not None) == (times, bool(times))


def test_the_summary_has_a_line_per_workload_over_its_measured_trials() -> None:
    trials = [
        ok("group-by", 90, phase=Phase.WARM_UP),
        *(ok("group-by", wall_s) for wall_s in (3, 1, 2)),
        ok("sha-512", 0.5),
        failed("sha-512"),
        failed("repartition"),
    ]
    assert list(summary(["group-by", "sha-512", "repartition"], trials, None)) == [
        "workload                   median        min        max    n  warm-up",
        "group-by                  2.000 s    1.000 s    3.000 s    3        1",
        "sha-512                   0.500 s    0.500 s    0.500 s    1        0   1 of 2 failed",
        "repartition                     -          -          -    0        0   1 of 1 failed",
    ]


def test_the_summary_says_which_trials_do_not_count() -> None:
    trials = [
        *(ok("steady", 9 if round_ == 1 else 5, round_) for round_ in range(1, 9)),
        replace(ok("steady", 99, 9), disturbed="n1: a busy neighbour"),
        *(ok("endless", 100 - round_ * 4, round_) for round_ in range(1, 9)),
    ]
    unsteady = "not known to be steady: its last 6 trials still became faster"
    assert list(summary(["steady", "endless"], trials, 6))[1:] == [
        "steady                    5.000 s    5.000 s    5.000 s    7        1   1 of 8 disturbed",
        f"endless                  78.000 s   68.000 s   88.000 s    6        2   {unsteady}",
    ]
