"""Shuffle: move every row to the partition of its prefix4."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from datagen.recipe import COLUMNS
from harness.model.errors import WrongAnswer
from jobs.workload import (
    Answer,
    Bottleneck,
    Context,
    Workload,
    expect,
    expect_digest,
    observed_digest,
    shuffles,
)


class Repartition(Workload):
    name = "repartition"
    bottleneck = Bottleneck.SHUFFLE

    def frame(self, context: Context) -> DataFrame:
        return context.data.repartition(context.repartition, "prefix4")

    def observe(self, context: Context) -> Mapping[str, Column]:
        return {"rows": F.count("*"), **observed_digest(COLUMNS)}

    def check(self, answer: Answer, context: Context) -> None:
        expect("rows", answer["rows"], context.totals.rows)
        expect_digest(answer, COLUMNS, context)

    def check_plan(self, plan: str) -> None:
        if not shuffles(plan):
            raise WrongAnswer("the plan has no exchange: nothing was shuffled")
