"""CPU: the SHA-512 digest of values that are already in the executors' memory."""

from __future__ import annotations  # for Python 3.8

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.workload import Context
from jobs.workloads.sha_512 import Sha512

SAMPLES_PER_ROW = 10
"""Samples of the calc-pi workloads per row: so --pi-samples scales every workload without data."""


class Sha512Cached(Sha512):
    """`sha-512` without reading anything: a control."""

    name = "sha-512-cached"
    reads_data = False
    control = True

    def rows(self, context: Context) -> int:
        return max(1, context.pi_samples // SAMPLES_PER_ROW)

    def prewarm(self, context: Context) -> DataFrame:
        """Count the cached values, which computes those that are not in memory."""
        return self._cached(context).agg(F.count("*"))

    def frame(self, context: Context) -> DataFrame:
        return self._cached(context).withColumn("digest", F.sha2("value", 512))

    def _cached(self, context: Context) -> DataFrame:
        """Return the values. Spark recognizes equal plans, so they are the same for all calls."""
        ids = context.spark.range(0, self.rows(context), 1, context.parallelism)
        value = F.md5(F.col("id").cast("string").cast("binary"))
        values = ids.select(value.alias("value"), F.col("id").alias("integer_val"))
        return values.persist(StorageLevel.MEMORY_AND_DISK)
