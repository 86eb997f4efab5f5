"""Latency: rounds of a tiny all-to-all shuffle, each waiting for all messages of the one before.

So do the supersteps of bulk-synchronous parallel programs (Valiant, "A bridging model for parallel
computation", 1990), among them Pregel's and most iterative algorithms on graphs.
"""

from __future__ import annotations  # for Python 3.8

from collections.abc import Mapping, Sequence
from functools import lru_cache

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.base.errors import WrongAnswer
from jobs.workload import Answer, Bottleneck, Context, Workload, expect, shuffles

SUPERSTEPS = 20
MAX_TASKS = 64
"""More tasks would measure how fast the driver starts them: it does so one after the other."""
MODULUS = 1_000_003
"""A prime. The sum of 64 messages stays far below 2^63."""
CANDIDATES_PER_TASK = 40


class Supersteps(Workload):
    """Every task has a value, sends it to all others, and computes its next from all that it receives.

    Task v begins with v + 1. In each superstep, task u with the value x sends to every task v, itself
    included, what is worth (u + 2v + 1) * x; the sum of all that v receives, modulo a prime, is its next
    value. If one message of any superstep is lost, sent twice or wrong, the values at the end are others.
    """

    name = "supersteps"
    bottleneck = Bottleneck.LATENCY
    reads_data = False
    few_rows = True

    def frame(self, context: Context) -> DataFrame:
        tasks = tasks_of(context)
        own = ", ".join(f"{key}L" for key in keys(context.spark, tasks))
        # As one text, since Spark would analyse the frame of each superstep with all before it.
        state = f"FROM range(0, {tasks}, 1, {tasks}) SELECT id AS task, id + 1 AS value"
        send = f"/*+ REPARTITION({tasks}, key) */ task, value, posexplode(array({own})) AS (receiver, key)"
        new = f"sum((task + 2 * receiver + 1) * value) % {MODULUS} AS value"
        for _ in range(SUPERSTEPS):
            sent = f"FROM ({state}) SELECT {send}"
            state = f"FROM ({sent}) SELECT max(receiver) AS task, {new} GROUP BY key"
        return _without_adaptive_execution(context.spark).sql(
            f"FROM ({state}) SELECT task, value, spark_partition_id() AS partition"
        )

    def observe(self, context: Context) -> Mapping[str, Column]:
        return {
            "tasks": F.count("*"),
            "in_place": F.expr("count(if(partition = task, 1, null))"),
            "values": F.sum(F.expr("(task + 1) * value")),
        }

    def check(self, answer: Answer, context: Context) -> None:
        tasks = tasks_of(context)
        expect("the number of values", answer["tasks"], tasks)
        expect("the number of values in a task of their own", answer["in_place"], tasks)
        values = values_after(SUPERSTEPS, tasks)
        weighted = sum((task + 1) * value for task, value in enumerate(values))
        expect("the weighted sum of the values", answer["values"], weighted)

    def check_plan(self, plan: str) -> None:
        found = shuffles(plan)
        if found != SUPERSTEPS or "AdaptiveSparkPlan" in plan:
            raise WrongAnswer(f"the plan has not {SUPERSTEPS} fixed exchanges, but {found}")


def tasks_of(context: Context) -> int:
    """Return how many tasks a superstep has: two at least, as others have to be sent something."""
    return min(max(context.parallelism, 2), MAX_TASKS)


def keys(spark: SparkSession, tasks: int) -> list[int]:
    """Return for each partition of a shuffle the smallest number whose hash leads there.

    Spark chooses a partition by the hash of a row's key. With the partitions' own numbers as keys, some
    tasks would receive all messages of several, and others none.
    """
    return smallest_keys(hashes(spark, CANDIDATES_PER_TASK * tasks), tasks)


@lru_cache(maxsize=None)
def hashes(spark: SparkSession, count: int) -> list[int]:
    """Return Spark's hash of each number from 0 to count - 1, by a job that runs once."""
    return [row[0] for row in spark.range(0, count, 1, 1).select(F.hash("id")).collect()]


def smallest_keys(hashed: Sequence[int], tasks: int) -> list[int]:
    """Return, for each partition, the smallest number whose hash leads there."""
    smallest: dict[int, int] = {}
    for number, hash_ in enumerate(hashed):
        smallest.setdefault(hash_ % tasks, number)
    return [smallest[partition] for partition in range(tasks)]


def values_after(supersteps: int, tasks: int) -> list[int]:
    """Return the value of each task, computed without Spark."""
    values = [task + 1 for task in range(tasks)]
    for _ in range(supersteps):
        sent = values
        values = []
        for receiver in range(tasks):
            received = 0
            for task, value in enumerate(sent):
                received += (task + 2 * receiver + 1) * value
            values.append(received % MODULUS)
    return values


def _without_adaptive_execution(spark: SparkSession) -> SparkSession:
    """Return a session of the same application that plans a query once, before all supersteps.

    Adaptive execution would plan the rest anew after each, on the driver: time in which no network works.
    """
    session = spark.newSession()
    session.conf.set("spark.sql.adaptive.enabled", "false")
    return session
