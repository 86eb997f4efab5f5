"""One run, from the options to the results file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from datagen.dataset import Dataset, open_dataset, verify_content
from datagen.manifest import Manifest
from datagen.recipe import Recipe, Totals, totals
from datagen.spark.session import wait_for_executors
from harness import __version__
from harness.model.errors import BadInput
from harness.model.run import Ending, Phase, Run, Status, Trial, new_run_id, timestamp
from harness.node.machine import machine_facts
from harness.node.node_links import NodeLinks, link_errors, node_facts, unexpected_links_of_run
from harness.records.directories import check_writable
from harness.records.writer import Recording
from harness.runtime.precision import UntilPrecise
from harness.runtime.progress import PlanProgress, PrecisionProgress
from harness.runtime.trials import Observer, Plan, Rounds, run_trials
from jobs.default_dataset import default_dataset
from jobs.nodes import node_links
from jobs.options import AUTO
from jobs.sinks import SINKS
from jobs.spark_event_log import EventLog
from jobs.spark_facts import redact, spark_facts
from jobs.summary import summary
from jobs.trial import SparkTrialRunner
from jobs.workload import Context, Workload, discover, select

SMALL = 20_000
"""Up to so many rows the right answers are computed from the recipe, in well under a second."""

EXIT_CODES = {Ending.COMPLETED: 0, Ending.INTERRUPTED: 130, Ending.SPARK_LOST: 1}


def benchmark(spark: SparkSession, options: argparse.Namespace) -> int:
    """Run the trials, print a summary and the file's path; returns the exit code.

    Raises BadInput, before the first trial, if the run cannot be what was asked for.
    """
    workloads, omitted = chosen(options.workloads)
    check_writable(options.results, options.configuration)
    wait_for_executors(spark)
    dataset = proven_dataset(spark, options) if any(w.reads_data for w in workloads) else None
    context = build_context(spark, dataset, options)
    links = node_links(spark)
    run = describe(spark, options, workloads, omitted, dataset, context, links)
    for name, reason in omitted.items():
        print(f"{name} is left out: {reason}", file=sys.stderr)
    for line in run.parameters.get("unexpected_links", ()):
        print(f"--expect-link: {line}", file=sys.stderr)

    plan, watchers = paced(options, run.workloads)
    with Recording(options.results, run) as recording, EventLog(spark) as log:
        jobs = [
            SparkTrialRunner(workload, context, SINKS[options.sink], log) for workload in workloads
        ]
        recorder = _Recorder(recording)
        ending = run_trials(jobs, plan, [recorder, *watchers])
        # Where it did not come to its end, the executors may not answer.
        done = ending is Ending.COMPLETED
        recording.end(ending, plan.stopped, link_errors(links, node_links(spark)) if done else None)
    print(summary(run.workloads, recorder.trials))
    if plan.stopped:
        print(plan.stopped)
    if ending is not Ending.COMPLETED:
        print(f"{ending}: what was measured until then is kept", file=sys.stderr)
    print(f"results: {recording.path}")
    failed = any(trial.status is Status.FAILED for trial in recorder.trials)
    return EXIT_CODES[ending] or int(failed)


def paced(
    options: argparse.Namespace, workloads: tuple[str, ...]
) -> tuple[Rounds, Sequence[Observer]]:
    """The rounds to run, and who is to see their trials after they are on the disk."""
    if options.trials == AUTO:
        until = UntilPrecise(workloads, options.warmup, options.precision, options.max_time)
        return until, [until, PrecisionProgress(workloads, until)]
    plan = Plan(options.trials, options.warmup)
    return plan, [PlanProgress(workloads, plan)]


def chosen(names: list[str] | None) -> tuple[list[Workload], dict[str, str]]:
    """The workloads to run, and those left out with the reason.

    Raises BadInput if one that was asked for by name cannot run here.
    """
    known = discover()
    runnable, omitted = [], {}
    for workload in select(names or list(known), known):
        if not (missing := workload.missing()):
            runnable.append(workload)
        elif names is None:
            omitted[workload.name] = f"needs {', '.join(missing)}, which this Python does not have"
        else:
            raise BadInput(
                f"--workloads: {workload.name} needs {', '.join(missing)}; install it for the "
                "driver's and the executors' Python, or leave the workload out"
            )
    return runnable, omitted


def proven_dataset(spark: SparkSession, options: argparse.Namespace) -> Dataset:
    """The dataset, its files and, unless that is skipped, its content held against the manifest."""
    dataset = opened(spark, options)
    if dataset.drift:
        print(
            f"accepted: {dataset.uri} is not as its manifest says: {dataset.drift}", file=sys.stderr
        )
    if not options.skip_content_check:
        print(
            f"checking the {dataset.manifest.recipe.rows:,} rows of {dataset.uri}", file=sys.stderr
        )
        verify_content(spark, dataset)
    return dataset


def opened(spark: SparkSession, options: argparse.Namespace) -> Dataset:
    """The dataset that was named, or the default one."""
    if not options.dataset:
        return default_dataset(spark)
    drift = options.accept_layout_drift
    return open_dataset(spark, options.dataset, accept_layout_drift=drift)


def right_totals(manifest: Manifest) -> Totals:
    """What workloads are held against: computed anew if that is quick, else from the manifest."""
    return totals(manifest.recipe) if manifest.recipe.rows <= SMALL else manifest.totals


def build_context(
    spark: SparkSession, dataset: Dataset | None, options: argparse.Namespace
) -> Context:
    """What the workloads are built from; without a dataset, over no rows."""
    return Context(
        spark=spark,
        data=dataset.frame(spark) if dataset else spark.createDataFrame([], "value string"),
        totals=right_totals(dataset.manifest) if dataset else totals(Recipe(0)),
        repartition=options.repartition,
        pi_samples=options.pi_samples,
        parallelism=spark.sparkContext.defaultParallelism,
    )


def describe(
    spark: SparkSession,
    options: argparse.Namespace,
    workloads: list[Workload],
    omitted: dict[str, str],
    dataset: Dataset | None,
    context: Context,
    links: NodeLinks,
) -> Run:
    """The first line of the results file."""
    names = tuple(workload.name for workload in workloads)
    parameters: dict[str, Any] = {
        "trials": options.trials,
        "warmup": options.warmup,
        "sink": options.sink,
        "repartition": options.repartition,
        "pi_samples": options.pi_samples,
        "parallelism": context.parallelism,
        "content_checked": dataset is not None and not options.skip_content_check,
        "controls": [workload.name for workload in workloads if workload.control],
        "data_workloads": [workload.name for workload in workloads if workload.reads_data],
        "not_requested": [name for name in discover() if name not in {*names, *omitted}],
    }
    environment = {**machine_facts(), **spark_facts(spark), "nodes": node_facts(links)}
    if options.expect_link:
        parameters["expected_link_mbit_s"] = options.expect_link / 10**6
        parameters["unexpected_links"] = unexpected_links_of_run(
            environment, options.fact, options.expect_link
        )
    if options.trials == AUTO:
        parameters |= {"precision": options.precision, "max_time_s": options.max_time}
    return Run(
        id=new_run_id(),
        configuration=options.configuration,
        started_at=timestamp(),
        workloads=names,
        written_by=f"clusterlift {__version__}",
        parameters=parameters,
        facts=redact(spark, options.fact),
        environment=environment,
        dataset=dataset.as_facts() if dataset else None,
        omitted=omitted,
    )


class _Recorder:
    """Keeps every trial, first on the disk."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.trials: list[Trial] = []

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        pass

    def finished(self, trial: Trial) -> None:
        self._recording.trial(trial)
        self.trials.append(trial)
