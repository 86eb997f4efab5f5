"""Watches which executors come, end, are replaced or move to another host, from one trial to the next."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pyspark.sql import SparkSession

from datagen.spark import is_local, listed_executors
from harness.base.failure_reason import reason_of
from harness.model.executors import LostExecutor, TrialExecutors


@dataclass(frozen=True)
class _Executor:
    """An executor that Spark knows: its host, whether it is alive, and why it ended."""

    host: str
    is_alive: bool
    reason: str | None


class ExecutorWatch:
    """The executors of an application, as Spark's status store lists them: those that ended, too.

    An executor that ends between two trials belongs to the second one: Spark may notice it late, and the one
    that replaces it has compiled nothing yet.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._known: dict[str, _Executor] | None = None

    def start(self) -> None:
        """Look at the executors for the first time. Later calls do nothing."""
        if self._known is None:
            self._known = _listed(self._spark)

    def trial_executors(self) -> TrialExecutors | None:
        """Return the executors, and what became of them since the last call; None in local mode."""
        before = self._known or {}
        now = _listed(self._spark)
        self._known = now
        if is_local(self._spark):
            return None
        came = {id_: each.host for id_, each in now.items() if id_ not in before}
        lost: dict[str, LostExecutor] = {}
        for id_, each in {**before, **now}.items():
            was_alive = id_ not in before or before[id_].is_alive
            # Spark forgets executors that ended if they are many.
            is_alive = id_ in now and each.is_alive
            if was_alive and not is_alive:
                lost[id_] = LostExecutor(each.host, each.reason)
        hosts = Counter(each.host for each in now.values() if each.is_alive)
        return TrialExecutors(dict(sorted(hosts.items())), came, lost)


def _listed(spark: SparkSession) -> dict[str, _Executor]:
    """Return the executors that Spark remembers, by id."""
    found: dict[str, _Executor] = {}
    for id_, host, entry in listed_executors(spark, only_live=False):
        is_alive = bool(entry.isActive())
        reason = None
        if not is_alive and entry.removeReason().isDefined():
            reason = reason_of(str(entry.removeReason().get()))
        found[id_] = _Executor(host, is_alive, reason)
    return found
