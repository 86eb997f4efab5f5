"""Which of Spark's properties may explain a difference in time, and which differ by nature."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from typing import Any

from harness.analysis.observed import is_emulated, layouts, sysctls
from harness.model.run import Facts, Run

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


# MERGED from harness.analysis.confounders.circumstances: "What may explain a run's times besides what is under test, as it recorded it.\n\nEach function gives values by name, None where a run ought to know and does not; nothing at all where\nit recorded nothing of the kind. Links and what users declare are not among them: they are what is\ncompared.\n"
NOT_SET = "not set"
LAYOUT, REPARTITION, SAMPLES = "layout", "--repartition", "--pi-samples"
NEEDED = frozenset(
    {"sink", "warm-up rounds", REPARTITION, SAMPLES, "dataset", LAYOUT}
    | {"Spark version", "Java version", "kernel", "executors"}
)
"""A comparison is in doubt where only one side knows them."""


def parameters(run: Run) -> Facts:
    """What the benchmark was asked for, and by which version of it."""
    asked = run.parameters
    return {
        "measured by": run.written_by,
        "sink": asked.get("sink"),
        "warm-up rounds": asked.get("warmup"),
        REPARTITION: asked.get("repartition"),
        SAMPLES: asked.get("pi_samples"),
        "emulated": is_emulated(run),
        "cores of an emulated node": run.facts.get("cpus") if is_emulated(run) else None,
    }


def dataset(run: Run) -> Facts:
    """What was read, how it lay, and what of it was in memory before."""
    data = run.dataset
    if data is None:
        return {}
    return {
        "dataset": content(run),
        "format": data.get("format"),
        "files of the dataset": data.get("file_count"),
        "storage": _scheme(data.get("uri")),
        LAYOUT: ", ".join(layouts(run)) or None,
        "lies otherwise than its manifest says": bool((data.get("layout") or {}).get("drift")),
        "nodes that store the data": len(data.get("placement") or ()) or None,
        "parity computed by": data.get("coder"),
        "page cache of the storing nodes": data.get("page_cache"),
        "read once before the trials": run.parameters.get("content_checked"),
    }


def content(run: Run) -> str | None:
    """Which rows were read; None if none were, or it is not known."""
    data = run.dataset or {}
    if not data.get("digest"):
        return None
    return f"{as_text(data.get('rows')) or 'unknown'} rows of digest {data['digest']}"


def environment(run: Run) -> Facts:
    """Machines and software."""
    observed = run.environment
    if not observed:
        return {}
    return {
        "Spark version": observed.get("spark"),
        "Java version": observed.get("java"),
        "Hadoop version": observed.get("hadoop"),
        "Scala version": observed.get("scala"),
        "Python version": observed.get("python"),
        "cluster manager": _manager(observed.get("master")),
        "executors": _counted(observed.get("executors")),
        "cores of all executors": observed.get("parallelism"),
        "kernel": observed.get("kernel"),
        "processor": observed.get("cpu_model"),
        "architecture": observed.get("architecture"),
        "processors of the driver's node": observed.get("cpus"),
        "memory of the driver's node": _gibibytes(observed.get("memory_bytes")),
        **{_sysctl(name): value for name, value in sysctls(run).items()},
        **telling(observed.get("spark_conf") or {}),
    }


def _sysctl(name: str) -> str:
    return "TCP congestion control" if name == "net.ipv4.tcp_congestion_control" else name


def as_text(value: Any) -> str | None:
    """A circumstance as people read it; None if it is unknown."""
    match value:
        case None:
            return None
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def _scheme(uri: str | None) -> str | None:
    return None if uri is None else uri.partition(":")[0]


def _manager(master: str | None) -> str | None:
    """Without its address, which has no part in the times; local mode has a number of threads."""
    return master if master is None or master.startswith("local") else master.partition(":")[0]


def _counted(hosts: list[str] | None) -> str | None:
    """Their names change with the network."""
    if hosts is None:
        return None
    nodes = len(set(hosts))
    return f"{len(hosts)} on {nodes} {'node' if nodes == 1 else 'nodes'}"


def _gibibytes(memory_bytes: int | None) -> str | None:
    return None if memory_bytes is None else f"{memory_bytes / 2**30:.1f} GiB"
