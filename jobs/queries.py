"""A user's query as a workload: what it answers in one trial, it has to answer in all of them."""

import json
import math
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from datagen.dataset import digest_expression, digest_text
from harness.model.answer import MAX_WEIGHT, FloatSum, RowsDigest
from jobs.workload import Answer, Bottleneck, Context, Workload


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
        fields = list(zip(schema, names, strict=True))
        # A hash skips what is null: the same values in other columns would have the same one.
        hashed = [_exact(f.dataType, name) for f, name in fields] + [f"isnull({n})" for n in names]
        share = f"shiftrightunsigned(xxhash64({', '.join(hashed)}), 32) / {2**32}D"
        sums = [
            F.struct(
                F.lit(field.name).alias("column"),
                F.lit(32 if "float" in field.dataType.simpleString() else 64).alias("bits"),
                F.expr(f"sum(({added}) * (1 + {MAX_WEIGHT - 1}D * {share}))").alias("total"),
                F.expr(f"sum({_added(field.dataType, name, 'abs({})')})").alias("magnitude"),
            )
            for field, name in fields
            if (added := _added(field.dataType, name, "{}"))
        ]
        as_text = {"sums": F.to_json(F.array(*sums))} if sums else {}
        return {"rows": F.count("*"), "content": F.expr(digest_expression(hashed)), **as_text}

    def check(self, answer: Answer, context: Context) -> RowsDigest:
        sums = (
            FloatSum(s["column"], s["bits"], _finite(s.get("total")), _finite(s.get("magnitude")))
            for s in json.loads(answer.get("sums") or "[]")
        )
        return RowsDigest(answer["rows"], digest_text(answer.get("content")), tuple(sums))


def queries_of(texts: Mapping[str, str]) -> list[Query]:
    """Return the workloads with these texts, by their names."""
    return [Query(name, text) for name, text in texts.items()]


def _numbered(schema: T.StructType) -> list[str]:
    return [f"c{number}" for number in range(len(schema))]


def _finite(total: float | str | None) -> float | None:
    """Return a sum as it is in JSON; None of the sum over no rows, and of one that is not finite."""
    return None if total is None or not math.isfinite(float(total)) else float(total)


def _exact(type_: T.DataType, value: str) -> str:
    """Return the expression of all that is in a value, but the finite numbers of floating point."""
    match type_:
        case T.FloatType() | T.DoubleType():
            return f"if({_is_finite(value)}, '', string({value}))"
        case T.StructType():
            inner = ", ".join(_exact(field.dataType, _of(value, field)) for field in type_)
            return f"if(isnull({value}), null, struct({inner}))"
        case T.ArrayType():
            return f"transform({value}, x -> {_exact(type_.elementType, 'x')})"
        case T.MapType():
            return _exact(_entries(type_), f"map_entries({value})")
    return f"to_json({value})" if type_.typeName() == "variant" else value


def _added(type_: T.DataType, value: str, term: str) -> str:
    """Return the expression of the sum of a term of each finite number of floating point in a value.

    It is empty if the type has none.
    """
    match type_:
        case T.FloatType() | T.DoubleType():
            return f"if({_is_finite(value)}, {term.format(f'double({value})')}, 0D)"
        case T.StructType():
            inner = (_added(field.dataType, _of(value, field), term) for field in type_)
            return " + ".join(filter(None, inner))
        case T.ArrayType():
            added = _added(type_.elementType, "x", term)
            return added and f"coalesce(aggregate({value}, 0D, (s, x) -> s + {added}), 0D)"
        case T.MapType():
            return _added(_entries(type_), f"map_entries({value})", term)
    return ""


def _is_finite(value: str) -> str:
    return f"abs({value}) < double('infinity')"  # NaN is larger than all others in Spark


def _of(value: str, field: T.StructField) -> str:
    escaped = field.name.replace("`", "``")
    return f"{value}.`{escaped}`"


def _entries(type_: T.MapType) -> T.ArrayType:
    pair = T.StructType().add("key", type_.keyType).add("value", type_.valueType)
    return T.ArrayType(pair)
