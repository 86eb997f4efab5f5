"""CPU: Pi by Spark's built-in functions."""

from __future__ import annotations  # for Python 3.8

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.pi_estimate import PiEstimate, seed_of
from jobs.workload import Context


class CalcPiDataframe(PiEstimate):
    name = "calc-pi-dataframe"

    def frame(self, context: Context) -> DataFrame:
        samples = context.spark.range(0, context.pi_samples, 1, context.parallelism)
        # Spark adds the partition's number to the seed, so the two seeds must be far apart.
        x = F.rand(seed_of(0)).alias("x")
        y = F.rand(seed_of(10**9)).alias("y")
        points = samples.select(x, y)
        return points.agg(
            F.count(F.when(F.expr("x * x + y * y <= 1"), 1)).alias("inside"),
            F.count("*").alias("samples"),
        )
