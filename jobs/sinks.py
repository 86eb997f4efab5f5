"""Sinks: what forces a computation, and how its answer and its plan are read afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from pyspark.sql import Column, DataFrame, Observation

from datagen.spark import scala_context
from harness.model.errors import WrongAnswer
from jobs.workload import Answer, Context, Workload

T = TypeVar("T", str, Observation)

EVENTS_WAIT_MS = 10 * 60 * 1000
DATA, ANSWER = "data", "answer"
"""What is observed of a workload: the rows that it reads, and its own rows."""


class Sink(Protocol):
    """A frame that is ready to be forced, once."""

    def run(self) -> None:
        """Force the computation. Only this is timed."""

    def answer(self) -> Answer:
        """Return what was observed during `run`."""

    def plan(self) -> str:
        """Return the tree of operators that Spark executed, after all adaptive changes."""


class NoopSink:
    """Spark's noop data source: it computes every row and stores none."""

    def __init__(self, workload: Workload, context: Context) -> None:
        self._spark = context.spark
        observations = {name: Observation(name) for name in (DATA, ANSWER)}
        observed, self._observations = _observed_frame(workload, context, observations)
        self._writer = observed.write.format("noop").mode("overwrite")

    def run(self) -> None:
        self._writer.save()

    def answer(self) -> Answer:
        return {
            name: value
            for observation in self._observations.values()
            for name, value in observation.get.items()
        }

    def plan(self) -> str:
        # Only the status store of Spark's UI has the executed plan of a write. A queue of events fills
        # the store, and pyspark has no public way to it.
        session: Any = self._spark
        scala_context(session).listenerBus().waitUntilEmpty(EVENTS_WAIT_MS)
        store = session._jsparkSession.sharedState().statusStore()  # noqa: SLF001
        latest = store.executionsList().last()
        if latest.description() != session.sparkContext.getLocalProperty("spark.job.description"):
            raise WrongAnswer("Spark lost the event with the executed plan")
        return executed_tree(str(latest.physicalPlanDescription()))


class RddCountSink:
    """What the benchmark of 2020 did: convert every row to a Python object, and count the objects."""

    def __init__(self, workload: Workload, context: Context) -> None:
        names = {name: name for name in (DATA, ANSWER)}
        self._frame, self._names = _observed_frame(workload, context, names)

    def run(self) -> None:
        self._frame.rdd.count()

    def answer(self) -> Answer:
        # Listeners do not see the action of an RDD; the frame's own execution keeps the metrics.
        metrics = self._execution().observedMetrics()
        return {
            name: value
            for observation in self._names
            for name, value in json.loads(metrics.apply(observation).json()).items()
        }

    def plan(self) -> str:
        return executed_tree(str(self._execution().executedPlan().toString()))

    def _execution(self) -> Any:
        frame: Any = self._frame
        return frame._jdf.queryExecution()  # noqa: SLF001


SinkFactory = Callable[[Workload, Context], Sink]
"""Creates a sink that forces the frame of a workload, and observes its answer meanwhile."""

SINKS: Mapping[str, SinkFactory] = {"noop": NoopSink, "rdd-count": RddCountSink}


def executed_tree(description: str) -> str:
    """Return the executed tree in the description of a plan, without the initial plan and details."""
    return description.partition("== Initial Plan ==")[0].partition("\n\n")[0]


def _observed_frame(
    workload: Workload, context: Context, observations: Mapping[str, T]
) -> tuple[DataFrame, Mapping[str, T]]:
    """Return the frame of a workload, and those of the observations that are part of it."""
    if on_data := workload.observe_data(context):
        data = context.data.observe(observations[DATA], *_aliased(on_data))
        context = replace(context, data=data)
    answer = _aliased(workload.observe(context))
    observed = workload.frame(context).observe(observations[ANSWER], *answer)
    return observed, {name: o for name, o in observations.items() if name == ANSWER or on_data}


def _aliased(columns: Mapping[str, Column]) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]
