"""On Kubernetes: why executors do not come, asked of the API server while the driver waits for them.

Spark itself waits for ever, or stops itself and says so in its log alone. It uses the client of Kubernetes
that Spark has made, with the rights of Spark's own user, and reads what Spark logs where it makes pods.
"""

from __future__ import annotations  # for Python 3.8

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Callable

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark import SPARK_ERRORS, executors, java_packages, scala_context
from harness.base.errors import ClusterliftError
from harness.base.pod_problem import PodProblem, pod_problem, refusals
from harness.base.terminal import say

_POLL_S = 0.5
SAID_AFTER_S = 5.0
"""A pod that waits no longer than this for a node is nothing to speak of."""
GIVEN_UP_AFTER_S = 60.0
"""So long may a registry be away, or a quota be used up, before a run without any executor ends."""
_CLIENT = "io.fabric8.kubernetes.client.KubernetesClient"
_LOGGER = "org.apache.spark.scheduler.cluster.k8s"
_NUMBER = re.compile(r"\d+")


@contextmanager
def pods_explained(
    spark: SparkSession, give_up: Callable[[str], object] | None = None
) -> Iterator[Callable[[], bool]]:
    """While the block waits for executors, say why pods do not run. On other managers, do nothing.

    If for a minute no executor can run, `give_up` is called with the reason, again and again until the block
    ends. By default, the jobs that wait are cancelled. The block gets a function that returns whether that
    has happened. Raise ClusterliftError with the reason if a job of the block fails then, or if Spark ends.
    """
    if not str(spark.sparkContext.master).startswith("k8s://"):
        yield lambda: False
        return

    def cancel_jobs(_reason: str) -> None:
        spark.sparkContext.cancelAllJobs()

    watch = _PodWatch(spark, give_up or cancel_jobs)
    watch.start()
    try:
        yield watch.has_given_up
    except SPARK_ERRORS as error:
        reason = watch.reason()
        if not reason:
            raise
        raise ClusterliftError(f"no executor can run: {reason}") from error
    finally:
        watch.end()


class _PodWatch(threading.Thread):
    """Looks at the pods of executors until `end`, and says each new reason why some do not run."""

    def __init__(self, spark: SparkSession, give_up: Callable[[str], object]) -> None:
        super().__init__(daemon=True)
        self._spark = spark
        self._give_up = give_up
        self._ending = threading.Event()
        self._problem: PodProblem | None = None
        self._since_s = 0.0
        self._said: set[str] = set()
        self._has_given_up = False

    def reason(self) -> str:
        """Return why the last pod did not run; empty if all did, or nothing is known."""
        if self._problem is None:
            return ""
        return self._problem.text

    def has_given_up(self) -> bool:
        """Whether no executor can run."""
        return self._has_given_up

    def end(self) -> None:
        """Look no more."""
        self._ending.set()
        self.join()

    def run(self) -> None:
        """Look several times a second, as Spark soon removes a pod that has failed."""
        with suppress(Py4JError, OSError):  # Spark has ended: the driver notices that
            client = _client(self._spark)
            log = _PodLog(self._spark)
            try:
                while client is not None and not self._ending.wait(_POLL_S):
                    self._take(refusal_in(log.text()) or first_problem(self._pods(client)))
            finally:
                log.close()

    def _pods(self, client: Any) -> Iterator[Mapping[str, Any]]:
        jvm = java_packages(self._spark)
        listed = (
            client.pods()
            .withLabel("spark-app-selector", self._spark.sparkContext.applicationId)
            .withLabel("spark-role", "executor")
            .list()
        )
        text = jvm.io.fabric8.kubernetes.client.utils.Serialization.asJson(listed)
        for pod in json.loads(text).get("items", []):
            if isinstance(pod, dict):
                yield pod

    def _take(self, problem: PodProblem | None) -> None:
        """Say a problem that lasts, once, and give up if no executor can run.

        Between two attempts of Spark there may be no pod that has a problem: that is no end of it.
        """
        if problem is None:
            return
        now_s = time.monotonic()
        if self._problem is None or self._problem.may_pass != problem.may_pass:
            self._since_s = now_s
        self._problem = problem
        lasted_s = now_s - self._since_s
        # Ports and numbers of pods differ in each attempt.
        saying = _NUMBER.sub("", problem.text)
        if lasted_s >= SAID_AFTER_S and saying not in self._said:
            say(f"an executor does not start: {problem.text}")
            self._said.add(saying)
        is_final = lasted_s >= GIVEN_UP_AFTER_S and not problem.may_pass
        if is_final and not executors(self._spark):
            self._has_given_up = True
            self._give_up(problem.text)


class _PodLog:
    """What Spark logs where it makes pods, whatever its own log shows."""

    def __init__(self, spark: SparkSession) -> None:
        jvm = java_packages(spark)
        core = jvm.org.apache.logging.log4j.core
        self._writer = jvm.java.io.StringWriter()
        pattern = core.layout.PatternLayout.newBuilder().withPattern(
            "%m: %throwable{short.message}%n"
        )
        of_class_loader = False
        follow = False
        ignore_errors = True
        self._appender = core.appender.WriterAppender.createAppender(
            pattern.build(), None, self._writer, "clusterlift", follow, ignore_errors
        )
        self._appender.start()
        self._context = jvm.org.apache.logging.log4j.LogManager.getContext(of_class_loader)
        level = jvm.org.apache.logging.log4j.Level.WARN
        also_as_before = False
        logger = core.config.LoggerConfig(_LOGGER, level, also_as_before)
        logger.addAppender(self._appender, None, None)
        self._context.getConfiguration().addLogger(_LOGGER, logger)
        self._context.updateLoggers()

    def text(self) -> str:
        """Return what was logged since the last call."""
        text = str(self._writer.toString())
        self._writer.getBuffer().setLength(0)
        return text

    def close(self) -> None:
        """Log there no more."""
        self._context.getConfiguration().removeLogger(_LOGGER)
        self._context.updateLoggers()
        self._appender.stop()


def _client(spark: SparkSession) -> Any:
    """Return Spark's own client of Kubernetes, which pyspark does not offer; None if it is elsewhere."""
    backend = scala_context(spark).schedulerBackend()
    for field in backend.getClass().getDeclaredFields():
        if field.getType().getName() == _CLIENT:
            field.setAccessible(True)
            return field.get(backend)
    return None


def refusal_in(log: str) -> PodProblem | None:
    """Return why the API server makes no pod, by what Spark logged; None if it does."""
    for reason in refusals(log):
        return PodProblem(reason, may_pass=False)
    return None


def first_problem(pods: Iterator[Mapping[str, Any]]) -> PodProblem | None:
    """Return why a pod does not run, a reason that does not pass before others; None if all run."""
    found = [problem for problem in map(pod_problem, pods) if problem]
    return min(found, key=lambda problem: problem.may_pass, default=None)
