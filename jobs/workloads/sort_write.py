"""Output: sort all rows by their value, and write them: what TeraSort does."""

import json
from collections.abc import Mapping
from itertools import pairwise

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from datagen.dataset import digest_expression
from datagen.recipe import COLUMNS
from harness.model.errors import WrongAnswer
from jobs.workload import (
    Answer,
    Bottleneck,
    Context,
    Workload,
    expect,
    expect_digest,
    shuffles,
)

STRETCHES = 1000
"""Into how many stretches of rows, about, the files are divided to prove that they are in order."""
PLACE = {
    "file": "int(regexp_extract(input_file_name(), 'part-([0-9]+)', 1))",
    "block": "input_file_block_start()",
    "row": "monotonically_increasing_id()",
}
"""The place of a row: rows of a block of a file are read in their order by one task, which numbers them."""


class SortWrite(Workload):
    name = "sort-write"
    bottleneck = Bottleneck.OUTPUT
    writes = True

    def frame(self, context: Context) -> DataFrame:
        ranges = context.data.repartitionByRange(context.repartition, "value")
        return ranges.sortWithinPartitions("value")

    def read_back(self, written: DataFrame, context: Context) -> DataFrame:
        """Return the place of each stretch of rows, its first and last value, and its part of the answer."""
        length = max(1, context.totals.rows // STRETCHES)
        placed = written.select("*", *(F.expr(text).alias(name) for name, text in PLACE.items()))
        return placed.groupBy("file", "block", F.expr(f"row div {length}").alias("number")).agg(
            F.count("*").alias("rows"),
            F.expr(digest_expression(COLUMNS)).alias("content"),
            F.min("value").alias("first"),
            F.max("value").alias("last"),
        )

    def observe(self, context: Context) -> Mapping[str, Column]:
        stretch = F.struct("file", "block", "number", "first", "last")
        return {
            "rows": F.sum("rows"),
            "content": F.expr("try_sum(content)"),
            "stretches": F.to_json(F.collect_list(stretch)),
        }

    def check(self, answer: Answer, context: Context) -> None:
        """Check the rows, and that each stretch, also of another file, begins where the one before ended."""
        expect("rows", answer["rows"] or 0, context.totals.rows)
        expect_digest(answer, COLUMNS, context)
        stretches = json.loads(answer["stretches"])
        in_place = sorted(stretches, key=lambda each: (each["file"], each["block"], each["number"]))
        for before, after in pairwise(in_place):
            if before["last"] > after["first"]:
                raise WrongAnswer(
                    f"the rows are not in order: {after['first']} comes after {before['last']}"
                )

    def check_plan(self, plan: str) -> None:
        if not shuffles(plan) or "Sort" not in plan:
            raise WrongAnswer("the plan has no exchange and sort")
