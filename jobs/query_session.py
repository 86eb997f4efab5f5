"""The session of a query with statements before it: what they may be, and where they run.

SET, USE and temporary views change a session, and no other one. Spark's parser decides what a statement is.
"""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from datagen.spark import java_packages
from harness.base.redaction import SENSITIVE_NAME
from harness.work.queries import BEFORE_A_QUERY

_BY_CONF = "give it to spark-submit by --conf"
REFUSED: Mapping[str, str] = {
    r"spark\.(scheduler|job|jobGroup|extraListeners|eventLog|metrics|ui)\b.*": (
        "it would change what is measured"
    ),
    r"spark\.sql\.(ui|debug|event|redaction|maxPlanStringLength|queryExecutionListeners)\b.*": (
        "it would change what is recorded of the plan"
    ),
    r"(spark\.hadoop\.)?parquet\.hadoop\.vectored\.io\.enabled": (
        "Spark would no longer count the bytes that it reads"
    ),
    r"spark\.sql\.legacy\.setCommandRejectsSparkCoreConfs": (
        "properties of the application would seem to change, and do not"
    ),
    r"spark\.sql\.(catalog|extensions|streaming|hive\.metastore)\b.*": (
        f"it decides which classes Spark loads; {_BY_CONF}"
    ),
    r"(?i).*(class|classes|classname|\.impl|\.jars)": (
        f"it decides which classes Spark loads; {_BY_CONF}"
    ),
}
"""Patterns of keys that SET may not change, with the reason."""

VIEW = "CreateViewCommand"
"""Spark's class of a view that a query defines."""
_FOR_GOOD = "it would create a view for good: write CREATE TEMPORARY VIEW"
_GLOBAL = "a global view would reach other queries: leave out GLOBAL"
_PROBLEMS: Mapping[str, str | None] = {
    "SetCatalogAndNamespace": None,
    "SetNamespaceCommand": None,
    "SetCatalogCommand": None,
    "CreateView": _FOR_GOOD,
}
"""Why statements of these classes cannot stand before a query; None if they can."""


def own_session(spark: SparkSession) -> SparkSession:
    """Return a session with the tables, the namespace and the properties of this one, which it can change."""
    session: Any = spark
    return SparkSession(spark.sparkContext, session._jsparkSession.cloneSession())  # noqa: SLF001


@contextmanager
def obeyed_by_parser(session: SparkSession, other: SparkSession) -> Iterator[None]:
    """Let a session decide how Spark parses in this thread, and the other one afterwards."""
    _activate(session)
    try:
        yield
    finally:
        _activate(other)


def _activate(session: Any) -> None:
    sessions = java_packages(session).SparkSession
    if hasattr(SparkSession, "_get_j_spark_session_class"):  # Spark 4
        sessions = SparkSession._get_j_spark_session_class(java_packages(session))  # noqa: SLF001
    sessions.setActiveSession(session._jsparkSession)  # noqa: SLF001


def session_after(spark: SparkSession, statements: Iterable[str]) -> SparkSession:
    """Return a session of its own in which these statements have run."""
    session = own_session(spark)
    for statement in statements:
        session.sql(statement)
    return session


def why_not_set(key: str) -> str | None:
    """Return why SET may not give this key a value; None if it may."""
    if SENSITIVE_NAME.search(key):
        return f"it is a credential; {_BY_CONF}"
    for pattern, reason in REFUSED.items():
        if re.fullmatch(pattern, key):
            return reason
    return None


class ViewsOfSession:
    """The temporary views that the statements before a query have created, as far as they are looked at."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def problem(self, plan: Any, kind: str) -> str | None:
        """Return why a statement with this parsed plan cannot stand before a query; None if it can.

        `kind` is the class of the plan. The caller has to check the query of a view as well.
        """
        if kind == "SetCommand":
            return _problem_of_set(plan)
        if kind == VIEW:
            return self._created(str(plan.name().table()), str(plan.viewType()))
        if kind == "CreateTempViewUsing":
            scope = "GlobalTempView" if getattr(plan, "global")() else "LocalTempView"
            return self._created(str(plan.tableIdent().table()), scope)
        if kind == "DropView":
            return self._dropped(str(plan.child().nameParts().mkString(".")))
        return _PROBLEMS.get(
            kind, f"Spark parses it as {kind}; {BEFORE_A_QUERY} can stand before a query"
        )

    def _created(self, name: str, scope: str) -> str | None:
        if "LocalTemp" in scope:
            self._names.add(name.lower())
            return None
        return _GLOBAL if "GlobalTemp" in scope else _FOR_GOOD

    def _dropped(self, name: str) -> str | None:
        if name.lower() not in self._names:
            return f"DROP VIEW {name} would drop what the file has not created"
        self._names.remove(name.lower())
        return None


def _problem_of_set(plan: Any) -> str | None:
    if plan.kv().isEmpty() or plan.kv().get()._2().isEmpty():  # noqa: SLF001  a tuple of Scala
        return "SET without a value sets nothing"
    key = str(plan.kv().get()._1())  # noqa: SLF001
    reason = why_not_set(key)
    return f"SET {key} is refused: {reason}" if reason else None
