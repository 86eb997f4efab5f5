"""Shuffle: move every row to the partition of its prefix4."""

from __future__ import annotations  # for Python 3.8

from pyspark.sql import DataFrame

from harness.base.errors import WrongAnswer
from jobs.workload import Bottleneck, Context, EveryRow, shuffles


class Repartition(EveryRow):
    name = "repartition"
    bottleneck = Bottleneck.SHUFFLE

    def frame(self, context: Context) -> DataFrame:
        return context.data.repartition(context.repartition, "prefix4")

    def check_plan(self, plan: str) -> None:
        if not shuffles(plan):
            raise WrongAnswer("the plan has no exchange: nothing was shuffled")
