"""The rounds that a run plans, and the summary that it prints."""

from __future__ import annotations

from harness.model.run import Phase
from harness.runtime.precision import UntilPrecise
from harness.runtime.progress import PlanProgress, PrecisionProgress
from harness.runtime.trials import FixedRounds
from jobs.options import AutoTrials, TrialOptions
from jobs.run import plan_rounds, summary
from tests.unit.builders import failed, ok


def test_a_number_of_trials_is_a_fixed_plan() -> None:
    rounds, observers = plan_rounds(TrialOptions(warmup_rounds=2, trials=6), ("a", "b"))
    assert rounds == FixedRounds(trials=6, warm_up=2)
    assert [type(observer) for observer in observers] == [PlanProgress]


def test_auto_trials_observe_their_own_precision() -> None:
    rounds, observers = plan_rounds(TrialOptions(warmup_rounds=1, trials=AutoTrials()), ("a",))
    assert isinstance(rounds, UntilPrecise)
    assert observers[0] is rounds
    assert isinstance(observers[1], PrecisionProgress)


def test_the_summary_has_a_line_per_workload_over_its_measured_trials() -> None:
    trials = [
        ok("group-by", 90, phase=Phase.WARM_UP),
        *(ok("group-by", wall_s) for wall_s in (3, 1, 2)),
        ok("sha-512", 0.5),
        failed("sha-512"),
        failed("repartition"),
    ]
    assert summary(["group-by", "sha-512", "repartition"], trials).splitlines() == [
        "workload                   median        min        max    n",
        "group-by                  2.000 s    1.000 s    3.000 s    3",
        "sha-512                   0.500 s    0.500 s    0.500 s    1   1 of 2 failed",
        "repartition                     -          -          -    0   1 of 1 failed",
    ]
