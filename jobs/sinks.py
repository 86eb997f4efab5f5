"""What forces a computation, and what can be learnt from it afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from pyspark.sql import Column, DataFrame, Observation

from harness.model.errors import WrongAnswer
from jobs.workload import Answer

EVENTS_WAIT_MS = 10 * 60 * 1000


class Forced(Protocol):
    """A frame that is ready to be forced, once."""

    def run(self) -> None:
        """Force it. This is what is timed."""

    def answer(self) -> Answer:
        """What was observed while it ran."""

    def plan(self) -> str:
        """The tree of operators that Spark executed, after all adaptive changes."""


def named(columns: Mapping[str, Column]) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]


def executed_tree(description: str) -> str:
    """Of a plan's description, the tree that was executed: no initial plan, no details."""
    return description.partition("== Initial Plan ==")[0].partition("\n\n")[0]


class NoopSink:
    """Spark's noop data source: every row is computed and none goes anywhere."""

    def __init__(self, frame: DataFrame, observe: Mapping[str, Column]) -> None:
        self._observation = Observation()
        self._spark = frame.sparkSession
        observed = frame.observe(self._observation, *named(observe))
        self._writer = observed.write.format("noop").mode("overwrite")

    def run(self) -> None:
        self._writer.save()

    def answer(self) -> Answer:
        return self._observation.get

    def plan(self) -> str:
        # The executed plan of a write is nowhere but in the status store that the UI reads, which
        # is filled by a queue of events. pyspark has no public way to it.
        session: Any = self._spark
        context = session.sparkContext
        context._jsc.sc().listenerBus().waitUntilEmpty(EVENTS_WAIT_MS)  # noqa: SLF001
        store = session._jsparkSession.sharedState().statusStore()  # noqa: SLF001
        latest = store.executionsList().last()
        if latest.description() != context.getLocalProperty("spark.job.description"):
            raise WrongAnswer("Spark lost the event that tells the executed plan")
        return executed_tree(str(latest.physicalPlanDescription()))


class RddCountSink:
    """What the benchmark of 2020 did: turn every row into a Python object, and count them."""

    def __init__(self, frame: DataFrame, observe: Mapping[str, Column]) -> None:
        self._frame = frame.observe("answer", *named(observe))

    def run(self) -> None:
        self._frame.rdd.count()

    def answer(self) -> Answer:
        # No listener hears of an RDD's action; the metrics lie with the frame's own execution.
        metrics = self._execution().observedMetrics().apply("answer")
        found: Answer = json.loads(metrics.json())
        return found

    def plan(self) -> str:
        return executed_tree(str(self._execution().executedPlan().toString()))

    def _execution(self) -> Any:
        frame: Any = self._frame
        return frame._jdf.queryExecution()  # noqa: SLF001


SINKS: dict[str, type[NoopSink | RddCountSink]] = {"noop": NoopSink, "rdd-count": RddCountSink}
