"""The stacks of all tasks of a trial: every executor's node asks its own virtual machine."""

from __future__ import annotations  # for Python 3.8

import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from datagen.spark import executor_hosts, is_local, java_packages
from harness.model.profile import Profile, Seen, SeenTask, Stack, TaskSpan
from harness.node import stacks
from harness.node.processes import jvm_of
from jobs.executors import ExecutorAnswers, last_own_stage, run_on_executors

NO_ANSWER = "it did not run the task that asks for its stacks"
TOO_SHORT = "the trial was too short for two dumps"


class StackProfiler:
    """Asks every executor for the stacks of its tasks, from its creation to `stop`. No trial runs before."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._hosts = executor_hosts(spark)
        start = partial(_start, inspect.getsource(stacks), own_jvm(spark))
        started = _on_executors(spark, self._hosts, start)
        self._started = started.found
        self._silent = started.silent
        self._answers: Mapping[str, Mapping[str, Any]] = {}
        # The trial's stages come after the job that starts the profiler and before the job that stops it.
        self._after = last_own_stage(spark)
        self._before = math.inf

    def stop(self) -> None:
        """Stop asking."""
        stop = partial(_stop, list(self._started.values()), own_jvm(self._spark))
        stopped = _on_executors(self._spark, self._hosts, stop)
        self._answers = stopped.found
        self._silent = {**stopped.silent, **self._silent}
        if not is_local(self._spark):
            self._before = last_own_stage(self._spark)

    def profile(self, spans: Sequence[TaskSpan]) -> Profile | None:
        """Return where the tasks were; None if no stack was seen. `spans` are all tasks of the event log."""
        seen: dict[tuple[int, int], Seen] = {}
        dumps = 0
        seconds = 0.0
        for answer in self._answers.values():
            for stage, task, where in _tasks(answer):
                if self._after < stage < self._before:
                    seen[stage, task] = where
            if answer.get("dumps", 0) > 1:
                dumps += answer["dumps"] - 1
                seconds += answer["seconds"]
        if not seen or not dumps:
            return None
        span_of = {(span.stage, span.task): span for span in spans}
        tasks: list[SeenTask] = []
        for stage, task in {**seen, **span_of}:
            where = seen.get((stage, task), {})
            tasks.append(SeenTask(stage, where, span_of.get((stage, task))))
        names = {id_: f"{id_} on {host}" for id_, host in self._hosts.items()}
        reasons = {}
        for id_, name in names.items():
            reason = self._silent.get(id_) or self._reason(id_)
            if reason:
                reasons[name] = reason
        return Profile.of(round(seconds / dumps, 4), sorted(names.values()), reasons, tasks)

    def _reason(self, executor: str) -> str:
        """Return why an executor gave no stacks, or stopped to; empty if nothing went wrong."""
        answer = self._answers.get(executor) or self._started.get(executor) or {}
        if answer.get("error"):
            return str(answer["error"])
        if "dumps" not in answer:
            return NO_ANSWER
        if answer["dumps"] < 2:  # noqa: PLR2004  the time between two is known
            return TOO_SHORT
        return ""


def own_jvm(spark: SparkSession) -> int | None:
    """Return the process of the driver's virtual machine if that is the executor."""
    if not is_local(spark):
        return None
    name = java_packages(spark).java.lang.management.ManagementFactory.getRuntimeMXBean().getName()
    return int(str(name).partition("@")[0])


def _start(program: str, jvm: int | None) -> dict[str, Any]:
    return stacks.start(jvm or jvm_of(os.getpid()), program)


def _stop(started: Sequence[Mapping[str, Any]], jvm: int | None) -> dict[str, Any]:
    """Stop what was started for this executor."""
    own = jvm or jvm_of(os.getpid())
    for each in started:
        if stacks.is_here(each, own):
            return stacks.stop(each)
    return {}


def _on_executors(
    spark: SparkSession, hosts: Mapping[str, str], function: Callable[[], dict[str, Any]]
) -> ExecutorAnswers[dict[str, Any]]:
    if is_local(spark):
        return ExecutorAnswers({id_: function() for id_ in hosts})
    return run_on_executors(spark, hosts, function)


def _tasks(answer: Mapping[str, Any]) -> Iterator[tuple[int, int, Seen]]:
    found: list[Stack] = [()]
    for parent, frame in zip(answer.get("parents", ()), answer.get("frame_of", ())):
        found.append((*found[parent], answer["frames"][frame]))
    for stage, task, seen in answer.get("tasks", ()):
        where = {found[node]: (running, waiting) for node, running, waiting in seen}
        yield stage, task, where
