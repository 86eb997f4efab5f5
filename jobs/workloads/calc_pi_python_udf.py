"""CPU: Pi by a Python function that is called once per sample."""

from __future__ import annotations  # for Python 3.8

import random
from collections.abc import Iterable, Iterator

from pyspark.sql import DataFrame

from jobs.pi_estimate import PythonPiEstimate, seed_of
from jobs.workload import Context


def inside(_sample: int) -> bool:
    """Return whether a random point of the unit square is inside the quarter circle."""
    x = random.random()  # noqa: S311  not for cryptography
    y = random.random()  # noqa: S311
    return x * x + y * y <= 1


def count_inside(part: int, samples: Iterable[int]) -> Iterator[tuple[int, int]]:
    random.seed(seed_of(part))
    hits = total = 0
    for sample in samples:
        hits += inside(sample)
        total += 1
    yield hits, total


class CalcPiPythonUdf(PythonPiEstimate):
    name = "calc-pi-python-udf"

    def frame(self, context: Context) -> DataFrame:
        samples = context.spark.sparkContext.range(
            0, context.pi_samples, numSlices=context.parallelism
        )
        counts = samples.mapPartitionsWithIndex(count_inside)
        return context.spark.createDataFrame(counts, "inside long, samples long")
