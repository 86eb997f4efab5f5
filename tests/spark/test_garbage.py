"""Garbage is collected between trials, and the heap of the driver stays as large as it was."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from datagen.spark import java_packages
from jobs import garbage


def largest_free_percent(spark: SparkSession) -> int:
    """Return how much of the heap may be free after a full collection, in percent."""
    java = java_packages(spark).java.lang
    kind = java.Class.forName("com.sun.management.HotSpotDiagnosticMXBean")
    machine = java.management.ManagementFactory.getPlatformMXBean(kind)
    return int(machine.getVMOption("MaxHeapFreeRatio").getValue())


def test_the_heap_does_not_shrink_in_our_collections_alone(spark: SparkSession) -> None:
    usual = largest_free_percent(spark)
    assert usual < 100
    with garbage.heap_kept(spark):
        assert largest_free_percent(spark) == 100
    assert largest_free_percent(spark) == usual


def test_a_virtual_machine_without_the_option_collects_all_the_same(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    class WithoutOptions:
        def getVMOption(self, name: str) -> Any:  # noqa: N802  the name is Java's
            raise TypeError(name)

    monkeypatch.setattr(garbage, "_virtual_machine", lambda _: WithoutOptions())
    garbage.collect_garbage(spark)
