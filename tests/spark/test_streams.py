"""Several streams: the same workloads at the same time, in one application."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness.base.errors import WrongAnswer
from harness.base.interrupt import interruptible
from harness.model.run import Proof, RecordedRun, Status
from harness.records.reader import load
from harness.work.queries import QueryText
from jobs.configuration_side import build_context
from jobs.measuring import benchmark
from jobs.options import parse
from jobs.proofs import Proofs
from jobs.queries import queries_of
from jobs.sinks import Checked, CountsByDescription, Executions
from jobs.streams import Streams, StreamsExecutions, in_streams
from jobs.workload import Context, Workload, select_workloads
from jobs.workloads import supersteps
from tests.unit.builders import known, ok
from tests.waiting import PATIENCE_S, eventually

STREAMS = 3
QUERIES = {
    "sums": "SELECT id % 3 AS k, sum(id * 0.1D) AS s FROM range(0, 900, 1, 3) GROUP BY k",
    "counts": "SELECT id % 5 AS k, count(*) AS n FROM range(0, 900, 1, 3) GROUP BY k",
    "wrong": "SELECT raise_error(concat('row ', id)) AS e FROM range(9)",
    "unknown": "SELECT no_such_column FROM range(9)",
    "endless": "SELECT count(*) AS n FROM range(1000000000000000) WHERE xxhash64(id) = 1",
}
RunStreams = Callable[..., RecordedRun]


@pytest.fixture
def run_streams(spark: SparkSession, tmp_path: Path) -> RunStreams:
    """A function that runs workloads, two rounds in three streams, and returns what is recorded."""

    def run_streams(*names: str, code: int = 0) -> RecordedRun:
        for name, text in QUERIES.items():
            (tmp_path / f"{name}.sql").write_text(text)
        arguments = [f"--sql={tmp_path}", f"--workloads={','.join(names)}", "--pi-samples=1000"]
        arguments += [f"--streams={STREAMS}", "--trials=2", "--warmup=0", f"--results={tmp_path}"]
        assert benchmark(spark, parse(arguments)) == code
        [file] = (tmp_path / "default").glob("*.jsonl")
        return load(file)

    return run_streams


def ready(spark: SparkSession, *names: str) -> StreamsExecutions:
    """Return queries that are ready to be forced in three streams."""
    queries = queries_of({name: QueryText(Path(f"{name}.sql"), QUERIES[name]) for name in names})
    selection = in_streams(select_workloads(names, queries), STREAMS)
    spark.sparkContext.setJobGroup("all", "all")
    context = build_context(spark, None, parse(["--trials=1"]))
    return StreamsExecutions(
        Streams(selection, "seed"), "noop", context, 1, proving=True, proofs=Proofs(names)
    )


def test_a_trial_of_all_streams_and_one_of_each_workload_are_recorded(
    spark: SparkSession, run_streams: RunStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supersteps, "SUPERSTEPS", 3)  # it checks its plan
    recorded = run_streams("sums", "supersteps", "calc-pi-dataframe")
    parameters = recorded.run.parameters
    assert (parameters["streams"], parameters["in_streams"]) == (STREAMS, ["sums", "supersteps"])
    assert recorded.run.workloads == ("streams-3", "sums", "supersteps", "calc-pi-dataframe")
    trials = recorded.by_workload
    proven = dict.fromkeys(("streams-3", "sums", "supersteps"), 3)  # of `sums`, by a proof round
    assert {name: len(own) for name, own in trials.items()} == {**proven, "calc-pi-dataframe": 2}
    assert [trial.proof for trial in trials["sums"]] == [Proof.ROW_COUNT] * 2 + [Proof.EVERY_ROW]
    assert [trial.counts for trial in trials["streams-3"]] == [True, True, False]
    for whole, part in zip(trials["streams-3"], trials["sums"], strict=True):
        assert known(whole.tasks).tasks > STREAMS * 3  # of the first stage of `sums` alone
        assert (part.tasks, part.timeline, part.wire) == (None, None, None)
        assert known(part.wall_s) < known(whole.wall_s)
        assert [answer.rows for answer in part.answers] == [3]
        assert whole.plan is None
    plans = [recorded.plans[known(trial.plan).digest] for trial in trials["sums"]]
    assert all(plan.operators[-1].name == "Range" for plan in plans)
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup
    groups = [f"streams-3 measured 2, stream {n}: sums" for n in range(1, STREAMS + 1)]
    assert all(map(jobs, groups))


def test_a_query_that_fails_fails_its_trial_and_that_of_all_and_others_go_on(
    run_streams: RunStreams,
) -> None:
    recorded = run_streams("wrong", "unknown", "sums", code=1)
    trials = recorded.by_workload
    assert {trial.status for trial in trials["sums"]} == {Status.OK}
    assert "row " in known(trials["wrong"][0].error)
    assert "no_such_column" in known(trials["unknown"][0].error)
    assert [trial.error for trial in trials["streams-3"]] == [
        "ClusterliftError: unknown, wrong failed"
    ] * 3


def test_streams_run_at_the_same_time_each_in_its_own_pool(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    meeting, seen = threading.Barrier(STREAMS), set[tuple[str, str | None]]()

    class Meeting(Executions):
        """A sink that needs all streams to be there; of one stream, the answer is wrong."""

        def __init__(
            self,
            _name: str,
            workload: Workload,
            context: Context,
            _executions: int,
            *,
            proving: bool,
        ) -> None:
            assert proving

            self._name, self._context = workload.name, context.spark.sparkContext
            self._group = self._context.getLocalProperty("spark.jobGroup.id")

        def run(self) -> None:
            meeting.wait(PATIENCE_S)
            seen.add((self._name, self._context.getLocalProperty("spark.scheduler.pool")))
            assert self._context.getLocalProperty("spark.jobGroup.id") == self._group

        def check(self, _counts: CountsByDescription) -> Checked:
            if self._group == "all, stream 2: sums":
                raise WrongAnswer("3 is not 4")
            return Checked(Proof.EVERY_ROW)

    monkeypatch.setattr("jobs.streams.new_sink", Meeting)
    sink = ready(spark, "sums", "counts")
    sink.run()
    assert seen == {(w, f"stream {n}") for w in ("sums", "counts") for n in (1, 2, 3)}
    whole, *parts_in_order = sink.trials(ok("streams-3", 1.0), {}, {})
    assert whole.error == "ClusterliftError: sums failed"
    parts = {part.workload: part for part in parts_in_order}
    assert parts["sums"].error == "WrongAnswer: 3 is not 4"
    assert parts["counts"].status is Status.OK


def test_an_interrupt_ends_all_streams(spark: SparkSession) -> None:
    sink = ready(spark, "endless", "sums")
    tracker = spark.sparkContext.statusTracker()

    def interrupt() -> None:
        try:
            eventually(lambda: len(tracker.getActiveJobsIds()) == STREAMS)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt), interruptible():
        sink.run()
    interrupting.join()
    eventually(lambda: not tracker.getActiveJobsIds(), "jobs of streams go on")
