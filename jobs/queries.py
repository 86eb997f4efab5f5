"""A user's query as a workload: what it answers in one trial, it has to answer in all of them."""

from __future__ import annotations  # for Python 3.8

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from datagen.dataset import digest_expression, digest_text
from harness.model.answer import MAX_WEIGHT, ColumnDigest, FloatSum, RowsDigest
from harness.model.planning import Planning
from harness.work.queries import QueryText
from harness.work.statements import left_to_chance, limits_in
from jobs.query_session import session_after
from jobs.sorted_limit import SortedLimit, sorted_limit
from jobs.workload import Answer, Bottleneck, Context, Workload

_FLOATING = (T.FloatType, T.DoubleType)


class Query(Workload):
    """A query in SQL. Its columns are numbered, because two of them may have the same name."""

    bottleneck = Bottleneck.INPUT
    reads_data = False
    reads_tables = True

    def __init__(self, name: str, text: str, before: Sequence[str] = ()) -> None:
        self.name = name
        self._text = text
        self._before = before
        self._limit: SortedLimit | None = None
        self._planning = Planning()

    def frame(self, context: Context) -> DataFrame:
        rows = self._rows(context)
        plan: Any = rows
        phases = plan._jdf.queryExecution().tracker().phases()  # noqa: SLF001
        self._planning = Planning(_seconds(phases, "parsing"), _seconds(phases, "analysis"))
        return rows.toDF(*_column_names(rows.schema))

    def planning(self) -> Planning:
        return self._planning

    def _rows(self, context: Context) -> DataFrame:
        """Return the rows of the query, in its own session if there are statements before it."""
        session = context.spark
        if self._before:
            if self.name not in context.sessions:
                context.sessions[self.name] = session_after(session, self._before)
            session = context.sessions[self.name]
        return session.sql(self._text)

    def observe(self, context: Context) -> Mapping[str, Column]:
        rows: Any = self._rows(context)
        schema = rows.schema
        names = _column_names(schema)
        self._limit = sorted_limit(rows._jdf.queryExecution().analyzed())  # noqa: SLF001
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
            weighted = f"sum(({added}) * (1 + {MAX_WEIGHT - 1}D * {share}))"
            magnitude = f"sum({_added(field.dataType, name, 'abs({})')})"
            sums.append(
                F.struct(
                    F.lit(field.name).alias("column"),
                    F.lit(_bits(field.dataType)).alias("bits"),
                    F.expr(weighted).alias("total"),
                    F.expr(magnitude).alias("magnitude"),
                )
            )
        observed = {
            "rows": F.count("*"),
            "content": F.expr(digest_expression(hashed)),
            "columns": F.to_json(F.array(*[_column(field, name) for field, name in columns])),
        }
        if sums:
            observed["sums"] = F.to_json(F.array(*sums))
        return observed

    def check(self, answer: Answer, context: Context) -> RowsDigest:
        sums = json.loads(answer.get("sums") or "[]")
        found: list[FloatSum] = []
        for each in sums:
            total = _finite(each.get("total"))
            magnitude = _finite(each.get("magnitude"))
            found.append(FloatSum(each["column"], each["bits"], total, magnitude))
        return RowsDigest(
            answer["rows"],
            digest_text(answer.get("content")),
            tuple(found),
            columns=self._columns(json.loads(answer.get("columns") or "[]")),
            limit=self._limit.rows if self._limit else None,
            chance=self._chance(),
        )

    def _columns(self, observed: Sequence[Mapping[str, Any]]) -> tuple[ColumnDigest, ...]:
        """Return the digest of each column from what Spark observed of it."""
        found: list[ColumnDigest] = []
        for position, each in enumerate(observed):
            added = None
            if each.get("bits"):
                total = _finite(each.get("total"))
                added = FloatSum(
                    each["column"], each["bits"], total, _finite(each.get("magnitude"))
                )
            is_sorted = self._limit is not None and position in self._limit.columns
            digest = digest_text(each.get("digest"))
            found.append(ColumnDigest(each["column"], digest, added, is_sorted))
        return tuple(found)

    def _chance(self) -> tuple[str, ...]:
        """Return what may give another answer on the same data, besides ties at a limit that is known."""
        texts = [*self._before, self._text]
        limits = sum(map(limits_in, texts))
        found: list[str] = []
        for text in texts:
            found += left_to_chance(text)
        if limits > (1 if self._limit else 0):
            found.append("LIMIT")
        return tuple(dict.fromkeys(found))


def queries_of(texts: Mapping[str, QueryText]) -> list[Query]:
    """Return the workloads with these texts, by their names."""
    return [Query(name, text.query, text.before) for name, text in texts.items()]


def _seconds(phases: Any, name: str) -> float | None:
    """Return how long a phase took that Spark has recorded; None if it has not."""
    phase = phases.get(name)
    if phase.isEmpty():
        return None
    return max(0, int(phase.get().durationMs())) / 1e3


def _column_names(schema: T.StructType) -> list[str]:
    """Return names that differ, `c0`, `c1`, ..., because an answer may have a name several times."""
    return [f"c{number}" for number in range(len(schema))]


def _column(field: T.StructField, name: str) -> Column:
    """Return what is observed of the values of one column, as it is in JSON."""
    digest = digest_expression([_exact(field.dataType, name), f"isnull({name})"])
    bits, total, magnitude = F.lit(None), F.lit(None), F.lit(None)
    if _added(field.dataType, name, "{}"):
        bits = F.lit(_bits(field.dataType))
        total = F.expr(f"sum({_added(field.dataType, name, '{}')})")
        magnitude = F.expr(f"sum({_added(field.dataType, name, 'abs({})')})")
    return F.struct(
        F.lit(field.name).alias("column"),
        F.expr(digest).alias("digest"),
        bits.cast("int").alias("bits"),
        total.cast("double").alias("total"),
        magnitude.cast("double").alias("magnitude"),
    )


def _bits(type_: T.DataType) -> int:
    return 32 if "float" in type_.simpleString() else 64


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
