"""Whether the Python of every node can run what is measured there, before the first trial."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark import executor_hosts, is_local, java_packages
from harness.base.child_process import finished
from harness.base.errors import BadInput
from harness.base.words import join_names, names_by_text
from jobs.executors import (
    NO_TASK,
    one_partition_per_executor,
    outside_trials,
    partition_executors,
    run_on_executors,
)

_PRINT_VERSION = 'cat > /dev/null; "$0" --version 2>&1 || true'
"""The shell reads all that Spark pipes into it: else Spark's thread would find the pipe broken."""
_VERSION_TIMEOUT_S = 60.0
_VERSION = re.compile(r"^Python (\d+\.\d+)", re.MULTILINE)


def require_python_on_nodes(spark: SparkSession) -> None:
    """Raise BadInput unless every node's Python runs our functions.

    Without them, nothing would be known of the nodes: neither links, nor traffic, nor what disturbed a trial.
    """
    if is_local(spark):
        require_same_python(_program(spark))
        return
    hosts = executor_hosts(spark)
    silent = run_on_executors(spark, hosts, platform.python_version).silent
    failed = {executor: reason for executor, reason in silent.items() if reason != NO_TASK}
    if not failed:
        return
    versions = python_versions(spark, hosts)
    faults = {hosts[executor]: (versions.get(executor), why) for executor, why in failed.items()}
    raise BadInput(python_fault(faults, _minor(platform.python_version()), _program(spark)))


def require_same_python(program: str) -> None:
    """Raise BadInput if tasks on this machine would have another minor version of Python than the driver.

    PYSPARK_DRIVER_PYTHON gives the driver another one.
    """
    own = _minor(platform.python_version())
    try:
        done = finished([program, "--version"], timeout_s=_VERSION_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise BadInput(python_fault({platform.node(): (None, str(error))}, own, program)) from error
    found = _VERSION.search(done.stdout + done.stderr)
    if found and found[1] != own:
        raise BadInput(python_fault({platform.node(): (found[1], "")}, own, program))


def python_fault(faults: Mapping[str, tuple[str | None, str]], own: str, program: str) -> str:
    """Return in one line what is wrong with the nodes' Python, and what to do.

    `faults` has by host the version of its Python, None if it is not known, and the reason that Spark gave.
    `own` is the driver's version, `program` is what Spark starts.
    """
    texts: dict[str, str] = {}
    for host, (version, reason) in faults.items():
        texts[host] = _fault(version, reason, own)
    found: list[str] = []
    for text, hosts in names_by_text(texts).items():
        found.append(f"{join_names(sorted(hosts))}: {text}")
    return (
        f"the nodes cannot run {program} as this driver needs it, so nothing could be measured there: "
        f"{'; '.join(found)}. Set PYSPARK_PYTHON to a Python that this machine and every node have, such as "
        f"{own}"
    )


def _fault(version: str | None, reason: str, own: str) -> str:
    if version and version != own:
        return f"Python {version} there, and {own} on the driver"
    if version:
        return f"Python {version} there, but {reason}"
    return reason


def python_versions(spark: SparkSession, hosts: Mapping[str, str]) -> dict[str, str]:
    """Return the version of each executor's Python, such as `3.10`, by the executor's id.

    The executors' virtual machines ask for it, so it is known where Spark cannot use that Python. One that
    is missing, or is no Python, has none.
    """
    command: Any = java_packages(spark).java.util.ArrayList()
    for word in ("sh", "-c", _PRINT_VERSION, _program(spark)):
        command.add(word)
    with outside_trials(spark):
        try:
            partitions: Any = one_partition_per_executor(spark, hosts)
            printed = list(map(list, partitions._jrdd.pipe(command).glom().collect()))  # noqa: SLF001
        except (Py4JError, TypeError):
            return {}
        ran_on = partition_executors(spark)
    answers = {ran_on.get(number): "\n".join(lines) for number, lines in enumerate(printed)}
    return dict(_known_versions(answers))


def _known_versions(answers: Mapping[str | None, str]) -> Iterator[tuple[str, str]]:
    for executor, text in answers.items():
        found = _VERSION.search(text)
        if executor and found:
            yield executor, found[1]


def _program(spark: SparkSession) -> str:
    """Return what Spark starts as Python on every node."""
    context: Any = spark.sparkContext
    return str(context.pythonExec)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
