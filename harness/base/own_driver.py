"""Where Spark's driver would not be ours, nothing can be measured: Spark Connect, and Databricks."""

import os
from collections.abc import Mapping

from harness.base.errors import BadInput

_REMOTE = ("spark.remote", "SPARK_REMOTE", "PYSPARK_REMOTE_INIT_CONF_LEN")
"""What says that Spark Connect is asked for; the last is how spark-submit tells a script."""


def require_own_driver(properties: Mapping[str, str]) -> None:
    """Raise BadInput if Spark, with these properties and this environment, may be out of our reach."""
    given = {**os.environ, **properties}
    modes = [given.get(name, "").lower() for name in ("spark.api.mode", "SPARK_API_MODE")]
    if any(map(given.get, _REMOTE)) or "connect" in modes:
        place, remedy = "Spark Connect", "submit without --remote, SPARK_REMOTE and spark.api.mode"
    elif "DATABRICKS_RUNTIME_VERSION" in given:
        place = "Databricks, whose standard and serverless compute is Spark Connect,"
        remedy = "see docs/where-it-runs.md"
    else:
        return
    raise BadInput(
        f"{place} gives no access to the driver's JVM, which has Spark's events, our sinks and the layouts "
        f"of files: {remedy}"
    )
