"""Sinks: what forces a computation, and how its answer and its plan are read afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from pyspark.sql import Column, DataFrame, Observation

from datagen.spark import scala_context
from harness.model.errors import WrongAnswer
from jobs.workload import Answer

EVENTS_WAIT_MS = 10 * 60 * 1000


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

    def __init__(self, frame: DataFrame, observe: Mapping[str, Column]) -> None:
        self._observation = Observation()
        self._spark = frame.sparkSession
        observed = frame.observe(self._observation, *_aliased(observe))
        self._writer = observed.write.format("noop").mode("overwrite")

    def run(self) -> None:
        self._writer.save()

    def answer(self) -> Answer:
        return self._observation.get

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

    def __init__(self, frame: DataFrame, observe: Mapping[str, Column]) -> None:
        self._frame = frame.observe("answer", *_aliased(observe))

    def run(self) -> None:
        self._frame.rdd.count()

    def answer(self) -> Answer:
        # Listeners do not see the action of an RDD; the frame's own execution keeps the metrics.
        metrics = self._execution().observedMetrics().apply("answer")
        answer: Answer = json.loads(metrics.json())
        return answer

    def plan(self) -> str:
        return executed_tree(str(self._execution().executedPlan().toString()))

    def _execution(self) -> Any:
        frame: Any = self._frame
        return frame._jdf.queryExecution()  # noqa: SLF001


SinkFactory = Callable[[DataFrame, Mapping[str, Column]], Sink]
"""Creates a sink from a frame and the aggregates to observe over its rows."""

SINKS: Mapping[str, SinkFactory] = {"noop": NoopSink, "rdd-count": RddCountSink}


def executed_tree(description: str) -> str:
    """Return the executed tree in the description of a plan, without the initial plan and details."""
    return description.partition("== Initial Plan ==")[0].partition("\n\n")[0]


def _aliased(columns: Mapping[str, Column]) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]
