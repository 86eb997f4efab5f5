"""Sinks: what forces a computation or stores it, and how its answer and its plan are read afterwards."""

from __future__ import annotations  # for Python 3.8

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Callable

from pyspark.sql import Column, DataFrame, Observation

from datagen.spark import cancel_jobs_on_error, spark_errors_as_one_line, wait_for_events
from harness.base.errors import WrongAnswer
from harness.model.answer import RowsDigest, distinct
from harness.model.plan import Plan
from harness.model.run import Trial
from harness.model.task_metrics import WrittenBytes
from jobs.executors import outside_trials
from jobs.workload import Answer, Context, Workload

DATA = "data"
"""The observation of the rows that a workload reads."""
ANSWER = "answer"
"""The observation of its own rows."""


class Executions(ABC):
    """What a trial executes, ready to be forced once."""

    @abstractmethod
    def run(self) -> None:
        """Force it. Only this is timed."""

    def checked(self, trial: Trial) -> list[Trial]:
        """Return the trial with the answers that no oracle knows, and the trials of what ran within it.

        Raise WrongAnswer if an answer or a plan is wrong.
        """
        return [replace(trial, answers=distinct(self.check()))]

    @abstractmethod
    def check(self) -> list[RowsDigest]:
        """Compare answers and plans with what is right; return answers that no oracle knows.

        Raise WrongAnswer if they differ.
        """

    def plan_of(self, trial: Trial, plans: Mapping[str, Plan]) -> Plan | None:
        """Return the plan of one of the trials that `checked` returned; None if it is unknown.

        `plans` are those that Spark logged meanwhile, by their descriptions.
        """
        return plans.get(trial.job_group or "")

    def written(self) -> WrittenBytes | None:
        """Return what a frame wrote on average, and prove how it is stored; None if nothing was written."""
        return None

    def close(self) -> None:  # noqa: B027  most sinks leave nothing
        """Remove what was written."""


class Sink(Executions):
    """Frames of a workload that are ready to be forced, each once, one after the other."""

    def __init__(self, workload: Workload, context: Context, executions: int) -> None:
        self._workload = workload
        self._context = context
        self._executions = executions

    @abstractmethod
    def answers(self) -> Sequence[Answer]:
        """Return what is observed of each frame."""

    def plans(self) -> Sequence[str]:
        """Return the tree of operators that Spark executed for each frame, after all adaptive changes.

        By default these are the latest writes of the current job group. Only the status store of Spark's UI
        has them. A queue of events fills the store, and pyspark has no public way to it.
        """
        session: Any = self._context.spark
        wait_for_events(session)
        store = session._jsparkSession.sharedState().statusStore()  # noqa: SLF001
        listed = store.executionsList()
        ours = session.sparkContext.getLocalProperty("spark.job.description")
        found: list[str] = []
        for index in reversed(range(listed.size())):
            execution = listed.apply(index)
            if execution.description() == ours:
                found.insert(0, executed_tree(str(execution.physicalPlanDescription())))
            if len(found) == self._executions:
                return found
        raise WrongAnswer("Spark lost an event with an executed plan")

    def check(self) -> list[RowsDigest]:
        workload = self._workload
        context = self._context
        plans = self.plans()
        answers = self.answers()
        # If there are no rows to read, Spark may leave out any part of the plan.
        if context.totals.rows or not workload.reads_data:
            for plan in plans:
                workload.check_plan(plan)
        unknown = []
        for answer in answers:
            digest = workload.check(answer, context)
            if digest:
                unknown.append(digest)
        return unknown


class NoopSink(Sink):
    """Spark's noop data source: it computes every row and stores none."""

    def __init__(self, workload: Workload, context: Context, executions: int) -> None:
        super().__init__(workload, context, executions)
        self._observations = []
        self._writers = []
        for _ in range(executions):
            # Spark names each: of frames at once, it would mix up what is observed under one name.
            observations = {DATA: Observation(), ANSWER: Observation()}
            frame = _observed_frame(workload, context, observations)
            self._observations.append(observations)
            self._writers.append(frame.write.format("noop").mode("overwrite"))

    def run(self) -> None:
        for writer in self._writers:
            writer.save()

    def answers(self) -> list[Answer]:
        reads = bool(self._workload.observe_data(self._context))
        found: list[Answer] = []
        for observations in self._observations:
            answer = dict(observations[ANSWER].get)
            if reads:
                answer.update(observations[DATA].get)
            found.append(answer)
        return found


class StorageSink(Sink):
    """Writes the rows beside the dataset, in its format and layout, and reads them back afterwards."""

    def __init__(self, workload: Workload, context: Context, executions: int) -> None:
        assert context.destination is not None  # noqa: S101  the run has reserved it
        super().__init__(workload, context, executions)
        self._destination = context.destination
        self._destination.clear()  # says why, if an earlier trial could not
        self._numbers = self._destination.take(executions)
        self._writers = {
            self._destination.uri(number): self._destination.writer(workload.frame(context), number)
            for number in self._numbers
        }

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

    def __init__(self, workload: Workload, context: Context, executions: int) -> None:
        super().__init__(workload, context, executions)
        names = {DATA: DATA, ANSWER: ANSWER}
        self._frames = [_observed_frame(workload, context, names) for _ in range(executions)]

    def run(self) -> None:
        for frame in self._frames:
            frame.rdd.count()

    def answers(self) -> list[Answer]:
        # Listeners do not see the action of an RDD; the frame's own execution keeps the metrics.
        found: list[Answer] = []
        for frame in self._frames:
            metrics = _execution(frame).observedMetrics()
            answer = json.loads(metrics.apply(ANSWER).json())
            if metrics.contains(DATA):
                answer.update(json.loads(metrics.apply(DATA).json()))
            found.append(answer)
        return found

    def plans(self) -> list[str]:
        plans = [_execution(frame).executedPlan() for frame in self._frames]
        return [executed_tree(str(plan.toString())) for plan in plans]


def _execution(frame: Any) -> Any:
    return frame._jdf.queryExecution()  # noqa: SLF001


SinkFactory = Callable[[Workload, Context, int], Sink]
"""Creates a sink that forces a number of frames of a workload, and observes their answers meanwhile."""

SINKS: Mapping[str, SinkFactory] = {"noop": NoopSink, "rdd-count": RddCountSink}


def sink_of(workload: Workload, name: str) -> SinkFactory:
    """Return the sink with this name, or that of a workload that writes, which is always the storage."""
    if workload.writes:
        return StorageSink
    return SINKS[name]


def executed_tree(description: str) -> str:
    """Return the executed tree in the description of a plan, without the initial plan and details."""
    return description.partition("== Initial Plan ==")[0].partition("\n\n")[0]


def _observed_frame(
    workload: Workload, context: Context, observations: Mapping[str, Any]
) -> DataFrame:
    """Return the frame of a workload with what is to be observed of its rows, and of those that it reads.

    `observations` are Spark's Observations, or names.
    """
    on_data = workload.observe_data(context)
    if on_data:
        data = context.data.observe(observations[DATA], *_aliased(on_data))
        context = replace(context, data=data)
    answer = _aliased(workload.observe(context))
    return workload.frame(context).observe(observations[ANSWER], *answer)


def _aliased(columns: Mapping[str, Column]) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]
