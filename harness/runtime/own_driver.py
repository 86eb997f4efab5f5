"""Where Spark's driver would not be ours, nothing can be measured: Spark Connect, and Databricks."""

import os
from collections.abc import Mapping

from harness.model.errors import BadInput


def require_own_driver(properties: Mapping[str, str]) -> None:
    """Raise BadInput if Spark, with these properties and this environment, may be out of our reach."""
    given = {**os.environ, **properties}
    remote = [name for name in ("spark.remote", "SPARK_REMOTE") if given.get(name)]
    modes = ("spark.api.mode", "SPARK_API_MODE")
    remote += [name for name in modes if given.get(name, "").lower() == "connect"]
    if remote:
        place = f"Spark Connect, which {remote[0]} asks for,"
    elif "DATABRICKS_RUNTIME_VERSION" in given:
        place = "Databricks, whose standard and serverless compute is Spark Connect,"
    else:
        return
    raise BadInput(
        f"{place} gives no access to the driver's JVM, which shows layouts of files and Spark's events and "
        "has our sinks: submit to a cluster by --master (docs/where-it-runs.md)"
    )
