"""What the estimates of Pi have in common: the samples that fall into a quarter circle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.workload import Answer, Bottleneck, Context, Workload, expect, expect_within


class PiEstimate(Workload):
    """A frame of any number of rows with two columns: `inside` and `samples`, counts to be added."""

    kind = Bottleneck.CPU
    reads_data = False
    control = True

    def observe(self, context: Context) -> Mapping[str, Column]:
        return {"inside": F.sum("inside"), "samples": F.sum("samples")}

    def check(self, answer: Answer, context: Context) -> None:
        """A sample is inside with probability Pi/4: binomial, so six deviations hold it."""
        n, p = context.pi_samples, math.pi / 4
        expect("the number of samples", answer["samples"], n)
        deviation = 4 * math.sqrt(p * (1 - p) / n)
        expect_within("Pi", 4 * answer["inside"] / n, math.pi, 6 * deviation)


class PythonPiEstimate(PiEstimate):
    """One whose tasks need Python workers: a sample in each wakes them."""

    def prewarm(self, context: Context) -> DataFrame:
        return self.frame(replace(context, pi_samples=context.parallelism))


def seed_of(part: int) -> int:
    """Another seed for each part, the same in every trial: trials do the same work."""
    return 8_128 + part
