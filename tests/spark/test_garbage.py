"""Garbage is collected between trials, and makes the driver's heap large."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from datagen.spark import java_packages
from jobs import garbage


def test_no_collection_makes_the_heap_small(spark: SparkSession) -> None:
    garbage.collect_garbage(spark)
    java = java_packages(spark).java.lang
    kind = java.Class.forName("com.sun.management.HotSpotDiagnosticMXBean")
    machine = java.management.ManagementFactory.getPlatformMXBean(kind)
    in_force = {name: machine.getVMOption(name).getValue() for name in garbage.LARGE_HEAP}
    assert in_force == garbage.LARGE_HEAP


def test_a_virtual_machine_without_the_options_collects_all_the_same(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    class WithoutOptions:
        def setVMOption(self, name: str, value: str) -> Any:  # noqa: N802  the name is Java's
            raise TypeError(name)

    monkeypatch.setattr(garbage, "_virtual_machine", lambda _: WithoutOptions())
    garbage.collect_garbage(spark)
