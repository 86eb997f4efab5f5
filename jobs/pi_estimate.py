"""The common part of all estimates of Pi: they count random points inside a quarter circle."""

from __future__ import annotations  # for Python 3.8

import math
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.workload import Answer, Bottleneck, Context, Workload, expect, expect_within


class PiEstimate(Workload):
    """The frame has the columns `inside` and `samples`, and any number of rows, which are added up."""

    bottleneck = Bottleneck.CPU
    reads_data = False
    control = True
    few_rows = True

    def observe(self, context: Context) -> Mapping[str, Column]:
        return {"inside": F.sum("inside"), "samples": F.sum("samples")}

    def check(self, answer: Answer, context: Context) -> None:
        """Accept six standard deviations: a point is inside with the probability Pi/4."""
        samples = context.pi_samples
        expect("the number of samples", answer["samples"], samples)
        inside = math.pi / 4
        deviation = 4 * math.sqrt(inside * (1 - inside) / samples)
        expect_within("Pi", 4 * answer["inside"] / samples, math.pi, 6 * deviation)


class PythonPiEstimate(PiEstimate):
    """An estimate whose tasks need Python workers."""

    def prewarm(self, context: Context) -> DataFrame:
        """Draw one sample per task, which starts a worker for each."""
        return self.frame(replace(context, pi_samples=context.parallelism))


def seed_of(part: int) -> int:
    """Return the random seed of a part, the same in every trial, so that all trials do equal work."""
    return 8_128 + part
