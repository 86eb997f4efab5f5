"""Collect the driver's garbage between trials, and leave its heap as it was."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark import java_packages

MAX_FREE = "MaxHeapFreeRatio"


def collect_garbage(spark: SparkSession) -> None:
    """Make Spark delete the shuffle files of earlier trials now, and not during a measured one."""
    gc.collect()
    with heap_kept(spark):
        java_packages(spark).System.gc()


@contextmanager
def heap_kept(spark: SparkSession) -> Iterator[None]:
    """Keep a full collection from shrinking the heap to little more than what lives in it.

    In a heap that small, G1 marks what lives again and again while the next trials fill it: in one of three
    runs in local mode, for a fifth of their processor time.
    """
    try:
        machine = _virtual_machine(spark)
        usual = str(machine.getVMOption(MAX_FREE).getValue())
        machine.setVMOption(MAX_FREE, "100")
    except (Py4JError, TypeError, AttributeError):  # not every virtual machine has the option
        yield
        return
    try:
        yield
    finally:
        machine.setVMOption(MAX_FREE, usual)


def _virtual_machine(spark: SparkSession) -> Any:
    java = java_packages(spark).java.lang
    kind = java.Class.forName("com.sun.management.HotSpotDiagnosticMXBean")
    return java.management.ManagementFactory.getPlatformMXBean(kind)
