"""A configuration that takes its turns in a run: its workloads, its results file, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path

from pyspark.sql import SparkSession

from datagen.dataset import Dataset
from datagen.destination import Destination
from datagen.filesystem import Directory
from datagen.recipe import Recipe, totals
from datagen.table import Table
from harness.base.errors import WrongAnswer
from harness.base.items import grouped
from harness.base.terminal import say
from harness.base.words import count_of, join_names, visible
from harness.model.cache import COLD, disk_share, why_not_cold, why_unknown
from harness.model.run import Ending, Phase, Trial
from harness.node.node_links import NodeLinks, link_errors
from harness.records.writer import Recording
from harness.trials.counting import IN_ROUNDS, IN_TRIALS
from harness.trials.hold import wait_for_release
from harness.work.script_options import BenchmarkOptions
from jobs.cold_reads import ColdReads, InputSource, Place, input_source
from jobs.executors import describe_nodes
from jobs.run_description import describe_run
from jobs.spark_event_log import EventLog
from jobs.spark_trial import SparkTrialRunner
from jobs.streams import Streams
from jobs.summary import summary
from jobs.workload import Context, Selection, Workload

MAX_COMPUTED_ROWS = 20_000
"""For up to this many rows, computing the right answers from the recipe takes well under a second."""


class ConfigurationSide:
    """A side of the loop of trials.

    Its results file begins with its first turn, and is closed by the stack `closing`. `label` is the prefix
    of its workloads' names if it takes turns with others.
    """

    def __init__(
        self,
        spark: SparkSession,
        options: BenchmarkOptions,
        selection: Selection,
        dataset: Dataset | None,
        tables: Sequence[Table],
        destinations: Mapping[str, Destination],
        log: EventLog,
        closing: ExitStack,
        label: str,
    ) -> None:
        self.label = label
        self.trials: list[Trial] = []
        self._spark = spark
        self._options = options
        self._selection = selection
        self._dataset = dataset
        self._tables = tables
        self._links: NodeLinks = {}
        self._recording: Recording | None = None
        self._closing = closing
        self._cold_reads: ColdReads | None = None
        self._source = InputSource()
        self._find_source()
        destination = None
        self._require_same_input: Callable[[], None] | None = None
        if dataset is not None:
            self._require_same_input = _same_files(dataset.directory)
            destination = destinations.get(dataset.uri)
        context = build_context(spark, dataset, options, destination)
        self.runners: list[SparkTrialRunner] = []
        if selection.in_streams:
            self._add_runner(Streams(selection, options.seed), context, log)
        for workload in selection.workloads:
            if workload not in selection.in_streams:
                self._add_runner(workload, context, log)

    def _find_source(self) -> None:
        """Find out where the files of dataset and tables come from, and how they are put out of memory."""
        places: list[Place] = []
        if self._dataset is not None:
            places.append(self._dataset)
        are_known = True
        for table in self._tables:
            places += table.places or ()
            are_known = are_known and bool(table.places)
        if places and self._options.cache == COLD:
            self._cold_reads = ColdReads(self._spark, places)
        # Where the files of a table are not known, neither is who reads them.
        if places and are_known:
            self._source = input_source(self._spark, places)

    def _add_runner(self, workload: Workload | Streams, context: Context, log: EventLog) -> None:
        options = self._options
        proves_always = options.proof == IN_TRIALS
        runner = SparkTrialRunner(workload, context, options.sink, log, proves_always=proves_always)
        if workload.reads_data and self._require_same_input is not None:
            runner = replace(runner, require_same_input=self._require_same_input)
        if workload.reads_data or (self._tables and workload.reads_tables):
            runner = replace(runner, cold_reads=self._cold_reads, source=self._source)
        self.runners.append(runner)

    @property
    def unproven(self) -> list[str]:
        """The workloads whose answers no trial has proven, and none has found to be wrong."""
        return list(chain.from_iterable(runner.unproven for runner in self.runners))

    @property
    def file(self) -> Path | None:
        """The results file; None before the first turn."""
        return self._recording.path if self._recording else None

    def begin(self) -> None:
        """Wait until the configuration is in force, and describe the run the first time."""
        wait_for_release(self._options.configuration)
        for table in self._tables:
            table.register()
        if self._recording is not None:
            return
        data_dir = None
        if self._dataset is not None:
            data_dir = self._dataset.directory.local_path
        nodes = describe_nodes(self._spark, data_dir)
        self._links = nodes.links
        for host, reason in nodes.silent.items():
            say(visible(f"{host}: its machine and links are unknown, or not all known: {reason}"))
        run = describe_run(
            self._spark, self._options, self._selection, self._dataset, self._tables, nodes
        )
        self._recording = self._closing.enter_context(Recording(self._options.results, run))

    def finished(self, trial: Trial) -> None:
        """Write the trial to the disk, and keep it."""
        assert self._recording is not None  # noqa: S101  its turn has begun
        self._recording.trial(trial)
        self.trials.append(trial)

    def end(self, ending: Ending, stopped: str | None) -> None:
        """Record the end of the run, with the errors that the links counted since the first turn."""
        if self._recording is None:
            return
        errors = None
        if ending is Ending.COMPLETED:  # else the executors may not answer
            errors = link_errors(self._links, describe_nodes(self._spark).links)
        self._recording.end(ending, stopped, errors)

    def doubt_of_cold_reads(self) -> str | None:
        """Return in one line what was to be cold, and was not or may not have been; None if nothing was."""
        if not self._cold_reads:
            return None
        measured = [trial for trial in self.trials if trial.phase is Phase.MEASURED]
        by_workload = grouped(measured, attrgetter("workload"))
        warm = [name for name, own in by_workload.items() if all(map(why_not_cold, own))]
        if warm:
            reason = self._cold_reads.failure or "the storage itself keeps what it reads"
            return f"{self.label}no trial of {join_names(warm)} was cold, so none counts: {reason}"
        unknown: list[str] = []
        trials: list[Trial] = []
        for name, own in by_workload.items():
            if any(trial.to_be_cold for trial in own) and disk_share(own) is None:
                unknown.append(name)
                trials += own
        if not unknown:
            return None
        reason = self._source.in_memory or why_unknown(trials)
        return (
            f"{self.label}whether trials of {join_names(unknown)} were cold is not known: {reason}"
        )

    def silence(self) -> Iterator[str]:
        """Yield a line for each node about which some trials know nothing."""
        reasons: dict[str, list[str]] = {}
        for trial in self.trials:
            for host, reason in trial.silent.items():
                reasons.setdefault(host, []).append(reason)
        for host, own in reasons.items():
            yield visible(
                f"{self.label}{host}: what it sent and received, and what else it did, is unknown in "
                f"{len(own)} of {count_of(len(self.trials), 'trial')}: {own[0]}"
            )

    def summary(self) -> list[str]:
        """Return the lines of the summary, under the configuration's name if there are several."""
        options = self._options
        lines = [visible(options.configuration)] if self.label else []
        lines += summary(
            self._selection.names,
            self.trials,
            options.steady_trials,
            to_be_proven=options.proof == IN_ROUNDS,
        )
        return lines


def _same_files(directory: Directory) -> Callable[[], None]:
    """Return what raises WrongAnswer if files in the directory were exchanged, added or removed since."""
    before = directory.listing()

    def require_same_files() -> None:
        if directory.listing() != before:
            raise WrongAnswer(f"the files of {directory.uri} have changed since the run began")

    return require_same_files


def build_context(
    spark: SparkSession,
    dataset: Dataset | None,
    options: BenchmarkOptions,
    destination: Destination | None = None,
) -> Context:
    """Return what the workloads are built from; without a dataset, that has no rows."""
    if dataset is None:
        data = spark.createDataFrame([], "value string")
        answers = totals(Recipe(0))
        digests: Mapping[tuple[str, ...], str] = {}
    else:
        data = dataset.frame(spark)
        digests = dataset.digests
        manifest = dataset.manifest
        answers = manifest.totals or totals(manifest.recipe)
        if manifest.recipe.rows <= MAX_COMPUTED_ROWS:
            answers = totals(manifest.recipe)
    return Context(
        spark=spark,
        data=data,
        totals=answers,
        repartition=options.repartition,
        pi_samples=options.pi_samples,
        parallelism=spark.sparkContext.defaultParallelism,
        digests=digests,
        destination=destination,
    )
