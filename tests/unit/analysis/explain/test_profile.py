"""Task seconds by class: shares of samples, and their intervals."""

import pytest

from harness.analysis.explain.profile import profiled_time
from harness.model.profile import Profile, Seen, SeenTask
from harness.model.run import Phase, Trial
from tests.unit.builders import a_run, ok, recorded
from tests.unit.metrics_builders import task_metrics

CSV = ("Task.run", "org.apache.spark.sql.catalyst.csv.UnivocityParser.parse")
FETCH = ("Task.run", "org.apache.spark.storage.ShuffleBlockFetcherIterator.next", "a.park")
UNKNOWN = ("Task.run", "com.example.Codec.unpack")


def profiled(*tasks: Seen, phase: Phase = Phase.PROFILE, silent: str = "") -> Trial:
    metrics = task_metrics(
        cpu_s=6.0, fetch_wait_s=3.0, unattributed_s=1.0, scheduler_delay_s=7.0, gc_share=0.1
    )
    profile = Profile.of(
        interval_s=0.1,
        executors=["0 on n1"],
        silent={"0 on n1": silent} if silent else {},
        tasks=[SeenTask(1, seen) for seen in tasks],
    )
    return ok("join", 5.0, phase=phase, tasks=metrics, profile=profile)


def test_task_seconds_are_shares_of_the_time_in_which_tasks_had_a_thread() -> None:
    trial = profiled({CSV: (50, 0), FETCH: (1, 29)}, {UNKNOWN: (15, 5)})
    found = profiled_time([recorded(a_run(), [trial])], "join")
    assert found is not None
    assert (found.task_s, found.samples) == (10.0, 100)
    assert {name: time.seconds for name, time in found.by_class.items()} == pytest.approx(
        {"reading CSV": 5.0, "waiting for shuffle blocks": 3.0, "? com.example.Codec.unpack": 2.0}
    )
    assert found.by_class["waiting for shuffle blocks"].waiting == 29 / 30
    assert found.unknown_share == pytest.approx(0.2)
    assert found.garbage_s == pytest.approx(1.0)


def test_measured_trials_and_those_without_a_sample_have_no_profile() -> None:
    trials = [profiled({CSV: (9, 0)}, phase=Phase.MEASURED), profiled()]
    assert profiled_time([recorded(a_run(), trials)], "join") is None


def test_an_executor_that_gave_no_stacks_is_named() -> None:
    trial = profiled({CSV: (9, 0)}, silent="it does not listen to SIGQUIT")
    found = profiled_time([recorded(a_run(), [trial])], "join")
    assert found is not None
    assert found.silent == ("executor 0 on n1 gave no stacks: it does not listen to SIGQUIT",)
