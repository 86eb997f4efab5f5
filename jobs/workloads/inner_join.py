"""Shuffle: join every row with the number of rows of its prefix2, with a shuffle of both sides."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from datagen.recipe import COLUMNS
from harness.base.errors import WrongAnswer
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

BOTH_SIDES = 2


def rows_per_prefix2(data: DataFrame) -> DataFrame:
    return data.groupBy("prefix2").agg(F.count("*").alias("rows_of_prefix2"))


class InnerJoin(Workload):
    name = "inner-join"
    bottleneck = Bottleneck.SHUFFLE

    def frame(self, context: Context) -> DataFrame:
        # Without the hint, Spark would broadcast the 256 counts.
        return context.data.join(rows_per_prefix2(context.data).hint("merge"), "prefix2")

    def rows(self, context: Context) -> int:
        return context.totals.rows

    def observe(self, context: Context) -> Mapping[str, Column]:
        return {
            "rows": F.count("*"),
            "joined": F.sum("rows_of_prefix2"),
            **observed_digest(COLUMNS),
        }

    def check(self, answer: Answer, context: Context) -> None:
        """Check the rows, and the sum of the joined counts: a prefix with c rows adds c * c."""
        expect("rows", answer["rows"], context.totals.rows)
        squares = sum(count**2 for count in context.totals.rows_per_prefix2.values())
        expect("the sum of the joined counts", answer["joined"] or 0, squares)
        expect_digest(answer, COLUMNS, context)

    def check_plan(self, plan: str) -> None:
        if "SortMergeJoin" not in plan or shuffles(plan) < BOTH_SIDES:
            raise WrongAnswer("the plan has no sort-merge join of two shuffles")
