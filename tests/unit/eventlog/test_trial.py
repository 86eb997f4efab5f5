"""Task metrics agree with calculations by hand, and have properties that hold for any log."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.eventlog.events import TaskEnded, parse
from harness.eventlog.tasks import divide_time
from harness.eventlog.trial import read_log
from harness.model.profile import TaskSpan
from harness.model.task_metrics import Stragglers, TaskMetrics, TaskTime
from tests.unit.eventlog.event_log_lines import (
    job_ended,
    job_started,
    stage_ended,
    stage_started,
    task_counters,
    task_ended,
    task_started,
)
from tests.unit.metrics_builders import known_s


def metrics_of(*lines: bytes) -> TaskMetrics:
    return read_log(lines, None).metrics


def metrics_of_tasks(*tasks: bytes, rdds: tuple[tuple[str, str], ...] = ()) -> TaskMetrics:
    """Return the metrics of a log whose only stage has these tasks."""
    return metrics_of(
        job_started(0, 1_000),
        stage_started(0, rdds=rdds),
        *(task_started(0) for _ in tasks),
        *tasks,
        stage_ended(0),
        job_ended(0, 2_000),
    )


class TestCalculatedByHand:
    """Two tasks of one stage on two slots, and one whose executor was lost."""

    METRICS = metrics_of_tasks(
        # 500 ms, which its own metrics exceed: run 600, including fetch 450 and CPU 300.
        task_ended(
            0, 1_000, 1_500,
            locality="ANY",
            metrics=task_counters(
                run_ms=600, fetch_wait_ms=450, cpu_ms=300, shuffle_write_ms=100, gc_ms=60,
                input_bytes=10, remote_bytes=70,
            ),
        ),
        task_ended(0, 1_500, 1_800, failed=True, reason="ExecutorLostFailure"),
        # 1000 ms: deserialization 50, run 900, result 10 + 15, and 25 are left for the scheduler;
        # of run: fetch 100, CPU 500, write 200, and 100 are left unattributed.
        task_ended(
            0, 1_000, 2_000,
            fetching_result_since_ms=1_985,
            metrics=task_counters(
                deserialization_ms=50, run_ms=900, result_ms=10, fetch_wait_ms=100, cpu_ms=500,
                shuffle_write_ms=200, gc_ms=90, input_bytes=30, output_bytes=5, local_bytes=20,
                remote_bytes=80, written_bytes=90, disk_spilled_bytes=3,
            ),
        ),
    )  # fmt: skip

    def test_time(self) -> None:
        assert self.METRICS.time == TaskTime(
            fetch_wait_s=0.450 + 0.100,
            cpu_s=0.050 + 0.500,
            shuffle_write_s=0.200,
            python_worker_s=0,
            unattributed_s=0.300 + 0.100,
            deserialization_s=0.050,
            result_s=0.025,
            scheduler_delay_s=0.025,
        )
        assert known_s(self.METRICS.time) == pytest.approx(0.500 + 0.300 + 1.000)

    def test_tasks(self) -> None:
        metrics = self.METRICS
        assert (metrics.tasks, metrics.failed_tasks) == (3, 1)
        assert metrics.stragglers == Stragglers(longest_s=1.0, median_s=0.75)

    def test_bytes(self) -> None:
        assert self.METRICS.input_bytes_by_locality == {"ANY": 10, "NODE_LOCAL": 30}
        assert (self.METRICS.input_bytes, self.METRICS.output_bytes) == (40, 5)
        assert (self.METRICS.shuffle_local_bytes, self.METRICS.shuffle_remote_bytes) == (20, 150)
        assert self.METRICS.shuffle_written_bytes == 90
        assert self.METRICS.disk_spilled_bytes == 3

    def test_gc_is_a_fraction_of_the_run_time(self) -> None:
        assert self.METRICS.gc_share == (60 + 90) / (600 + 900)

    def test_a_result_inside_the_last_message_takes_no_time_to_fetch(self) -> None:
        time = metrics_of_tasks(task_ended(0, 1_000, 2_000, metrics=task_counters(run_ms=900))).time
        assert (time.result_s, time.scheduler_delay_s) == (0, 0.1)

    def test_garbage_collection_takes_at_most_the_run_time(self) -> None:
        tasks = [
            task_ended(0, 0, 100, metrics=task_counters(run_ms=100, gc_ms=ms)) for ms in (500, 0)
        ]
        assert metrics_of_tasks(*tasks).gc_share == 0.5


class TestPython:
    UDF = (("MapPartitionsRDD", "BatchEvalPython"),)

    def test_workers_get_the_time_in_which_the_task_did_nothing_itself(self) -> None:
        counters = task_counters(run_ms=1_000, cpu_ms=300)
        tasks = [task_ended(0, 0, 1_000, python_ms=[ms], metrics=counters) for ms in (800, 400)]
        metrics = metrics_of_tasks(*tasks, rdds=self.UDF)
        assert metrics.time.python_worker_s == 0.700 + 0.400
        assert metrics.time.unattributed_s == 0.300

    def test_of_two_operators_in_a_pipeline_the_slower_counts(self) -> None:
        task = task_ended(0, 0, 1_000, python_ms=[300, 500], metrics=task_counters(run_ms=1_000))
        assert metrics_of_tasks(task, rdds=self.UDF).time.python_worker_s == 0.5

    @pytest.mark.parametrize(
        "rdd",
        [
            ("PythonRDD", ""),
            ("MapPartitionsRDD", "BatchEvalPython"),
            ("MapPartitionsRDD", "MapInArrow"),
            ("MapPartitionsRDD", "FlatMapGroupsInPandas"),
        ],
    )
    def test_without_its_metric_the_time_of_workers_is_unknown(self, rdd: tuple[str, str]) -> None:
        task = task_ended(0, 0, 1_000, metrics=task_counters(run_ms=1_000, cpu_ms=100))
        time = metrics_of_tasks(task, rdds=(rdd,)).time
        assert (time.python_worker_s, time.unattributed_s) == (None, 0.9)

    @pytest.mark.parametrize("without_metric", [0, 1])
    def test_one_stage_without_the_metric_makes_the_time_of_all_unknown(
        self, without_metric: int
    ) -> None:
        counters = task_counters(run_ms=1_000)
        metrics = metrics_of(
            *(job_started(0, 0), stage_started(0, rdds=self.UDF), stage_started(1, rdds=self.UDF)),
            task_ended(1 - without_metric, 0, 1_000, python_ms=[800], metrics=counters),
            task_ended(without_metric, 0, 1_000, metrics=counters),
            job_ended(0, 1_000),
        )
        assert (metrics.time.python_worker_s, metrics.time.unattributed_s) == (None, 2.0)

    def test_without_python_workers_take_no_time(self) -> None:
        task = task_ended(0, 0, 1_000, metrics=task_counters(run_ms=1_000))
        rdds = (("MapPartitionsRDD", "WholeStageCodegen (1)"), ("ParallelCollectionRDD", ""))
        assert metrics_of_tasks(task, rdds=rdds).time.python_worker_s == 0


class TestStages:
    def test_stragglers_come_from_the_stage_with_the_greatest_lag(self) -> None:
        """Not from the stage with the longest task, nor from that with the greatest ratio."""
        metrics = metrics_of(
            *(job_started(0, 0), stage_started(0), stage_started(1), stage_started(2)),
            *(task_ended(0, 0, ms) for ms in (1, 1, 10)),
            *(task_ended(1, 0, ms) for ms in (100, 100, 300)),
            *(task_ended(2, 0, ms) for ms in (800, 850, 900)),
            *(stage_ended(0), stage_ended(1), stage_ended(2), job_ended(0, 1_000)),
        )
        assert metrics.stragglers == Stragglers(longest_s=0.3, median_s=0.1)

    def test_failed_and_killed_tasks_are_not_stragglers(self) -> None:
        metrics = metrics_of_tasks(
            task_ended(0, 0, 100),
            task_ended(0, 0, 5_000, failed=True),
            task_ended(0, 0, 5_000, killed=True, speculative=True),
        )
        assert metrics.stragglers == Stragglers(longest_s=0.1, median_s=0.1)
        assert (metrics.failed_tasks, metrics.speculative_tasks) == (1, 1)

    def test_the_time_of_a_copy_that_ends_after_its_stage_counts(self) -> None:
        metrics = metrics_of(
            *(job_started(0, 0), stage_started(0)),
            *(task_ended(0, 0, 100), stage_ended(0), job_ended(0, 100)),
            task_ended(0, 0, 150, killed=True),
        )
        assert metrics.tasks == 2
        assert known_s(metrics.time) == pytest.approx(0.25)

    def test_a_task_that_is_resubmitted_counts_once(self) -> None:
        metrics = metrics_of_tasks(
            task_ended(0, 0, 100), task_ended(0, 0, 100, reason="Resubmitted")
        )
        assert metrics.tasks == 1
        assert known_s(metrics.time) == pytest.approx(0.1)

    def test_jobs_and_stages_from_before_the_log_do_not_count(self) -> None:
        metrics = metrics_of(
            *(job_ended(8, 500), task_ended(9, 0, 700)),
            *(job_started(0, 1_000), stage_started(0)),
            *(task_ended(0, 1_000, 1_100), stage_ended(0), job_ended(0, 1_100)),
        )
        assert (metrics.tasks, metrics.incomplete) == (1, None)


class TestSpans:
    def test_every_task_that_was_not_killed_has_its_times_since_the_start_of_the_trial(
        self,
    ) -> None:
        lines = [
            *(job_started(0, 1_000), stage_started(3, at_ms=1_050)),
            task_ended(
                3, 1_100, 1_500, task=7, fetching_result_since_ms=1_480, metrics=task_counters()
            ),
            task_ended(3, 1_200, 1_300, task=8, failed=True),
            task_ended(3, 1_200, 1_500, task=9, killed=True),
        ]
        assert read_log(lines, None, start_ms=1_000.4).spans == (
            TaskSpan(3, 7, 50, 100, 400, 20),
            TaskSpan(3, 8, 50, 200, 100, 0),
        )

    def test_of_too_many_there_are_as_many_as_show_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.eventlog.trial.MAX_TIMED_TASKS", 5)
        tasks = [task_ended(0, 0, 1) for _ in range(99)]
        assert len(read_log([stage_started(0), *tasks], None).spans) == 6


class TestCutOff:
    LOG = (
        *(job_started(0, 1_000), stage_started(0)),
        *(task_started(0), task_started(0)),
        task_ended(0, 1_000, 1_500, metrics=task_counters(run_ms=500)),
        task_ended(0, 1_000, 1_600, metrics=task_counters(run_ms=600)),
        *(stage_ended(0), job_ended(0, 1_600)),
    )

    def test_the_rest_is_used_and_the_missing_part_named(self) -> None:
        metrics = metrics_of(*self.LOG[:5])
        assert known_s(metrics.time) == 0.5
        assert metrics.stragglers == Stragglers(0.5, 0.5)
        assert metrics.incomplete == "jobs without an end: 1; tasks without an end: 1"

    def test_a_line_that_is_cut_off_is_counted(self) -> None:
        *whole, last = self.LOG
        assert metrics_of(*whole, last[:-3]).incomplete == (
            "jobs without an end: 1; lines that cannot be read: 1"
        )

    @given(st.integers(0, sum(map(len, LOG)) - 2))
    def test_metrics_are_incomplete_wherever_the_log_is_cut(self, length: int) -> None:
        kept = b"".join(self.LOG)[:length].splitlines(keepends=True)
        metrics = metrics_of(*kept)
        job_has_started = length > len(self.LOG[0])
        assert bool(metrics.incomplete) or not job_has_started
        assert known_s(metrics.time) <= 1.1


class TestGarbled:
    @pytest.mark.parametrize(
        "text",
        [
            b"\n",
            b"\xff\xfe\n",
            b'{"Event":"SparkListenerTaskEnd"\n',
            b'{"Event":"SparkListenerTaskEnd"}\n',
            b'{"Event":"SparkListenerTaskEnd","Stage ID":true,"Stage Attempt ID":0}\n',
            b'{"Event":"SparkListenerJobStart","Job ID":"0","Submission Time":1}\n',
            b'{"Event":"SparkListenerTaskStart","Stage ID":' + b"[" * 100_000 + b"\n",
            b'{"Event":"SparkListenerStageSubmitted","Stage Info":[]}\n',
            task_ended(0, 0, 5, metrics={"Executor Run Time": 5}),
            task_ended(0, 0, 5, metrics=task_counters() | {"Shuffle Read Metrics": None}),
        ],
    )
    def test_a_line_is_counted_and_changes_nothing_else(self, text: bytes) -> None:
        metrics = metrics_of(*TestCutOff.LOG[:3], text, *TestCutOff.LOG[3:])
        assert metrics.incomplete == "lines that cannot be read: 1"
        assert metrics.time == metrics_of(*TestCutOff.LOG).time

    def test_a_clock_that_was_set_back_causes_no_negative_time(self) -> None:
        task = task_ended(
            0, 5_000, 1_000, metrics=task_counters(run_ms=-7, cpu_ms=-3, fetch_wait_ms=20)
        )
        assert known_s(metrics_of_tasks(task).time) == 0


MS = st.integers(-5, 3_000)
SPENT = st.builds(
    task_counters,
    run_ms=MS,
    cpu_ms=st.floats(-1, 3_000),
    fetch_wait_ms=MS,
    shuffle_write_ms=st.floats(-1, 3_000),
    deserialization_ms=MS,
    result_ms=MS,
    gc_ms=MS,
    input_bytes=MS,
)
TASKS = st.builds(
    task_ended,
    stage=st.integers(0, 2),
    launched_ms=MS,
    finished_ms=MS,
    failed=st.booleans(),
    killed=st.booleans(),
    fetching_result_since_ms=MS,
    python_ms=st.lists(MS, max_size=2),
    metrics=st.none() | SPENT,
)


class TestAnyTask:
    @given(TASKS)
    def test_parts_are_never_negative_and_add_up_to_the_duration(self, text: bytes) -> None:
        task = parse(text)
        assert isinstance(task, TaskEnded)
        parts_ns = divide_time(task).values()
        assert all(ns >= 0 for ns in parts_ns)
        assert sum(parts_ns) == task.duration_ms * 1_000_000

    @given(SPENT, st.integers(0, 3_000))
    def test_fetch_wait_is_limited_by_the_run_time(
        self, metrics: dict[str, Any], duration_ms: int
    ) -> None:
        task = parse(task_ended(0, 0, duration_ms, metrics=metrics))
        assert isinstance(task, TaskEnded)
        reported_ms = max(0, metrics["Shuffle Read Metrics"]["Fetch Wait Time"])
        ran_ms = min(max(0, metrics["Executor Run Time"]), duration_ms)
        assert divide_time(task)["fetch_wait"] == min(reported_ms, ran_ms) * 1_000_000


class TestAnyLog:
    @given(st.lists(TASKS, max_size=12))
    def test_parts_add_up_and_are_never_negative(self, tasks: list[bytes]) -> None:
        metrics = metrics_of(
            job_started(0, 0),
            *map(stage_started, range(3)),
            *tasks,
            *map(stage_ended, range(3)),
            job_ended(0, 3_000),
        )
        infos = [json.loads(task)["Task Info"] for task in tasks]
        spans_ms = [max(0, max(0, i["Finish Time"]) - max(0, i["Launch Time"])) for i in infos]
        assert metrics.tasks == len(tasks)
        assert known_s(metrics.time) == pytest.approx(sum(spans_ms) / 1e3)
        assert all(part is not None and part >= 0 for part in vars(metrics.time).values())

    @given(st.lists(st.tuples(TASKS, st.integers(0, 400), st.binary(max_size=3)), max_size=5))
    def test_garbled_lines_cause_no_error(self, damages: list[tuple[bytes, int, bytes]]) -> None:
        damaged = [text[:at] + noise + text[at + len(noise) :] for text, at, noise in damages]
        metrics = metrics_of(job_started(0, 0), stage_started(0), *damaged)
        assert math.isfinite(known_s(metrics.time))
        assert metrics.tasks <= len(damaged)
