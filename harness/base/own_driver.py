"""Refuses Spark Connect and Databricks, where Spark's driver would not be ours: nothing can be measured."""

from __future__ import annotations

import os
from collections.abc import Mapping

from harness.base.errors import BadInput

_REMOTE = ("spark.remote", "SPARK_REMOTE", "PYSPARK_REMOTE_INIT_CONF_LEN")
"""Names that are set if Spark Connect is asked for. By the last one, spark-submit tells a script."""


def require_own_driver(properties: Mapping[str, str]) -> None:
    """Raise BadInput if Spark, with these properties and this environment, may be out of our reach."""
    given = {**os.environ, **properties}
    is_remote = any(given.get(name) for name in _REMOTE)
    for name in ("spark.api.mode", "SPARK_API_MODE"):
        is_remote = is_remote or given.get(name, "").lower() == "connect"
    if is_remote:
        place = "Spark Connect"
        remedy = "submit without --remote, SPARK_REMOTE and spark.api.mode"
    elif "DATABRICKS_RUNTIME_VERSION" in given:
        place = "Databricks, whose standard and serverless compute is Spark Connect,"
        remedy = "see docs/where-it-runs.md"
    else:
        return
    raise BadInput(
        f"{place} gives no access to the driver's JVM, which has Spark's events, our sinks and the layouts "
        f"of files: {remedy}"
    )
