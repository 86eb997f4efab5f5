"""While jobs run, says that no executor is left, and why none comes in the place of one that was lost.

Spark itself waits for executors for ever, and its log alone says so.
"""

from __future__ import annotations  # for Python 3.8

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.executor_pods import pods_explained
from datagen.spark import LATE_EXECUTOR_S, executor_count, is_local, scala_context
from harness.base.errors import ClusterliftError
from harness.base.terminal import say

POLL_S = 2.0
SAID_AFTER_S = 10.0
"""Standalone and YARN replace an executor that was lost within seconds."""


@contextmanager
def missing_executors_explained(spark: SparkSession) -> Iterator[None]:
    """While the block runs jobs, say that no executor is left, and on Kubernetes why none comes.

    If Kubernetes lets none run, end Spark: the job fails then, and no other one waits.
    """
    if is_local(spark):
        yield
        return
    watch = _Watch(spark)
    watch.start()
    try:
        yield
    finally:
        watch.end()


class _Watch(threading.Thread):
    """Counts the executors until `end`."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__(daemon=True)
        self._spark = spark
        self._ending = threading.Event()
        self._has_given_up = False

    def end(self) -> None:
        """Look no more."""
        self._ending.set()
        self.join()

    def run(self) -> None:
        # If Spark has ended, its jobs fail.
        with suppress(Py4JError, OSError, ClusterliftError):
            usual = executor_count(self._spark)
            while not self._ending.wait(POLL_S):
                now = executor_count(self._spark)
                if now < usual:
                    with pods_explained(self._spark, self._end_spark):
                        self._await(usual)
                    now = executor_count(self._spark)
                usual = now

    def _await(self, usual: int) -> None:
        """Wait until there are as many executors as usual, or for a while if some are left."""
        began_s = time.monotonic()
        is_said = False
        while not self._ending.wait(POLL_S):
            now = executor_count(self._spark)
            waited_s = time.monotonic() - began_s
            if now >= usual or (now and waited_s > LATE_EXECUTOR_S):
                return
            is_long = waited_s > SAID_AFTER_S
            if now == 0 and is_long and not is_said and self._has_job():
                say("no executor is left: Spark waits until one comes")
                is_said = True

    def _has_job(self) -> bool:
        """Whether a job waits: with dynamic allocation, idle executors may all go."""
        return bool(self._spark.sparkContext.statusTracker().getActiveJobsIds())

    def _end_spark(self, reason: str) -> None:
        if self._has_given_up:
            return
        self._has_given_up = True
        say(f"no executor is left, and none can run: {reason}")
        # A job that is amid its work when Spark ends fails with an internal error.
        self._spark.sparkContext.cancelAllJobs()
        scala_context(self._spark).stop()
