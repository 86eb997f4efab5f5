"""The first line of a results file: what was requested, and the environment that was observed."""

from __future__ import annotations  # for Python 3.8

import platform
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from datagen.dataset import Dataset
from datagen.spark import executors, java_packages
from datagen.table import Table
from harness import __version__
from harness.base.command_line import given_command
from harness.model.run import COMMAND, QUERIES, SILENT, TABLES, Run, new_run_id, timestamp
from harness.model.spark_properties import recorded_properties
from harness.node.machine import machine_groups
from harness.node.node_links import node_facts
from harness.trials.counting import AUTO
from harness.work.options import COMPARED
from harness.work.queries import text_digests
from harness.work.script_options import BenchmarkOptions
from harness.work.series import current_series
from jobs.allocation import asked_executors
from jobs.executors import NodesDescription
from jobs.workload import Selection


def describe_run(
    spark: SparkSession,
    options: BenchmarkOptions,
    selection: Selection,
    dataset: Dataset | None,
    tables: Sequence[Table],
    nodes: NodesDescription,
) -> Run:
    """Return the run, with a new id."""
    environment = {
        "host": platform.node() or None,
        "python": platform.python_version(),
        **spark_facts(spark),
        "machines": {"names": nodes.names, "groups": machine_groups(nodes.machines)},
        "nodes": node_facts(nodes.links),
    }
    if nodes.pods:
        environment["pods"] = nodes.pods
    if nodes.silent:
        environment[SILENT] = dict(nodes.silent)
    parameters = {
        **_parameters(options, selection),
        COMMAND: given_command("spark-submit", "jobs/benchmark.py"),
        "parallelism": spark.sparkContext.defaultParallelism,
        "content_checked": dataset is not None and not options.skip_content_check,
    }
    if options.queries:
        texts = text_digests(options.queries)
        parameters[QUERIES] = {name: texts[name] for name in selection.names if name in texts}
        parameters[TABLES] = {table.name: table.as_facts() for table in tables}
    facts = options.facts
    if options.nodes is not None:
        facts = {"nodes": str(options.nodes), **facts}
    if series := current_series():
        parameters["series"] = series
    return Run(
        id=new_run_id(),
        configuration=options.configuration,
        started_at=timestamp(),
        workloads=selection.names,
        written_by=f"clusterlift {__version__}",
        parameters=parameters,
        facts=facts,
        environment=environment,
        dataset=dataset.as_facts() if dataset else None,
        omitted=selection.omitted,
    )


def _parameters(options: BenchmarkOptions, selection: Selection) -> dict[str, Any]:
    """Return the options of a run, and the workloads that its readers treat differently."""
    workloads = selection.workloads
    parameters: dict[str, Any] = {each.name: getattr(options, each.name) for each in COMPARED}
    parameters.update(
        trials=options.trials,
        seed=options.seed,
        controls=[workload.name for workload in workloads if workload.control],
        data_workloads=[workload.name for workload in workloads if workload.reads_data],
        writing_workloads=list(selection.writing),
        not_requested=list(selection.not_requested),
    )
    if selection.in_streams:
        parameters["in_streams"] = [workload.name for workload in selection.in_streams]
    if options.warmup == AUTO:
        parameters["max_time_s"] = options.max_time_s
    return parameters


def spark_facts(spark: SparkSession) -> dict[str, Any]:
    """Return versions, the executors' hosts, and what is recorded of the configuration."""
    context, jvm = spark.sparkContext, java_packages(spark)
    properties = dict(context.getConf().getAll())
    asked = asked_executors(properties)
    return {
        "spark": spark.version,
        "hadoop": str(jvm.org.apache.hadoop.util.VersionInfo.getVersion()),
        "java": str(jvm.java.lang.System.getProperty("java.runtime.version")),
        "scala": str(jvm.scala.util.Properties.versionNumberString()),
        "master": context.master,
        "application": context.applicationId,
        "parallelism": context.defaultParallelism,
        "executors": executors(spark),
        **({"executors_asked": asked.number} if asked else {}),
        "spark_conf": recorded_properties(properties),
    }
