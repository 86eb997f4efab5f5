"""The facts read from the Spark session, and when it is ready to be measured."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

REDACTED = "*********(redacted)"
DEFAULT_REDACTION = "(?i)secret|password|token|access[.]?key"
EXECUTORS_WAIT_S = 30.0
EXECUTORS_STILL_S = 2.0


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


def executors(spark: SparkSession) -> list[str]:
    """Hosts of the executors, one each; in local mode the driver's own."""
    context: Any = spark.sparkContext
    infos = context._jsc.sc().statusTracker().getExecutorInfos()  # noqa: SLF001  not in pyspark
    hosts = [str(info.host()) for info in infos]
    # The driver is among them, and comes first.
    return sorted(hosts[1:] or hosts)


def wait_for_executors(spark: SparkSession) -> None:
    """Return when the executors' number has been still for two seconds, or after half a minute.

    On a cluster they arrive one by one, and what is planned before they have is planned for fewer.
    """
    spark.range(1).count()  # waits for the first
    if str(spark.sparkContext.master).startswith("local"):
        return
    deadline = time.monotonic() + EXECUTORS_WAIT_S
    count, still_since = 0, time.monotonic()
    while time.monotonic() < min(deadline, still_since + EXECUTORS_STILL_S):
        now = len(executors(spark))
        if now != count:
            count, still_since = now, time.monotonic()
        time.sleep(0.2)


def redact(spark: SparkSession, conf: Mapping[str, str]) -> dict[str, str]:
    """Replace every value whose key or value `spark.redaction.regex` matches.

    The pattern is Java's, so Java matches it.
    """
    context: Any = spark.sparkContext
    regex = conf.get("spark.redaction.regex", DEFAULT_REDACTION)
    pattern = context._jvm.java.util.regex.Pattern.compile(regex)  # noqa: SLF001

    def is_secret(key: str, value: str) -> bool:
        return bool(pattern.matcher(key).find() or pattern.matcher(value).find())

    return {
        key: REDACTED if is_secret(key, value) and key != "spark.redaction.regex" else value
        for key, value in sorted(conf.items())
    }
