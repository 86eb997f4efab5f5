"""Whether queries, and what is before them, only read: Spark's own parser decides, before anything runs."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject, is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from datagen.spark import elements, java_packages, spark_errors_as_one_line
from harness.base.errors import BadInput
from harness.work.queries import QueryText
from jobs.query_session import VIEW, ViewsOfSession, obeyed_by_parser, own_session
from jobs.sorted_limit import class_name

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


def require_queries(spark: SparkSession, queries: Mapping[str, QueryText]) -> None:
    """Raise BadInput, which names the file, unless each query only reads, and what is before it may be there.

    SET takes effect in a session of its own, because the parser obeys some properties.
    """
    identifier = _identifier_pattern(spark)
    for query in queries.values():
        if not query.before:
            _require_query(spark, query, identifier)
            continue
        session = own_session(spark)
        with obeyed_by_parser(session, spark):
            _require_before(session, query, identifier)
            _require_query(session, query, identifier)


def _require_before(session: SparkSession, query: QueryText, identifier: Any) -> None:
    """Raise BadInput if a statement before a query does more than set properties and name views."""
    views = ViewsOfSession()
    for statement in query.before:
        plan = _parsed(session, query.path, statement)
        kind = class_name(plan)
        problem = views.problem(plan, kind)
        if problem:
            raise BadInput(f"{query.path}: {problem}")
        if kind == "SetCommand":
            with spark_errors_as_one_line(f"{query.path}: Spark refuses a SET", BadInput):
                session.sql(statement)
        if kind == VIEW:
            below = [each for each in _nodes(session, plan) if each is not plan]
            _require_reading(query.path, below, identifier)


def _require_query(session: SparkSession, query: QueryText, identifier: Any) -> None:
    plan = _parsed(session, query.path, query.query)
    _require_reading(query.path, _nodes(session, plan), identifier)


def _parsed(session: Any, path: Path, statement: str) -> Any:
    parser = session._jsparkSession.sessionState().sqlParser()  # noqa: SLF001
    with spark_errors_as_one_line(f"{path} has a statement that Spark cannot parse", BadInput):
        return parser.parsePlan(statement)


def _require_reading(path: Path, nodes: Iterable[Any], identifier: Any) -> None:
    """Raise BadInput, which names the file, unless these nodes of a parsed plan only read."""
    with spark_errors_as_one_line(f"{path} has a statement that Spark cannot parse", BadInput):
        for node in nodes:
            if identifier and node.containsPattern(identifier):
                raise BadInput(
                    f"{path} names something by IDENTIFIER(...), which Spark resolves too late to check; "
                    "write the name itself"
                )
            kind = class_name(node)
            if kind not in READING:
                raise BadInput(
                    f"{path} is no query: Spark parses it as {kind}; a query reads tables and returns "
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
    """Yield all nodes of a plan, also the nodes of its subqueries."""
    gateway = session.sparkContext._gateway  # noqa: SLF001
    left = [plan]
    while left:
        node = left.pop()
        yield node
        if _hides(node):
            left += _plans_in(gateway, node.productIterator().toSeq())
        else:
            left += elements(node.children())
            left += elements(node.innerChildren())


def _hides(node: Any) -> bool:
    kind = class_name(node)
    if kind == "Project":
        return any(class_name(each).startswith(_STAR) for each in elements(node.projectList()))
    return kind in _WITH_HIDDEN


def _plans_in(gateway: Any, value: Any) -> Iterator[Any]:
    """Yield the plans in a Scala value: in the fields of a case class, and in collections."""
    if not isinstance(value, JavaObject):
        return
    if is_instance_of(gateway, value, "org.apache.spark.sql.catalyst.plans.logical.LogicalPlan"):
        yield value
    elif is_instance_of(gateway, value, "scala.collection.Iterable"):
        for each in elements(value.toSeq()):
            yield from _plans_in(gateway, each)
    elif is_instance_of(gateway, value, "scala.Product"):
        for each in elements(value.productIterator().toSeq()):
            yield from _plans_in(gateway, each)
