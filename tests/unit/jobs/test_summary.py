"""The summary that a run prints at its end."""

from dataclasses import replace

from harness.model.run import Phase
from harness.trials.counting import DEFAULT_TRIALS
from jobs.summary import summary
from tests.unit.builders import failed, ok


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
    assert list(summary(["steady", "endless"], trials, DEFAULT_TRIALS))[1:] == [
        "steady                    5.000 s    5.000 s    5.000 s    7        1   1 of 8 disturbed",
        f"endless                  78.000 s   68.000 s   88.000 s    6        2   {unsteady}",
    ]
