"""Shuffle: row count, distinct counts and sums per prefix2."""

from __future__ import annotations  # for Python 3.8

import json
import math
from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from datagen.recipe import COLUMNS_WITHOUT_VALUE
from jobs.workload import (
    Answer,
    Bottleneck,
    Context,
    Workload,
    expect,
    expect_digest,
    expect_within,
    observed_digest,
)

READ = COLUMNS_WITHOUT_VALUE
AGGREGATES = {
    "rows": "count(*)",
    "prefix4s": "count(DISTINCT prefix4)",
    "prefix8s": "count(DISTINCT prefix8)",
    "float_sum": "sum(float_val)",
    "integer_sum": "sum(integer_val)",
}


class GroupBy(Workload):
    name = "group-by"
    bottleneck = Bottleneck.SHUFFLE
    few_rows = True

    def frame(self, context: Context) -> DataFrame:
        aggregates = (F.expr(text).alias(name) for name, text in AGGREGATES.items())
        return context.data.select(*READ).groupBy("prefix2").agg(*aggregates)

    def observe_data(self, context: Context) -> Mapping[str, Column]:
        if context.totals.rows == 0:  # Spark leaves out what would observe them
            return {}
        return {"rows_read": F.count("*"), **observed_digest(READ)}

    def observe(self, context: Context) -> Mapping[str, Column]:
        # There are at most 256 groups, so the answer contains every group.
        return {"groups": F.to_json(F.collect_list(F.struct("prefix2", *AGGREGATES)))}

    def check_data(self, answer: Answer, context: Context) -> None:
        rows = context.totals.rows
        # If Spark lost the output of a task, it read the rows of that task once more.
        if answer["rows_read"] <= rows:
            expect("the number of rows that were read", answer["rows_read"], rows)
            expect_digest(answer, READ, context)

    def check(self, answer: Answer, context: Context) -> None:
        groups = json.loads(answer["groups"])
        totals = context.totals
        expect(
            "rows per prefix2",
            {group["prefix2"]: group["rows"] for group in groups},
            dict(totals.rows_per_prefix2),
        )
        expect("sum(integer_val)", sum(g["integer_sum"] for g in groups), totals.integer_sum)
        expect_within(
            "sum(float_val)",
            math.fsum(g["float_sum"] for g in groups),
            totals.float_sum,
            # The rounding error of adding n doubles, in any order, is at most n half-units in the last place.
            tolerance=totals.float_sum * totals.rows * 2**-53,
        )
        for group in groups:
            # The fractional part of each row is between 0 and 1.
            half = group["rows"] / 2
            middle = group["integer_sum"] + half
            name = f"sum(float_val) of {group['prefix2']}"
            expect_within(name, group["float_sum"], middle, half)
        self._check_distinct(4, groups, totals.distinct_prefix4, totals.rows)
        self._check_distinct(8, groups, totals.distinct_prefix8, totals.rows)

    def _check_distinct(self, digits: int, groups: Any, exact: int | None, rows: int) -> None:
        name = f"distinct prefix{digits}"
        found = sum(group[f"prefix{digits}s"] for group in groups)
        if exact is None:
            right, tolerance = distinct(rows, 16**digits)
            expect_within(name, found, right, tolerance)
        else:
            expect(name, found, exact)


def distinct(rows: int, values: int) -> tuple[float, float]:
    """Return how many distinct values random rows have: the mean, and six standard deviations.

    Each row has one of `values` equally likely values. This is the classical occupancy problem. The
    variance is the limit for many values.
    """
    mean = values * -math.expm1(rows * math.log1p(-1 / values))
    load = rows / values
    variance = values * math.exp(-load) * (1 - (1 + load) * math.exp(-load))
    return mean, 6 * math.sqrt(max(1, variance))
