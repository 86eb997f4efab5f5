"""A user's query as a workload: what it answers in one trial, it has to answer in all of them."""

from __future__ import annotations  # for Python 3.8

import json
import math
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from datagen.dataset import digest_expression, digest_text
from harness.model.answer import MAX_WEIGHT, FloatSum, RowsDigest
from jobs.workload import Answer, Bottleneck, Context, Workload

_FLOATING = (T.FloatType, T.DoubleType)


class Query(Workload):
    """A query in SQL. Its columns are numbered, because two of them may have the same name."""

    bottleneck = Bottleneck.INPUT
    reads_data = False
    reads_tables = True

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text

    def frame(self, context: Context) -> DataFrame:
        rows = context.spark.sql(self._text)
        return rows.toDF(*_numbered(rows.schema))

    def observe(self, context: Context) -> Mapping[str, Column]:
        schema = context.spark.sql(self._text).schema
        names = _numbered(schema)
        columns = list(zip(schema, names))
        # A hash skips what is null: the same values in other columns would have the same one.
        hashed = [_exact(field.dataType, name) for field, name in columns]
        hashed += [f"isnull({name})" for name in names]
        share = f"shiftrightunsigned(xxhash64({', '.join(hashed)}), 32) / {2**32}D"
        sums = []
        for field, name in columns:
            added = _added(field.dataType, name, "{}")
            if not added:
                continue
            is_single = "float" in field.dataType.simpleString()
            weighted = f"sum(({added}) * (1 + {MAX_WEIGHT - 1}D * {share}))"
            magnitude = f"sum({_added(field.dataType, name, 'abs({})')})"
            sums.append(
                F.struct(
                    F.lit(field.name).alias("column"),
                    F.lit(32 if is_single else 64).alias("bits"),
                    F.expr(weighted).alias("total"),
                    F.expr(magnitude).alias("magnitude"),
                )
            )
        observed = {"rows": F.count("*"), "content": F.expr(digest_expression(hashed))}
        if sums:
            observed["sums"] = F.to_json(F.array(*sums))
        return observed

    def check(self, answer: Answer, context: Context) -> RowsDigest:
        sums = json.loads(answer.get("sums") or "[]")
        found = [
            FloatSum(s["column"], s["bits"], _finite(s.get("total")), _finite(s.get("magnitude")))
            for s in sums
        ]
        return RowsDigest(answer["rows"], digest_text(answer.get("content")), tuple(found))


def queries_of(texts: Mapping[str, str]) -> list[Query]:
    """Return the workloads with these texts, by their names."""
    return [Query(name, text) for name, text in texts.items()]


def _numbered(schema: T.StructType) -> list[str]:
    return [f"c{number}" for number in range(len(schema))]


def _finite(total: float | str | None) -> float | None:
    """Return a sum as it is in JSON; None for the sum over no rows, and for one that is not finite."""
    if total is None or not math.isfinite(float(total)):
        return None
    return float(total)


def _exact(type_: T.DataType, value: str) -> str:
    """Return the expression of all that is in a value, but the finite numbers of floating point."""
    if isinstance(type_, _FLOATING):
        return f"if({_is_finite(value)}, '', string({value}))"
    if isinstance(type_, T.StructType):
        inner = ", ".join(_exact(field.dataType, _of(value, field)) for field in type_)
        return f"if(isnull({value}), null, struct({inner}))"
    if isinstance(type_, T.ArrayType):
        return f"transform({value}, x -> {_exact(type_.elementType, 'x')})"
    if isinstance(type_, T.MapType):
        return _exact(_entries(type_), f"map_entries({value})")
    if type_.typeName() == "variant":
        return f"to_json({value})"
    return value


def _added(type_: T.DataType, value: str, term: str) -> str:
    """Return the expression of the sum of a term of each finite number of floating point in a value.

    It is empty if the type has none.
    """
    if isinstance(type_, _FLOATING):
        return f"if({_is_finite(value)}, {term.format(f'double({value})')}, 0D)"
    if isinstance(type_, T.StructType):
        inner = [_added(field.dataType, _of(value, field), term) for field in type_]
        return " + ".join(filter(None, inner))
    if isinstance(type_, T.MapType):
        return _added(_entries(type_), f"map_entries({value})", term)
    added = ""
    if isinstance(type_, T.ArrayType):
        added = _added(type_.elementType, "x", term)
    if not added:
        return ""
    return f"coalesce(aggregate({value}, 0D, (s, x) -> s + {added}), 0D)"


def _is_finite(value: str) -> str:
    return f"abs({value}) < double('infinity')"  # NaN is larger than all others in Spark


def _of(value: str, field: T.StructField) -> str:
    escaped = field.name.replace("`", "``")
    return f"{value}.`{escaped}`"


def _entries(type_: T.MapType) -> T.ArrayType:
    pair = T.StructType().add("key", type_.keyType).add("value", type_.valueType)
    return T.ArrayType(pair)
