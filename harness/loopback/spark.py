"""The Spark of this machine, found without importing it."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

from harness.errors import BadInput


def spark_home() -> Path:
    """`$SPARK_HOME`, or the pyspark package of this Python. Raises BadInput if there is neither."""
    if named := os.environ.get("SPARK_HOME"):
        if not (Path(named) / "jars").is_dir():
            raise BadInput(f"SPARK_HOME is {named}, which has no jars/; name Spark's directory")
        return Path(named).absolute()
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise BadInput("no Spark: set SPARK_HOME, or install pyspark beside clusterlift")
    return Path(spec.submodule_search_locations[0])


def hadoop_version(home: Path) -> str:
    """The version of the Hadoop client that a Spark brings. Raises BadInput if it brings none."""
    for jar in sorted((home / "jars").glob("hadoop-client-api-*.jar")):
        if match := re.fullmatch(r"hadoop-client-api-(\d[\w.-]*)\.jar", jar.name):
            return match[1]
    raise BadInput(
        f"{home / 'jars'} has no hadoop-client-api-*.jar; use a Spark that was built with Hadoop"
    )
