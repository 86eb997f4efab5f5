"""Sinks: what forces a computation or stores it, and how its answer and its plan are read afterwards."""

from __future__ import annotations  # for Python 3.8

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Callable, TypeVar

from pyspark.sql import Column, DataFrame, Observation

from datagen.spark import cancel_jobs_on_error, spark_errors_as_one_line, wait_for_events
from harness.base.errors import WrongAnswer
from harness.model.answer import RowsDigest, distinct
from harness.model.run import Trial
from harness.model.task_metrics import WrittenBytes
from jobs.executors import outside_trials
from jobs.workload import Answer, Context, Workload

T = TypeVar("T", str, Observation)

DATA, ANSWER = "data", "answer"
"""The observations of a workload: of the rows that it reads, and of its own rows."""


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

    def written(self) -> WrittenBytes | None:
        """Return what was written, averaged over the frames, and prove how it is stored; None of no files."""
        return None

    def close(self) -> None:  # noqa: B027  most sinks leave nothing
        """Remove what was written."""


class Sink(Executions):
    """Frames of a workload that are ready to be forced, each once, one after the other."""

    def __init__(self, workload: Workload, context: Context) -> None:
        self._workload, self._context = workload, context

    @abstractmethod
    def answers(self) -> Sequence[Answer]:
        """Return what is observed of each frame."""

    @abstractmethod
    def plans(self) -> Sequence[str]:
        """Return the tree of operators that Spark executed for each frame, after all adaptive changes."""

    def check(self) -> list[RowsDigest]:
        workload, context = self._workload, self._context
        plans, answers = self.plans(), self.answers()
        # If there are no rows to read, Spark may leave out any part of the plan.
        if context.totals.rows or not workload.reads_data:
            for plan in plans:
                workload.check_plan(plan)
        return [found for each in answers if (found := workload.check(each, context))]


class NoopSink(Sink):
    """Spark's noop data source: it computes every row and stores none."""

    def __init__(self, workload: Workload, context: Context, executions: int) -> None:
        super().__init__(workload, context)
        self._observations = []
        self._writers = []
        for _ in range(executions):
            # Spark names each: of frames at once, it would mix up what is observed under one name.
            named = {name: Observation() for name in (DATA, ANSWER)}
            observed, observations = _observed_frame(workload, context, named)
            self._observations.append(observations.values())
            self._writers.append(observed.write.format("noop").mode("overwrite"))

    def run(self) -> None:
        for writer in self._writers:
            writer.save()

    def answers(self) -> list[Answer]:
        return [
            {name: value for observation in each for name, value in observation.get.items()}
            for each in self._observations
        ]

    def plans(self) -> list[str]:
        return _plans_of_writes(self._context.spark, len(self._writers))


class StorageSink(Sink):
    """Writes the rows beside the dataset, in its format and layout, and reads them back afterwards."""

    def __init__(self, workload: Workload, context: Context, executions: int) -> None:
        assert context.destination is not None  # noqa: S101  the run has reserved it
        super().__init__(workload, context)
        self._destination = destination = context.destination
        destination.clear()  # says why, if an earlier trial could not
        self._numbers = destination.take(executions)
        self._writers = [
            (destination.writer(workload.frame(context), number), destination.uri(number))
            for number in self._numbers
        ]

    def run(self) -> None:
        with cancel_jobs_on_error(self._context.spark):
            for writer, uri in self._writers:
                with spark_errors_as_one_line(f"writing to {uri}"):
                    writer.save(uri)

    def written(self) -> WrittenBytes:
        return WrittenBytes.average([self._destination.prove(number) for number in self._numbers])

    def answers(self) -> list[Answer]:
        workload, context = self._workload, self._context
        columns = _aliased(workload.observe(context))
        rows = (workload.read_back(self._destination.rows(n), context) for n in self._numbers)
        with outside_trials(self._context.spark):
            return [each.agg(*columns).collect()[0].asDict() for each in rows]

    def plans(self) -> list[str]:
        return _plans_of_writes(self._context.spark, len(self._writers))

    def close(self) -> None:
        self._destination.clear()


def _plans_of_writes(session: Any, number: int) -> list[str]:
    """Return the executed plans of the latest writes of the current job group, so many.

    Only the status store of Spark's UI has them. A queue of events fills the store, and pyspark has no public
    way to it.
    """
    wait_for_events(session)
    store = session._jsparkSession.sharedState().statusStore()  # noqa: SLF001
    listed = store.executionsList()
    ours = session.sparkContext.getLocalProperty("spark.job.description")
    newest_first = map(listed.apply, reversed(range(listed.size())))
    found = list(islice((each for each in newest_first if each.description() == ours), number))
    if len(found) < number:
        raise WrongAnswer("Spark lost an event with an executed plan")
    return [executed_tree(str(each.physicalPlanDescription())) for each in reversed(found)]


class RddCountSink(Sink):
    """Converts every row to a Python object and counts the objects, as the benchmark of 2020 did."""

    def __init__(self, workload: Workload, context: Context, executions: int) -> None:
        super().__init__(workload, context)
        names = {name: name for name in (DATA, ANSWER)}
        self._frames = []
        for _ in range(executions):
            frame, self._names = _observed_frame(workload, context, names)
            self._frames.append(frame)

    def run(self) -> None:
        for frame in self._frames:
            frame.rdd.count()

    def answers(self) -> list[Answer]:
        # Listeners do not see the action of an RDD; the frame's own execution keeps the metrics.
        metrics = [_execution(frame).observedMetrics() for frame in self._frames]
        return [
            {
                name: value
                for observation in self._names
                for name, value in json.loads(each.apply(observation).json()).items()
            }
            for each in metrics
        ]

    def plans(self) -> list[str]:
        return [executed_tree(str(_execution(f).executedPlan().toString())) for f in self._frames]


def _execution(frame: Any) -> Any:
    return frame._jdf.queryExecution()  # noqa: SLF001


SinkFactory = Callable[[Workload, Context, int], Sink]
"""Creates a sink that forces a number of frames of a workload, and observes their answers meanwhile."""

SINKS: Mapping[str, SinkFactory] = {"noop": NoopSink, "rdd-count": RddCountSink}


def sink_of(workload: Workload, name: str) -> SinkFactory:
    """Return the sink with this name, or that of a workload that writes, which is always the storage."""
    return StorageSink if workload.writes else SINKS[name]


def executed_tree(description: str) -> str:
    """Return the executed tree in the description of a plan, without the initial plan and details."""
    return description.partition("== Initial Plan ==")[0].partition("\n\n")[0]


def _observed_frame(
    workload: Workload, context: Context, observations: Mapping[str, T]
) -> tuple[DataFrame, Mapping[str, T]]:
    """Return the frame of a workload and its observations."""
    if on_data := workload.observe_data(context):
        data = context.data.observe(observations[DATA], *_aliased(on_data))
        context = replace(context, data=data)
    answer = _aliased(workload.observe(context))
    observed = workload.frame(context).observe(observations[ANSWER], *answer)
    return observed, {name: o for name, o in observations.items() if name == ANSWER or on_data}


def _aliased(columns: Mapping[str, Column]) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]
