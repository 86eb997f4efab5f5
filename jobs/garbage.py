"""Collect the driver's garbage between trials, in a heap that is large from the first of them on."""

from __future__ import annotations  # for Python 3.8

import gc
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark import java_packages

LARGE_HEAP = {"MaxHeapFreeRatio": "100", "MinHeapFreeRatio": "90"}
"""It may be free wholly, and nine tenths of it have to be, unless the largest one allowed is smaller."""


def collect_garbage(spark: SparkSession) -> None:
    """Make Spark delete the shuffle files of earlier trials now, and not during a measured one."""
    gc.collect()
    _enlarge_heap(spark)
    java_packages(spark).System.gc()


def _enlarge_heap(spark: SparkSession) -> None:
    """Let collections make the heap large, and never small again.

    Each resizes it, by what lives in it. In a heap not much larger than that, G1 marks what lives again and
    again while trials fill it: in one of three runs in local mode, for a fifth of their processor time.
    """
    try:
        machine = _virtual_machine(spark)
        for option, percent in LARGE_HEAP.items():
            machine.setVMOption(option, percent)
    except (Py4JError, TypeError, AttributeError):
        return  # not every virtual machine has these options


def _virtual_machine(spark: SparkSession) -> Any:
    java = java_packages(spark).java.lang
    kind = java.Class.forName("com.sun.management.HotSpotDiagnosticMXBean")
    return java.management.ManagementFactory.getPlatformMXBean(kind)
