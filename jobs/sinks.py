"""Sinks: what forces a computation or stores it, and how its answer and its plan are read afterwards."""

from __future__ import annotations  # for Python 3.8

import json
import time
from abc import ABC, abstractmethod
from concurrent.futures import Future, wait
from dataclasses import replace
from threading import Thread
from typing import Any, Mapping, NamedTuple, Sequence

from pyspark.sql import Column, DataFrame, Observation

from datagen.spark import cancel_jobs_on_error, spark_errors_as_one_line, wait_for_events
from harness.base.errors import WrongAnswer
from harness.eventlog.row_counts import RowCounts
from harness.model.answer import RowsDigest, distinct
from harness.model.plan import Plan
from harness.model.run import Proof, Trial
from harness.model.task_metrics import WrittenBytes
from jobs.executors import outside_trials
from jobs.workload import Answer, Context, Workload, expect

DATA = "data"
"""The observation of the rows that a workload reads."""
ANSWER = "answer"
"""The observation of its own rows."""
EVENT_WAIT_S = 10.0
_DROPPED = "Spark left out the observation of the answer, which is not known"


CountsByDescription = Mapping[str, Sequence[RowCounts]]
"""What Spark counted in executions of SQL, by their description, which is their job group."""
UNKNOWN = RowCounts(None)


class Checked(NamedTuple):
    """What was proven of an answer, and the answers that no oracle knows."""

    proof: Proof
    answers: Sequence[RowsDigest] = ()


class Executions(ABC):
    """What a trial executes, ready to be forced once."""

    @abstractmethod
    def run(self) -> None:
        """Force it. Only this is timed."""

    def trials(
        self, trial: Trial, counts: CountsByDescription, plans: Mapping[str, Plan]
    ) -> list[Trial]:
        """Return this trial with its proof, its plan and the answers that no oracle knows.

        For streams, a trial of each workload follows.

        `counts` has what Spark counted meanwhile, and `plans` the plans that it logged, by the description of
        the execution. Raise WrongAnswer if an answer or a plan is wrong.
        """
        checked = self.check(counts)
        plan = plans.get(trial.job_group or "")
        return [replace(trial, answers=distinct(checked.answers), proof=checked.proof, plan=plan)]

    @abstractmethod
    def check(self, counts: CountsByDescription) -> Checked:
        """Compare answers, numbers of rows and plans with what is right. Raise WrongAnswer if they differ."""

    def wrong_answers(self) -> Mapping[str, str]:
        """Return what is wrong with the answer of each workload that does not fail the others."""
        return {}

    def written(self) -> WrittenBytes | None:
        """Return what a frame wrote on average, and prove how it is stored; None if nothing was written."""
        return None

    def close(self) -> None:  # noqa: B027  most sinks leave nothing
        """Remove what was written."""


class Sink(Executions):
    """Frames of a workload that are ready to be forced, each once, one after the other.

    If it is `proving`, every row of them is observed. Else only the rows of a workload with `few_rows` are.
    """

    def __init__(
        self, workload: Workload, context: Context, executions: int, *, proving: bool
    ) -> None:
        self._workload = workload
        self._context = context
        self._executions = executions
        self._proving = proving
        # What runs in an execution may describe jobs of its own, as Hudi does when it lists files.
        local_property = context.spark.sparkContext.getLocalProperty
        self._description = str(local_property("spark.job.description"))

    @abstractmethod
    def answers(self) -> Sequence[Answer]:
        """Return what was observed of each frame."""

    def counts(self, by_description: CountsByDescription) -> Sequence[RowCounts]:
        """Return what Spark counted in the execution of each frame, which are the latest of the job group."""
        own = by_description.get(self._description, ())
        if len(own) < self._executions:
            return [UNKNOWN] * self._executions
        return own[-self._executions :]

    @property
    def _observes_answer(self) -> bool:
        return self._proving or self._workload.few_rows

    def _names_to_observe(self) -> list[str]:
        """Return what is observed of a frame: its own rows, the rows that it reads, or nothing."""
        found = []
        if self._proving and self._workload.observe_data(self._context):
            found.append(DATA)
        if self._observes_answer:
            found.append(ANSWER)
        return found

    def _frame(self, observations: Mapping[str, Any]) -> DataFrame:
        """Return a frame of the workload with these observations: Spark's Observations, or names."""
        workload = self._workload
        context = self._context
        if DATA in observations:
            on_data = _aliased(workload.observe_data(context))
            context = replace(context, data=context.data.observe(observations[DATA], *on_data))
        frame = workload.frame(context)
        if ANSWER in observations:
            frame = frame.observe(observations[ANSWER], *_aliased(workload.observe(context)))
        return frame

    def plans(self) -> Sequence[str]:
        """Return the tree of operators that Spark executed for each frame, after all adaptive changes.

        By default these are the latest writes of the current job group. Only the status store of Spark's UI
        has them. A queue of events fills the store, and pyspark has no public way to it.
        """
        wait_for_events(self._context.spark)
        deadline = time.monotonic() + EVENT_WAIT_S
        while time.monotonic() < deadline:
            found = self._stored_plans()
            if len(found) == self._executions:
                return found
            time.sleep(0.01)
        raise WrongAnswer("Spark lost an event with an executed plan")

    def _stored_plans(self) -> list[str]:
        """Return the plans of the frames that Spark has stored as final.

        It stores the final plan together with the metrics, a moment after all listeners know that the
        execution has ended.
        """
        session: Any = self._context.spark
        store = session._jsparkSession.sharedState().statusStore()  # noqa: SLF001
        listed = store.executionsList()
        found: list[str] = []
        for index in reversed(range(listed.size())):
            execution = listed.apply(index)
            if execution.description() != self._description:
                continue
            if execution.metricValues() is None:
                return []
            found.insert(0, executed_tree(str(execution.physicalPlanDescription())))
            if len(found) == self._executions:
                break
        return found

    def check(self, counts: CountsByDescription) -> Checked:
        workload = self._workload
        context = self._context
        # If there are no rows to read, Spark may leave out any part of the plan.
        if context.totals.rows or not workload.reads_data:
            for plan in self.plans():
                workload.check_plan(plan)
        counted = self.counts(counts)
        for each in counted:
            self._check_counts(each)
        unknown = list(map(self._check_answer, self.answers()))
        if not self._observes_answer and workload.rows(context) is None:
            unknown = [each.answer for each in counted]
        return Checked(self._proof(counted), list(filter(None, unknown)))

    def _check_counts(self, counted: RowCounts) -> None:
        """Raise WrongAnswer if Spark counted another number of rows than the workload returns or reads."""
        rows = self._workload.rows(self._context)
        if None not in (rows, counted.returned):
            expect("the number of rows by Spark's metrics", counted.returned, rows)
        rows = self._context.totals.rows
        if self._workload.reads_data and rows:
            for scanned in counted.scanned:
                if scanned is not None:
                    expect("the number of rows that Spark read", scanned, rows)

    def _check_answer(self, answer: Answer) -> RowsDigest | None:
        """Return the answer if no oracle knows it. Raise WrongAnswer if it is wrong."""
        workload = self._workload
        if self._proving and workload.observe_data(self._context):
            workload.check_data(answer, self._context)
        return workload.check(answer, self._context)

    def _proof(self, counted: Sequence[RowCounts]) -> Proof:
        """Return what the checks, which have passed, have proven."""
        workload = self._workload
        if self._proving or (workload.few_rows and not workload.observe_data(self._context)):
            return Proof.EVERY_ROW
        if workload.few_rows:
            return Proof.ITS_RESULT
        if any(each.returned is None for each in counted):
            return Proof.NOTHING
        return Proof.ROW_COUNT


class NoopSink(Sink):
    """Spark's noop data source: it computes every row and stores none."""

    def __init__(
        self, workload: Workload, context: Context, executions: int, *, proving: bool
    ) -> None:
        super().__init__(workload, context, executions, proving=proving)
        self._observations: list[Mapping[str, Observation]] = []
        self._writers = []
        for _ in range(executions):
            # Spark names each: of frames at once, it would mix up what is observed under one name.
            observations = {name: Observation() for name in self._names_to_observe()}
            self._observations.append(observations)
            frame = self._frame(observations)
            self._writers.append(frame.write.format("noop").mode("overwrite"))

    def run(self) -> None:
        for writer in self._writers:
            writer.save()

    def answers(self) -> list[Answer]:
        wait_for_events(self._context.spark)
        found: list[Answer] = []
        for observations in filter(None, self._observations):
            answer: dict[str, Any] = {}
            for observation in observations.values():
                answer.update(_values_of(observation))
            found.append(answer)
        return found


class StorageSink(Sink):
    """Writes the rows beside the dataset, in its format and layout, and reads them back afterwards.

    So every trial proves every row, outside its time.
    """

    def __init__(
        self, workload: Workload, context: Context, executions: int, *, proving: bool
    ) -> None:
        assert context.destination is not None  # noqa: S101  the run has reserved it
        super().__init__(workload, context, executions, proving=True)
        self._destination = context.destination
        self._destination.clear()  # says why, if an earlier trial could not
        self._numbers = self._destination.take(executions)
        writers = {}
        for number in self._numbers:
            frame = workload.frame(context)
            writers[self._destination.uri(number)] = self._destination.new_writer(frame, number)
        self._writers = writers

    def run(self) -> None:
        with cancel_jobs_on_error(self._context.spark):
            for uri, writer in self._writers.items():
                with spark_errors_as_one_line(f"writing to {uri}"):
                    writer.save(uri)

    def written(self) -> WrittenBytes:
        return WrittenBytes.average([self._destination.prove(number) for number in self._numbers])

    def answers(self) -> list[Answer]:
        columns = _aliased(self._workload.observe(self._context))
        found: list[Answer] = []
        with outside_trials(self._context.spark):
            for number in self._numbers:
                written = self._destination.rows(number)
                rows = self._workload.read_back(written, self._context)
                found.append(rows.agg(*columns).collect()[0].asDict())
        return found

    def close(self) -> None:
        self._destination.clear()


class RddCountSink(Sink):
    """Converts every row to a Python object and counts the objects, as the benchmark of 2020 did."""

    def __init__(
        self, workload: Workload, context: Context, executions: int, *, proving: bool
    ) -> None:
        super().__init__(workload, context, executions, proving=proving)
        self._names = {name: name for name in self._names_to_observe()}
        self._frames = [self._frame(self._names) for _ in range(executions)]
        self._counted: list[int] = []

    def run(self) -> None:
        for frame in self._frames:
            self._counted.append(frame.rdd.count())

    def counts(self, by_description: CountsByDescription) -> Sequence[RowCounts]:
        """Return what the actions returned: they are no executions of SQL."""
        return [RowCounts(count) for count in self._counted]

    def answers(self) -> list[Answer]:
        # Listeners do not see the action of an RDD; the frame's own execution keeps the metrics.
        if not self._names:
            return []
        found: list[Answer] = []
        for frame in self._frames:
            metrics = _execution(frame).observedMetrics()
            answer: dict[str, Any] = {}
            for name in self._names:
                if not metrics.contains(name):
                    raise WrongAnswer(_DROPPED)
                answer.update(json.loads(metrics.apply(name).json()))
            found.append(answer)
        return found

    def plans(self) -> list[str]:
        plans = [_execution(frame).executedPlan() for frame in self._frames]
        return [executed_tree(str(plan.toString())) for plan in plans]


def _execution(frame: Any) -> Any:
    return frame._jdf.queryExecution()  # noqa: SLF001


SINKS: Mapping[str, type[Sink]] = {"noop": NoopSink, "rdd-count": RddCountSink}


def new_sink(
    name: str, workload: Workload, context: Context, executions: int, *, proving: bool
) -> Sink:
    """Return a sink with this name for a number of frames. What writes has always that of the storage."""
    kind = StorageSink if workload.writes else SINKS[name]
    return kind(workload, context, executions, proving=proving)


def executed_tree(description: str) -> str:
    """Return the executed tree in the description of a plan, without the initial plan and details."""
    return description.partition("== Initial Plan ==")[0].partition("\n\n")[0]


def _values_of(observation: Observation) -> Mapping[str, Any]:
    """Return what Spark observed. Raise WrongAnswer if it has left out the observation.

    Call it when all events have been received. Spark itself would wait for ever for an observation that it
    left out.
    """
    values: Future[Mapping[str, Any]] = Future()

    def receive() -> None:
        try:
            values.set_result(observation.get)
        except Exception as error:  # noqa: BLE001  it is raised below
            values.set_exception(error)

    Thread(target=receive, daemon=True).start()
    wait([values], EVENT_WAIT_S)
    if not values.done() or not values.result():
        raise WrongAnswer(_DROPPED)
    return values.result()


def _aliased(columns: Mapping[str, Column]) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]
