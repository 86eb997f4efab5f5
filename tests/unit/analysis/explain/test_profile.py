"""Task seconds by class: shares of samples, their intervals, and what Spark's own metrics say."""

import pytest

from harness.analysis.explain.profile import Check, Kind, profiled_time
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
    assert {kind.name: time.seconds for kind, time in found.by_kind.items()} == pytest.approx(
        {"reading CSV": 5.0, "waiting for shuffle blocks": 3.0, "com.example.Codec.unpack": 2.0}
    )
    assert found.by_kind[Kind("waiting for shuffle blocks", is_known=True)].waiting == 29 / 30
    assert found.unknown_share == pytest.approx(0.2)
    assert [(check.name, check.sampled_s, check.spark_s) for check in found.checks] == [
        ("time of all tasks", pytest.approx(10.0), 10.0),
        ("running or ready to run", pytest.approx(6.6), 6.0),
        ("waiting for shuffle blocks", pytest.approx(3.0), 3.0),
        ("collecting garbage", None, 1.0),
    ]


@pytest.mark.parametrize(
    ("sampled_s", "spark_s", "shown"),
    [
        (10.9, 10.0, (0.09, False)),
        (11.1, 10.0, (0.11, True)),
        (8.9, 10.0, (-0.11, True)),
        (0.9, 0.1, (8.0, False)),  # less than a hundredth of all
        (1.2, 0.1, (11.0, True)),
        (2.0, 0.0, (None, True)),
        (None, 5.0, (None, False)),
    ],
)
def test_times_are_apart_by_a_tenth_of_spark_s_and_a_hundredth_of_all(
    sampled_s: float | None, spark_s: float, shown: tuple[float | None, bool]
) -> None:
    check = Check("time", sampled_s, spark_s, task_s=100.0)
    difference = check.difference if check.difference is None else round(check.difference, 9)
    assert (difference, check.is_apart) == shown


def test_measured_trials_and_those_without_a_sample_have_no_profile() -> None:
    trials = [profiled({CSV: (9, 0)}, phase=Phase.MEASURED), profiled()]
    assert profiled_time([recorded(a_run(), trials)], "join") is None


def test_an_executor_that_gave_no_stacks_is_named() -> None:
    trial = profiled({CSV: (9, 0)}, silent="it does not listen to SIGQUIT")
    found = profiled_time([recorded(a_run(), [trial])], "join")
    assert found is not None
    assert found.silent == ("executor 0 on n1 gave no stacks: it does not listen to SIGQUIT",)
