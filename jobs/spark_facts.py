"""The facts read from the Spark session, redacted as Spark redacts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from datagen.spark.session import executors

REDACTED = "*********(redacted)"
DEFAULT_REDACTION = "(?i)secret|password|token|access[.]?key"


def spark_facts(spark: SparkSession) -> dict[str, Any]:
    """Versions, executors by host and the configuration, redacted as Spark redacts it."""
    context: Any = spark.sparkContext
    jvm = context._jvm  # noqa: SLF001  no public way to the JVM's properties
    return {
        "spark": spark.version,
        "hadoop": str(jvm.org.apache.hadoop.util.VersionInfo.getVersion()),
        "java": str(jvm.java.lang.System.getProperty("java.runtime.version")),
        "scala": str(jvm.scala.util.Properties.versionNumberString()),
        "master": context.master,
        "application": context.applicationId,
        "parallelism": context.defaultParallelism,
        "executors": executors(spark),
        "spark_conf": redact(spark, dict(context.getConf().getAll())),
    }


def redact(spark: SparkSession, conf: Mapping[str, str]) -> dict[str, str]:
    """Replace every value whose key or value `spark.redaction.regex` matches.

    The pattern is Java's, so Java matches it.
    """
    context: Any = spark.sparkContext
    regex = context.getConf().get("spark.redaction.regex", DEFAULT_REDACTION)
    pattern = context._jvm.java.util.regex.Pattern.compile(regex)  # noqa: SLF001

    def is_secret(key: str, value: str) -> bool:
        return bool(pattern.matcher(key).find() or pattern.matcher(value).find())

    return {
        key: REDACTED if is_secret(key, value) and key != "spark.redaction.regex" else value
        for key, value in sorted(conf.items())
    }
