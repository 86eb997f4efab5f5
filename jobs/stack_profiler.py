"""The stacks of all tasks of a trial: every executor's node asks its own virtual machine."""

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from datagen.spark import executor_hosts, is_local, java_packages
from harness.model.profile import Profile, Seen, SeenTask, Stack, TaskSpan
from harness.node import stacks
from harness.node.processes import jvm_of
from jobs.executors import last_own_stage, run_on_executors

NO_ANSWER = "it did not run the task that asks for its stacks"
TOO_SHORT = "the trial was too short for two dumps"


@dataclass(frozen=True)
class StackProfiler:
    """Asks every executor from its creation by `start` to `stop`.

    `hosts` and `started` are by the executors' ids; the trial's stages come after `after_stage`.
    """

    spark: SparkSession
    hosts: Mapping[str, str]
    started: Mapping[str, Mapping[str, Any]]
    after_stage: int

    @classmethod
    def start(cls, spark: SparkSession) -> "StackProfiler":
        """Begin to ask all executors. No trial may run meanwhile."""
        program = inspect.getsource(stacks)
        hosts = executor_hosts(spark)
        started = _on_executors(spark, hosts, partial(_start, program, own_jvm(spark)))
        return cls(spark, hosts, started, last_own_stage(spark))

    def stop(self) -> "SeenTasks | None":
        """End to ask, and return what was seen of the stages since the start; None if nothing was."""
        stop = partial(_stop, list(self.started.values()), own_jvm(self.spark))
        answers = _on_executors(self.spark, self.hosts, stop)
        before = last_own_stage(self.spark) if not is_local(self.spark) else None
        tasks = {
            (stage, task): seen
            for answer in answers.values()
            for stage, task, seen in _tasks(answer)
            if stage > self.after_stage and (before is None or stage < before)
        }
        heard = [answer for answer in answers.values() if answer.get("dumps", 0) > 1]
        if not tasks or not heard:
            return None
        seconds = sum(answer["seconds"] for answer in heard)
        names = {id_: f"{id_} on {host}" for id_, host in self.hosts.items()}
        silent = {
            names[id_]: str(reason)
            for id_ in names
            if (reason := _reason(answers.get(id_) or self.started.get(id_)))
        }
        return SeenTasks(
            interval_s=round(seconds / sum(answer["dumps"] - 1 for answer in heard), 4),
            executors=sorted(names.values()),
            silent=silent,
            tasks=tasks,
            cost=round(sum(answer["cost_s"] for answer in heard) / seconds, 4),
        )


@dataclass(frozen=True)
class SeenTasks:
    """What was seen of a trial's tasks, by stage and Spark's number of the task; the rest as in Profile."""

    interval_s: float
    executors: Sequence[str]
    silent: Mapping[str, str]
    tasks: Mapping[tuple[int, int], Seen]
    cost: float

    def profile(self, spans: Sequence[TaskSpan]) -> Profile:
        """Return the profile of these tasks, and of those that only the event log knows."""
        by_task = {(span.stage, span.task): span for span in spans}
        return Profile.of(
            self.interval_s,
            self.executors,
            self.silent,
            [
                SeenTask(key[0], self.tasks.get(key, {}), by_task.get(key))
                for key in dict.fromkeys((*self.tasks, *by_task))
            ],
            self.cost,
        )


def _reason(answer: Mapping[str, Any] | None) -> str | None:
    """Return why an executor gave no stacks, or stopped to; None if nothing went wrong."""
    if not answer or not ({"dumps", "error"} & answer.keys()):
        return NO_ANSWER
    return answer.get("error") or (None if answer.get("dumps", 0) > 1 else TOO_SHORT)


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
    return next((stacks.stop(each) for each in started if stacks.is_here(each, own)), {})


def _on_executors(
    spark: SparkSession, hosts: Mapping[str, str], function: Callable[[], dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return what a function returns on each executor; those that do not answer are left out."""
    if is_local(spark):
        return {id_: function() for id_ in hosts}
    return run_on_executors(spark, hosts, function)


def _tasks(answer: Mapping[str, Any]) -> Iterator[tuple[int, int, Seen]]:
    """Yield the stage of each task, its number, and where it was seen."""
    found: list[Stack] = [()]
    for parent, frame in zip(answer.get("parents", ()), answer.get("frame_of", ()), strict=True):
        found.append((*found[parent], answer["frames"][frame]))
    for stage, task, seen in answer.get("tasks", ()):
        yield stage, task, {found[node]: (running, waiting) for node, running, waiting in seen}
