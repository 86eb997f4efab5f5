"""Task seconds by class: shares of samples, and their intervals."""

from typing import Any

import pytest

from harness.analysis.explain.profile import profiled_time
from harness.model.profile import Seen, SeenTask
from harness.model.run import Phase, Trial
from tests.unit.builders import a_run, known, recorded
from tests.unit.metrics_builders import profiled

CSV = ("Task.run", "org.apache.spark.sql.catalyst.csv.UnivocityParser.parse")
FETCH = ("Task.run", "org.apache.spark.storage.ShuffleBlockFetcherIterator.next", "a.park")
UNKNOWN = ("Task.run", "com.example.Codec.unpack")


def of_tasks(*tasks: Seen, **fields: Any) -> Trial:
    time: dict[str, Any] = {
        "cpu_s": 6.0,
        "fetch_wait_s": 3.0,
        "unattributed_s": 1.0,
        "scheduler_delay_s": 7.0,
    }
    return profiled("join", 5.0, *(SeenTask(1, s) for s in tasks), gc_share=0.1, **time, **fields)


def test_task_seconds_are_shares_of_the_time_in_which_tasks_had_a_thread() -> None:
    trial = of_tasks({CSV: (50, 0), FETCH: (1, 29)}, {UNKNOWN: (15, 5)})
    found = known(profiled_time([recorded(a_run(), [trial])], "join"))
    assert (found.task_s, found.samples) == (10.0, 100)
    assert {name: time.seconds for name, time in found.by_class.items()} == pytest.approx(
        {"reading CSV": 5.0, "waiting for shuffle blocks": 3.0, "? com.example.Codec.unpack": 2.0}
    )
    assert found.by_class["waiting for shuffle blocks"].waiting == 29 / 30
    assert found.unknown_share == pytest.approx(0.2)
    assert found.garbage_s == pytest.approx(1.0)


def test_measured_trials_and_those_without_a_sample_have_no_profile() -> None:
    trials = [of_tasks({CSV: (9, 0)}, phase=Phase.MEASURED), of_tasks()]
    assert profiled_time([recorded(a_run(), trials)], "join") is None


def test_an_executor_that_gave_no_stacks_is_named() -> None:
    trial = of_tasks({CSV: (9, 0)}, silent={"0 on n1": "it does not listen to SIGQUIT"})
    found = known(profiled_time([recorded(a_run(), [trial])], "join"))
    assert found.silent == ("executor 0 on n1 gave no stacks: it does not listen to SIGQUIT",)
