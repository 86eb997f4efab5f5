"""Output: write every row as it is, beside the dataset, in its format and layout."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from datagen.recipe import COLUMNS
from jobs.workload import (
    Answer,
    Bottleneck,
    Context,
    Workload,
    expect,
    expect_digest,
    observed_digest,
)


class Write(Workload):
    name = "write"
    bottleneck = Bottleneck.OUTPUT
    writes = True

    def frame(self, context: Context) -> DataFrame:
        return context.data

    def observe(self, context: Context) -> Mapping[str, Column]:
        return {"rows": F.count("*"), **observed_digest(COLUMNS)}

    def check(self, answer: Answer, context: Context) -> None:
        expect("rows", answer["rows"], context.totals.rows)
        expect_digest(answer, COLUMNS, context)
