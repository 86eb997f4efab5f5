"""Whether the text of a query only reads: Spark's own parser decides, before anything runs."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterator
from typing import Any

from py4j.java_gateway import JavaObject, is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from datagen.spark import java_packages, spark_errors_as_one_line
from harness.base.errors import BadInput
from harness.work.queries import QueryDirectory

_TABLES = (
    "UnresolvedRelation RelationTimeTravel RelationChanges OneRowRelation UnresolvedInlineTable "
    "ResolvedInlineTable LocalRelation UnresolvedTableValuedFunction UnresolvedTVFAliases"
)
_NAMES = "SubqueryAlias UnresolvedSubqueryColumnAliases UnresolvedWith UnresolvedHint"
_ROWS = (
    "Project DataFrameDropColumns Filter UnresolvedHaving UnresolvedQualify Aggregate "
    "WithWindowDefinition Generate Pivot Unpivot Distinct Sort GlobalLimit LocalLimit Offset Sample "
    "UnresolvedBinBy RepartitionByExpression PipeOperator"
)
_SIDES = "Join LateralJoin AsOfJoin Union Intersect Except"
READING = frozenset(f"{_TABLES} {_NAMES} {_ROWS} {_SIDES}".split())
"""Spark's classes of the nodes that a parsed query may have. A node that is not listed could write."""

_WITH_HIDDEN = frozenset({"WithWindowDefinition", "UnresolvedTableValuedFunction"})
"""Nodes with expressions that Spark does not list as such: subqueries are looked for in all their fields."""
_STAR = "UnresolvedStar"
"""How the same begin among the columns of a `Project`: `|> SET` is a star that has expressions."""


def require_queries(spark: SparkSession, queries: QueryDirectory) -> None:
    """Raise BadInput, which names the file, unless each text is one statement that only reads."""
    session: Any = spark
    parser = session._jsparkSession.sessionState().sqlParser()  # noqa: SLF001
    identifier = _identifier_pattern(spark)
    for name, text in queries.texts.items():
        file = queries.files[name]
        hint = " (a file has one statement)" if ";" in text else ""
        with spark_errors_as_one_line(f"{file} is no query that Spark can parse{hint}", BadInput):
            plan = parser.parsePlan(text)
            for node in _nodes(session, plan):
                if identifier and node.containsPattern(identifier):
                    raise BadInput(
                        f"{file} names something by IDENTIFIER(...), which Spark resolves too late to check; "
                        "write the name itself"
                    )
                kind = _class_name(node)
                if kind not in READING:
                    raise BadInput(
                        f"{file} is no query: Spark parses it as {kind}; a query reads tables and returns "
                        "rows, and does nothing else"
                    )


def _identifier_pattern(spark: SparkSession) -> Any:
    """Return what marks IDENTIFIER(...), whose arguments are a closure; None if Spark is older than it."""
    patterns = java_packages(spark).org.apache.spark.sql.catalyst.trees.TreePattern
    try:
        return patterns.withName("UNRESOLVED_IDENTIFIER")
    except Py4JJavaError:
        return None


def _nodes(session: Any, plan: Any) -> Iterator[Any]:
    """Yield all nodes of a plan, also those of subqueries."""
    gateway = session.sparkContext._gateway  # noqa: SLF001
    left = [plan]
    while left:
        node = left.pop()
        yield node
        if _hides(node):
            left += _plans_in(gateway, node.productIterator().toSeq())
        else:
            left += _elements(node.children())
            left += _elements(node.innerChildren())


def _hides(node: Any) -> bool:
    kind = _class_name(node)
    if kind == "Project":
        return any(_class_name(each).startswith(_STAR) for each in _elements(node.projectList()))
    return kind in _WITH_HIDDEN


def _plans_in(gateway: Any, value: Any) -> Iterator[Any]:
    """Yield the plans in a Scala value: in the fields of a case class, and in collections."""
    if not isinstance(value, JavaObject):
        return
    if is_instance_of(gateway, value, "org.apache.spark.sql.catalyst.plans.logical.LogicalPlan"):
        yield value
    elif is_instance_of(gateway, value, "scala.collection.Iterable"):
        for each in _elements(value.toSeq()):
            yield from _plans_in(gateway, each)
    elif is_instance_of(gateway, value, "scala.Product"):
        for each in _elements(value.productIterator().toSeq()):
            yield from _plans_in(gateway, each)


def _elements(sequence: Any) -> list[Any]:
    """Return what a Seq of Scala has."""
    return [sequence.apply(number) for number in range(sequence.size())]


def _class_name(value: Any) -> str:
    return str(value.getClass().getSimpleName())
