"""Which of Spark's properties may explain a difference in time, and which differ by nature."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate

_BY_NATURE = (
    # Names, addresses and numbers of one application.
    *("spark.app.*", "spark.executor.id", "spark.master", "spark.*.port", "spark.driver.host"),
    *("spark.driver.bindAddress", "spark.driver.appUIAddress", "spark.ui.*", "spark.yarn.app.*"),
    *("spark.kubernetes.*pod*.name", "spark.kubernetes.executor.podNamePrefix"),
    "spark.org.apache.hadoop.yarn.server.webproxy.*",
    # Where something is kept that no trial reads or writes.
    *("spark.eventLog.dir", "spark.sql.warehouse.dir", "spark.submit.pyFiles", "spark.repl.*"),
    *("spark.yarn.stagingDir", "spark.history.*"),
    # How files are written, and where; how they lie is observed.
    *(
        "spark.hadoop.fs.defaultFS",
        "spark.hadoop.fs.qfs.createParams",
        "spark.hadoop.dfs.replication",
    ),
)
_IS_BY_NATURE = re.compile("|".join(map(translate, _BY_NATURE)))

_JAVA_OPTIONS = re.compile(r"spark\.(driver|executor)\.(extra|default)JavaOptions")
_SPARKS_OWN = (
    *("--add-modules=jdk.incubator.vector", "--add-opens=java.", "--enable-native-access="),
    *("--sun-misc-unsafe-memory-access=", "-XX:+IgnoreUnrecognizedVMOptions", "-Dio.netty."),
    *("-Djava.net.preferIPv6Addresses=", "-Djdk.reflect.useDirectMethodHandle="),
)
"""Java options that Spark adds by itself, others in each version."""


def telling(conf: Mapping[str, str]) -> dict[str, str]:
    """Without what differs from run to run by nature."""
    kept = {key: _chosen(key, value) for key, value in conf.items() if not _IS_BY_NATURE.match(key)}
    return {key: value for key, value in kept.items() if value}


def _chosen(key: str, value: str) -> str:
    """Of Java options those that a user has chosen."""
    if not _JAVA_OPTIONS.fullmatch(key):
        return value
    return " ".join(one for one in value.split() if not one.startswith(_SPARKS_OWN))
