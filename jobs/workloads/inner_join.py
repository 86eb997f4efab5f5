"""Shuffle: every row joined with the number of rows of its prefix2, both sides shuffled."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.model.errors import WrongAnswer
from jobs.workload import Answer, Bottleneck, Context, Workload, expect, shuffles

BOTH_SIDES = 2


def rows_per_prefix2(data: DataFrame) -> DataFrame:
    return data.groupBy("prefix2").agg(F.count("*").alias("rows_of_prefix2"))


def observed() -> dict[str, Column]:
    return {"rows": F.count("*"), "joined": F.sum("rows_of_prefix2")}


def check_join(answer: Answer, context: Context) -> None:
    """Each row carries its prefix's count, so a prefix of c rows adds c * c to their sum."""
    expect("rows", answer["rows"], context.totals.rows)
    squares = sum(count**2 for count in context.totals.rows_per_prefix2.values())
    expect("the sum of the joined counts", answer["joined"] or 0, squares)


class InnerJoin(Workload):
    name = "inner-join"
    kind = Bottleneck.SHUFFLE

    def frame(self, context: Context) -> DataFrame:
        # The hint, or Spark would find the 256 counts small enough to broadcast.
        return context.data.join(rows_per_prefix2(context.data).hint("merge"), "prefix2")

    def observe(self, context: Context) -> Mapping[str, Column]:
        return observed()

    def check(self, answer: Answer, context: Context) -> None:
        check_join(answer, context)

    def check_plan(self, plan: str) -> None:
        if "SortMergeJoin" not in plan or shuffles(plan) < BOTH_SIDES:
            raise WrongAnswer("the plan has no sort-merge join of two shuffles")
