"""Output: sort all rows by their value, and write them: what TeraSort does."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.base.errors import WrongAnswer
from jobs.workload import Answer, Bottleneck, Context, EveryRow, shuffles

STRETCHES = 1000
"""Into how many stretches of rows, about, the files are divided to prove that they are in order."""


class SortWrite(EveryRow):
    name = "sort-write"
    bottleneck = Bottleneck.OUTPUT
    writes = True

    def frame(self, context: Context) -> DataFrame:
        ranges = context.data.repartitionByRange(context.repartition, "value")
        return ranges.sortWithinPartitions("value")

    def read_back(self, written: DataFrame, context: Context) -> DataFrame:
        """Return each stretch of rows: its place, its part of the answer, its first and its last value.

        Rows of a block of a file are read in their order by one task, which numbers them.
        """
        length = max(1, context.totals.rows // STRETCHES)
        rows = written.selectExpr(
            "*",
            "int(regexp_extract(input_file_name(), 'part-([0-9]+)', 1)) AS file",
            "input_file_block_start() AS block",
            f"monotonically_increasing_id() div {length} AS number",
        )
        observed = [column.alias(name) for name, column in super().observe(context).items()]
        first = F.min("value").alias("first")
        last = F.max("value").alias("last")
        return rows.groupBy("file", "block", "number").agg(*observed, first, last)

    def observe(self, context: Context) -> Mapping[str, Column]:
        stretch = F.struct("file", "block", "number", "first", "last")
        return {
            "rows": F.expr("coalesce(sum(rows), 0)"),
            "content": F.expr("try_sum(content)"),
            "stretches": F.sort_array(F.collect_list(stretch)),
        }

    def check(self, answer: Answer, context: Context) -> None:
        """Check the rows, and that each stretch, also of another file, begins where the one before ended."""
        super().check(answer, context)
        stretches = answer["stretches"]
        for before, after in zip(stretches, stretches[1:]):
            if before.last > after.first:
                raise WrongAnswer(
                    f"the rows are not in order: {after.first} comes after {before.last}"
                )

    def check_plan(self, plan: str) -> None:
        if not shuffles(plan) or "Sort" not in plan:
            raise WrongAnswer("the plan has no exchange and sort")
