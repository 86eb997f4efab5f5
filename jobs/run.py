"""One run, from the options to the results file."""

import math
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path

from pyspark.sql import SparkSession

from datagen.dataset import Dataset, open_dataset, verify_content
from datagen.destination import Destination, destination_beside
from datagen.manifest import DEFAULT_FORMAT
from datagen.recipe import VERSION, Recipe, totals
from datagen.spark import executors, wait_for_executors
from datagen.table import Table, open_table
from datagen.writer import Request, write_dataset
from harness.base.errors import INTERRUPTED, BadInput
from harness.base.terminal import say, show
from harness.base.words import count_of, join_names, names_by_text, visible
from harness.model.cache import COLD, disk_share, why_not_cold, why_unknown
from harness.model.run import Ending, Phase, Status, Trial, by_workload
from harness.node.node_links import NodeLinks, link_errors
from harness.records.directories import cache_directory, check_writable, locked
from harness.records.writer import Recording
from harness.trials.progress import TrialProgress
from harness.trials.rounds import Rounds
from harness.trials.time_budget import seconds_for_rounds, seconds_left
from harness.trials.trials import run_trials, wait_for_release
from harness.work.queries import SUFFIX
from harness.work.series import PROVEN
from jobs.cold_reads import ColdReads, InputSource, Place, input_source, prefer_cold_reads
from jobs.executors import describe_nodes
from jobs.node_python import require_python_on_nodes
from jobs.options import BenchmarkOptions
from jobs.queries import Query, queries_of
from jobs.reading_plans import require_queries
from jobs.run_description import describe_run
from jobs.spark_event_log import EventLog
from jobs.spark_trial import SparkTrialRunner
from jobs.streams import Streams, in_streams
from jobs.summary import summary
from jobs.workload import Context, Selection, Workload, select_workloads

DEFAULT_RECIPE = Recipe(rows=300_000)

MAX_COMPUTED_ROWS = 20_000
"""For up to this many rows, computing the right answers from the recipe takes well under a second."""

EXIT_CODES = {Ending.COMPLETED: 0, Ending.INTERRUPTED: INTERRUPTED, Ending.SPARK_LOST: 1}


def benchmark(spark: SparkSession, options: BenchmarkOptions) -> int:
    """Run the trials, print a summary and the path of each results file, and return the exit code.

    Raises BadInput, before the first trial, if the run is not possible as requested.
    """
    queries = checked_queries(spark, options)
    selection = select_workloads(options.workloads, queries, options.default_workloads)
    selection = in_streams(selection, options.streams)
    by_turn = options.by_turn()
    for each in by_turn:
        check_writable(each.results, each.configuration)
    if options.cache == COLD:
        prefer_cold_reads(spark)
    wait_for_executors(spark)
    require_python_on_nodes(spark)
    if options.nodes is not None:
        require_nodes(spark, options.nodes)
    datasets: dict[str | None, Dataset] = {}
    for each in by_turn:
        if selection.reads_data and each.dataset not in datasets:
            datasets[each.dataset] = proven_dataset(spark, each)
    given = dict.fromkeys(pair for each in by_turn for pair in each.tables.items())
    tables = {pair: open_table(spark, *pair) for pair in given}
    unknown = [table.name for table in tables.values() if table.places is None]
    if unknown and options.cache == COLD:
        raise BadInput(
            f"--cache cold: the files of {join_names(unknown)} are not known to their storage, and cannot be "
            "put out of memory"
        )
    with ExitStack() as stack:
        selection, destinations = reserved_destinations(spark, selection, datasets.values(), stack)
        for reason, names in names_by_text(selection.omitted).items():
            say(f"{' and '.join(names)} {'are' if names[1:] else 'is'} left out: {reason}")
        log = stack.enter_context(EventLog(spark))
        sides = [
            ConfigurationSide(
                spark,
                each,
                selection,
                datasets.get(each.dataset),
                [tables[pair] for pair in each.tables.items()],
                destinations,
                log,
                stack,
                label=f"{each.configuration}: " if options.turns else "",
            )
            for each in by_turn
        ]
        names = [f"{side.label}{name}" for side in sides for name in selection.names]
        once_s = sum(dataset.first_use_s or 0.0 for dataset in datasets.values())
        rounds = plan_rounds(options, names, once_s)
        progress = TrialProgress(names, rounds).finished
        ending = run_trials(sides, rounds, options.seed, progress)
        for side in sides:
            side.end(ending, rounds.stopped)

    if ending is not Ending.COMPLETED:
        say(f"{ending}: the trials that were recorded before are kept")
    _show_results(sides, rounds)
    failed = any(trial.status is Status.FAILED for side in sides for trial in side.trials)
    return EXIT_CODES[ending] or int(failed)


def checked_queries(spark: SparkSession, options: BenchmarkOptions) -> list[Query]:
    """Return the user's queries, and say what else their directory has. Raise BadInput for what is none."""
    if options.sql:
        if options.sql.left_out:
            say(f"not run: {join_names(options.sql.left_out)} (queries are files *{SUFFIX})")
        require_queries(spark, options.sql)
    return queries_of(options.queries)


def reserved_destinations(
    spark: SparkSession, selection: Selection, datasets: Collection[Dataset], closing: ExitStack
) -> tuple[Selection, Mapping[str, Destination]]:
    """Return the workloads to run, and where they write beside each dataset, by its URI.

    Where that is not possible, workloads that write are omitted; raises BadInput if the user named them.
    `closing` removes what is reserved.
    """
    if not selection.writing:
        return selection, {}
    with ExitStack() as opened:
        try:
            found = {
                uri: opened.enter_context(destination_beside(spark, dataset))
                for uri, dataset in {each.uri: each for each in datasets}.items()
            }
        except BadInput as error:
            return selection.without_writing(str(error)), {}
        closing.enter_context(opened.pop_all())
    return selection, found


def require_nodes(spark: SparkSession, nodes: int) -> None:
    """Raise BadInput unless the executors are on so many nodes."""
    found = list(dict.fromkeys(executors(spark)))
    if len(found) != nodes:
        raise BadInput(
            f"--nodes {nodes}: the executors are on {len(found)}, {', '.join(found)}; give an executor all "
            f"cores of its node by --executor-cores, and {nodes} times as many by --conf spark.cores.max "
            f"(standalone), or --num-executors {nodes} (YARN)"
        )


def _show_results(sides: "Sequence[ConfigurationSide]", rounds: Rounds) -> None:
    for side in sides:
        show("\n".join(side.summary()))
        if line := side.doubt_of_cold_reads():
            say(visible(f"{line} (docs/cold-reads.md says what to do)"))
        for line in side.silence():
            say(line)
    if rounds.stopped:
        show(rounds.stopped)
    for side in sides:
        if side.file is not None:
            show(visible(f"results: {side.file}"))


class ConfigurationSide:
    """A configuration that takes its turns in a run.

    Its results file begins with its first turn, and is closed by the stack `closing`.
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
        destination = destinations.get(dataset.uri) if dataset else None
        context = build_context(spark, dataset, options, destination)
        known = [table.places or () for table in tables]
        places: list[Place] = [*([dataset] if dataset else []), *chain.from_iterable(known)]
        self._cold_reads = ColdReads(spark, places) if places and options.cache == COLD else None
        # Where the files of a table are not known, neither is who reads them.
        self._source = input_source(spark, places) if places and all(known) else InputSource()
        reads = self._cold_reads, self._source
        together = selection.in_streams
        work: list[Workload | Streams] = [Streams(selection, options.seed)] if together else []
        work += [each for each in selection.workloads if each not in together]
        self.runners = [
            SparkTrialRunner(
                each,
                context,
                options.sink,
                log,
                *(reads if each.reads_data or (tables and each.reads_tables) else ()),
            )
            for each in work
        ]
        self._links: NodeLinks = {}
        self._recording: Recording | None = None
        self._closing = closing

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
        data_dir = self._dataset.directory.local_path if self._dataset else None
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
        # After any other ending, the executors may not answer.
        completed = ending is Ending.COMPLETED
        errors = link_errors(self._links, describe_nodes(self._spark).links) if completed else None
        self._recording.end(ending, stopped, errors)

    def doubt_of_cold_reads(self) -> str | None:
        """Return in one line what was to be cold, and was not or may not have been; None if nothing was."""
        if not self._cold_reads:
            return None
        measured = by_workload(trial for trial in self.trials if trial.phase is Phase.MEASURED)
        if warm := [name for name, own in measured.items() if all(map(why_not_cold, own))]:
            reason = self._cold_reads.failure or "the storage itself keeps what it reads"
            return f"{self.label}no trial of {join_names(warm)} was cold, so none counts: {reason}"
        cold = [name for name, own in measured.items() if any(trial.to_be_cold for trial in own)]
        unknown = [name for name in cold if disk_share(measured[name]) is None]
        if not unknown:
            return None
        own = [trial for name in unknown for trial in measured[name]]
        reason = self._source.in_memory or why_unknown(own)
        return (
            f"{self.label}whether trials of {join_names(unknown)} were cold is not known: {reason}"
        )

    def silence(self) -> Iterator[str]:
        """Yield a line for each node of which nothing is known in some trials."""
        reasons: dict[str, list[str]] = {}
        for trial in self.trials:
            for host, reason in trial.silent.items():
                reasons.setdefault(host, []).append(reason)
        for host, own in reasons.items():
            yield visible(
                f"{self.label}{host}: what it sent, received and did besides is unknown in {len(own)} of "
                f"{count_of(len(self.trials), 'trial')}: {own[0]}"
            )

    def summary(self) -> list[str]:
        """Return the lines of the summary, under the configuration's name if there are several."""
        options = self._options
        wanted = None if options.warmup is not None else options.trials
        lines = [visible(options.configuration)] if self.label else []
        lines += summary(self._selection.names, self.trials, wanted)
        return lines


def proven_dataset(spark: SparkSession, options: BenchmarkOptions) -> Dataset:
    """Return the dataset after comparing its files and, unless skipped, its content with its manifest.

    It is generated first if the options say so, and it is not there. The content is not read again if an
    earlier run of the series did, and no file was changed since. Raises BadInput if they differ.
    """
    started = time.monotonic()
    if options.generate:
        dataset = write_dataset(spark, options.generate)
    elif options.dataset is None:
        dataset = default_dataset(spark)
    else:
        drift = options.accept_layout_drift
        dataset = open_dataset(spark, options.dataset, accept_layout_drift=drift)
    if dataset.drift:
        say(f"accepted: {dataset.uri} differs from its manifest: {dataset.drift}")
    if dataset.fingerprint in os.environ.get(PROVEN, "").split():
        return dataset
    if not options.skip_content_check:
        say(f"checking the {dataset.manifest.recipe.rows:,} rows of {dataset.uri}")
        verify_content(spark, dataset)
    return replace(dataset, first_use_s=time.monotonic() - started)


def default_dataset(spark: SparkSession) -> Dataset:
    """Return the default dataset in the user's cache; generate it if it is missing or incomplete.

    Raises BadInput if the cache cannot be written.
    """
    directory = cache_directory() / "datasets"
    advice = "name a dataset with --dataset, or set XDG_CACHE_HOME"
    # Without the lock, two first runs at the same time would both generate the dataset.
    with locked(directory / ".lock", "the default dataset", advice=advice):
        # Path.as_uri() would encode special characters, and Hadoop does not decode them.
        uri = f"file://{directory}/v{VERSION}-{DEFAULT_RECIPE.rows}-rows-{DEFAULT_FORMAT}"
        try:
            return open_dataset(spark, uri)
        except BadInput:
            say(f"generating {DEFAULT_RECIPE.rows:,} rows once, in {uri}")
        return write_dataset(spark, Request(uri, DEFAULT_RECIPE, overwrite=True))


def build_context(
    spark: SparkSession,
    dataset: Dataset | None,
    options: BenchmarkOptions,
    destination: Destination | None = None,
) -> Context:
    """Return what the workloads are built from; without a dataset, that has no rows."""
    recipe = dataset.manifest.recipe if dataset else Recipe(0)
    known = dataset.manifest.totals if dataset and recipe.rows > MAX_COMPUTED_ROWS else None
    return Context(
        spark=spark,
        data=dataset.frame(spark) if dataset else spark.createDataFrame([], "value string"),
        totals=known or totals(recipe),
        repartition=options.repartition,
        pi_samples=options.pi_samples,
        parallelism=spark.sparkContext.defaultParallelism,
        digests=dataset.digests if dataset else {},
        destination=destination,
    )


def plan_rounds(options: BenchmarkOptions, workloads: Sequence[str], once_s: float = 0.0) -> Rounds:
    """Return the rounds to run; `once_s` were spent on what further runs need not do."""
    return Rounds(
        workloads,
        options.warmup,
        options.trials,
        max_s=min(options.max_time_s or math.inf, seconds_left()),
        profile=options.profile,
        fewer_after_s=seconds_for_rounds(once_s),
    )
