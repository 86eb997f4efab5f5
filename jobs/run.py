"""One run, from the options to the results file."""

from __future__ import annotations

import fcntl
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from datagen.dataset import Dataset, open_dataset, verify_content
from datagen.manifest import Format
from datagen.recipe import VERSION, Recipe, totals
from datagen.spark import wait_for_executors
from datagen.writer import Request, write_dataset
from harness.model.errors import BadInput
from harness.model.run import Ending, Phase, Run, Status, Trial
from harness.node.node_links import link_errors
from harness.records.directories import (
    cache_directory,
    check_writable,
    configuration_directory,
)
from harness.records.writer import Recording
from harness.runtime.progress import TrialProgress
from harness.runtime.rounds import FixedRounds, Goal, Observer, Rounds, UntilReached
from harness.runtime.trials import run_trials, wait_for_release
from harness.runtime.warm_up import DEFAULT_TRIALS, is_counted, unsteady_workloads, with_phases
from harness.terminal import say, show, visible
from jobs.executors import node_links
from jobs.options import BenchmarkOptions, DatasetOptions, TrialOptions, WorkOptions
from jobs.outbox import Outbox
from jobs.run_description import describe_run
from jobs.sinks import SINKS
from jobs.spark_event_log import EventLog
from jobs.spark_trial import SparkTrialRunner
from jobs.workload import Context, select_workloads

DEFAULT_RECIPE = Recipe(rows=300_000)

MAX_COMPUTED_ROWS = 20_000
"""For up to this many rows, computing the right answers from the recipe takes well under a second."""

EXIT_CODES = {Ending.COMPLETED: 0, Ending.INTERRUPTED: 130, Ending.SPARK_LOST: 1}


def benchmark(spark: SparkSession, options: BenchmarkOptions, outbox: Outbox | None = None) -> int:
    """Run the trials, print a summary and the path of the results file, and return the exit code.

    With an outbox, the file is written where that delivers it from. Raises BadInput, before the first trial,
    if the run is not possible as requested.
    """
    selection = select_workloads(options.workloads)
    results = outbox.results if outbox else results_of_driver(spark, options.record.results)
    check_writable(results, options.record.configuration)
    wait_for_executors(spark)
    dataset = proven_dataset(spark, options.dataset) if selection.reads_data else None
    context = build_context(spark, dataset, options.work)
    links = node_links(spark)
    run = describe_run(spark, options, selection, dataset, links)
    _announce(run)
    wait_for_release()

    rounds = plan_rounds(options.trials, run.workloads)
    with Recording(results, run) as recording, EventLog(spark) as log:
        sink = SINKS[options.work.sink]
        runners = [SparkTrialRunner(w, context, sink, log) for w in selection.workloads]
        recorder = _Recorder(recording)
        progress = TrialProgress(run.workloads, rounds)
        observers = [recorder, progress, *([outbox] if outbox else [])]
        ending = run_trials(runners, rounds, observers)
        # After any other ending, the executors may not answer.
        completed = ending is Ending.COMPLETED
        errors = link_errors(links, node_links(spark)) if completed else None
        recording.end(ending, rounds.stopped, errors)

    show(summary(run.workloads, recorder.trials, options.trials))
    if rounds.stopped:
        show(rounds.stopped)
    if not completed:
        say(f"{ending}: the trials that were recorded before are kept")
    # In the outbox's case, the path that it has at the submitter.
    place = configuration_directory(options.record.results, run.configuration)
    show(visible(f"results: {place / recording.path.name}"))
    failed = any(trial.status is Status.FAILED for trial in recorder.trials)
    return EXIT_CODES[ending] or int(failed)


def results_of_driver(spark: SparkSession, results: Path) -> Path:
    """Return the directory of the results. Raise BadInput if it would be lost with a driver on a node."""
    mode = spark.sparkContext.getConf().get("spark.submit.deployMode")
    if mode == "cluster" and not results.is_absolute():
        raise BadInput(
            f"--results {results}: with --deploy-mode cluster, this is on a node and removed at the end: "
            "submit with `clusterlift run`, or name a directory that the nodes and you share"
        )
    return results


def proven_dataset(spark: SparkSession, options: DatasetOptions) -> Dataset:
    """Return the dataset after comparing its files and, unless skipped, its content with its manifest.

    Raises BadInput if they differ.
    """
    if options.uri is None:
        dataset = default_dataset(spark)
    else:
        drift = options.accept_layout_drift
        dataset = open_dataset(spark, options.uri, accept_layout_drift=drift)
    if dataset.drift:
        say(f"accepted: {dataset.uri} differs from its manifest: {dataset.drift}")
    if not options.skip_content_check:
        say(f"checking the {dataset.manifest.recipe.rows:,} rows of {dataset.uri}")
        verify_content(spark, dataset)
    return dataset


def default_dataset(spark: SparkSession) -> Dataset:
    """Return the default dataset in the user's cache; generate it if it is missing or incomplete.

    Raises BadInput if the cache cannot be written.
    """
    directory = cache_directory() / "datasets"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / ".lock").open("w")
    except OSError as error:
        raise BadInput(
            f"the default dataset cannot be written to {directory}: {error.strerror}; "
            "name a dataset with --dataset, or set XDG_CACHE_HOME"
        ) from error
    with lock:
        # Without the lock, two first runs at the same time would both generate the dataset.
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Path.as_uri() would encode special characters, and Hadoop does not decode them.
        uri = f"file://{directory}/v{VERSION}-{DEFAULT_RECIPE.rows}-rows"
        try:
            return open_dataset(spark, uri)
        except BadInput:
            say(f"generating {DEFAULT_RECIPE.rows:,} rows once, in {uri}")
        return write_dataset(spark, Request(uri, DEFAULT_RECIPE, Format.CSV, overwrite=True))


def build_context(spark: SparkSession, dataset: Dataset | None, work: WorkOptions) -> Context:
    """Return what the workloads are built from; without a dataset, that has no rows."""
    recipe = dataset.manifest.recipe if dataset else Recipe(0)
    known = dataset.manifest.totals if dataset and recipe.rows > MAX_COMPUTED_ROWS else None
    return Context(
        spark=spark,
        data=dataset.frame(spark) if dataset else spark.createDataFrame([], "value string"),
        totals=known or totals(recipe),
        repartition=work.repartition,
        pi_samples=work.pi_samples,
        parallelism=spark.sparkContext.defaultParallelism,
        digests=dataset.digests if dataset else {},
    )


def _announce(run: Run) -> None:
    for name, reason in run.omitted.items():
        say(f"{name} is left out: {reason}")
    for line in run.parameters.get("unexpected_links", ()):
        say(f"--expect-link: {line}")


def plan_rounds(options: TrialOptions, workloads: tuple[str, ...]) -> Rounds:
    """Return the rounds to run."""
    if options.warmup is not None and options.trials is not None:
        return FixedRounds(workloads, options.trials, options.warmup)
    goal = Goal(options.warmup, options.trials, options.precision)
    return UntilReached(workloads, goal, options.max_time_s or math.inf)


class _Recorder(Observer):
    """Keeps every trial, and writes it to the disk first."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.trials: list[Trial] = []

    def finished(self, trial: Trial) -> None:
        self._recording.trial(trial)
        self.trials.append(trial)


def summary(
    workloads: Iterable[str], trials: Sequence[Trial], options: TrialOptions | None = None
) -> str:
    """Return a line per workload: median, minimum and maximum of its measured trials in seconds.

    A note says what does not count.
    """
    unsteady: Mapping[str, str] = {}
    if options and options.warmup is None:
        needed = options.trials or DEFAULT_TRIALS
        trials, unsteady = with_phases(trials, needed), unsteady_workloads(trials, needed)
    lines = [f"{'workload':22} {'median':>10} {'min':>10} {'max':>10} {'n':>4} {'warm-up':>8}"]
    for name in workloads:
        own = [trial for trial in trials if trial.workload == name]
        measured = [trial for trial in own if trial.phase is Phase.MEASURED]
        times = [t.wall_s for t in measured if t.wall_s is not None and is_counted(t)]
        cells = [f"{f(times):8.3f} s" for f in (median, min, max)] if times else ["-".rjust(10)] * 3
        notes = "; ".join(_notes(measured, unsteady.get(name)))
        line = f"{name:22} {' '.join(cells)} {len(times):4} {len(own) - len(measured):8}   {notes}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _notes(measured: Sequence[Trial], unsteady: str | None) -> Iterator[str]:
    for what, number in (
        ("failed", sum(trial.status is Status.FAILED for trial in measured)),
        ("disturbed", sum(trial.disturbed is not None for trial in measured)),
    ):
        if number:
            yield f"{number} of {len(measured)} {what}"
    if unsteady:
        yield f"never became steady: {unsteady}"
