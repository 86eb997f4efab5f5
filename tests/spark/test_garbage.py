"""Garbage is collected between trials, and makes the driver's heap large."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from datagen.spark import java_packages
from jobs import garbage


def test_a_collection_makes_the_heap_nearly_ten_times_as_large_as_what_lives_in_it(
    spark: SparkSession,
) -> None:
    garbage.collect_garbage(spark)
    java = java_packages(spark).java.lang
    pools = java.management.ManagementFactory.getMemoryPoolMXBeans()
    lives = sum(pool.getCollectionUsage().getUsed() for pool in pools if pool.getCollectionUsage())
    runtime = java.Runtime.getRuntime()
    assert runtime.totalMemory() >= min(runtime.maxMemory(), 8 * lives)


def test_a_virtual_machine_without_the_options_collects_all_the_same(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    class WithoutOptions:
        def setVMOption(self, name: str, value: str) -> Any:  # noqa: N802  the name is Java's
            raise TypeError(name)

    monkeypatch.setattr(garbage, "_virtual_machine", lambda _: WithoutOptions())
    garbage.collect_garbage(spark)
