"""One application: from the options through the trials to a results file for each configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain

from pyspark.sql import SparkSession

from datagen.dataset import Dataset
from datagen.destination import Destination, destination_beside
from datagen.executor_pods import pods_explained
from datagen.missing_executors import missing_executors_explained
from datagen.spark import executors, wait_for_all_executors, wait_for_executors
from datagen.table import Table, open_table
from harness.base.errors import INTERRUPTED, BadInput
from harness.base.terminal import say, show
from harness.base.words import count_of, join_names, names_by_text, visible
from harness.model.cache import COLD
from harness.model.run import Ending, Status
from harness.records.directories import check_writable
from harness.trials.counting import AUTO, IN_TRIALS
from harness.trials.loop import run_trials
from harness.trials.progress import TrialProgress
from harness.trials.rounds import Rounds
from harness.trials.time_budget import seconds_for_rounds, seconds_left
from harness.work.queries import SUFFIX
from harness.work.script_options import BenchmarkOptions
from jobs.allocation import asked_executors
from jobs.cold_reads import prefer_cold_reads
from jobs.configuration_side import ConfigurationSide
from jobs.node_python import require_python_on_nodes
from jobs.proven_dataset import proven_dataset
from jobs.queries import Query, queries_of
from jobs.reading_plans import require_queries
from jobs.spark_event_log import EventLog
from jobs.streams import in_streams
from jobs.workload import Selection, select_workloads

EXIT_CODES = {Ending.COMPLETED: 0, Ending.INTERRUPTED: INTERRUPTED, Ending.SPARK_LOST: 1}


def benchmark(spark: SparkSession, options: BenchmarkOptions) -> int:
    """Run the trials, print a summary and the path of each results file, and return the exit code.

    Raises BadInput, before the first trial, if the run is not possible as requested.
    """
    queries = _checked_queries(spark, options)
    selection = select_workloads(options.workloads, queries, options.default_workloads)
    selection = in_streams(selection, options.streams)
    by_turn = options.by_turn()
    for each in by_turn:
        check_writable(each.results, each.configuration)
    if options.cache == COLD:
        prefer_cold_reads(spark)
    with pods_explained(spark) as none_comes:
        _wait_for_all_executors(spark, none_comes)
        wait_for_executors(spark)
    with missing_executors_explained(spark):
        return _measure(spark, options, selection)


def _measure(spark: SparkSession, options: BenchmarkOptions, selection: Selection) -> int:
    """Do what needs executors, and return the exit code. Raise BadInput like `benchmark`."""
    by_turn = options.by_turn()
    require_python_on_nodes(spark)
    if options.nodes is not None:
        _require_nodes(spark, options.nodes)
    datasets: dict[str | None, Dataset] = {}
    for each in by_turn:
        if selection.reads_data and each.dataset not in datasets:
            datasets[each.dataset] = proven_dataset(spark, each)
    tables = _opened_tables(spark, by_turn)
    with ExitStack() as stack:
        selection, destinations = _reserved_destinations(spark, selection, datasets.values(), stack)
        for reason, names in names_by_text(selection.omitted).items():
            verb = "are" if len(names) > 1 else "is"
            say(f"{' and '.join(names)} {verb} left out: {reason}")
        log = stack.enter_context(EventLog(spark))
        sides = []
        workloads = []
        for each in by_turn:
            dataset = datasets.get(each.dataset)
            own = [tables[pair] for pair in each.tables.items()]
            label = f"{each.configuration}: " if options.turns else ""
            side = ConfigurationSide(
                spark, each, selection, dataset, own, destinations, log, stack, label
            )
            sides.append(side)
            workloads += [f"{side.label}{name}" for name in selection.names]
        once_s = sum(dataset.first_use_s or 0.0 for dataset in datasets.values())
        rounds = plan_rounds(
            options, workloads, once_s, lambda: sum(len(side.unproven) for side in sides)
        )
        progress = TrialProgress(workloads, rounds)
        ending = run_trials(sides, rounds, options.seed, progress.finished)
        for side in sides:
            side.end(ending, rounds.stopped)
    if ending is not Ending.COMPLETED:
        say(f"{ending.value}: the trials that were recorded before are kept")
    _show_results(sides, rounds)
    trials = chain.from_iterable(side.trials for side in sides)
    has_failed = any(trial.status is Status.FAILED for trial in trials)
    return EXIT_CODES[ending] or int(has_failed)


def _checked_queries(spark: SparkSession, options: BenchmarkOptions) -> list[Query]:
    """Return the user's queries, and say what else their directory has. Raise BadInput for what is none."""
    if options.sql:
        if options.sql.left_out:
            say(f"not run: {join_names(options.sql.left_out)} (queries are files *{SUFFIX})")
        require_queries(spark, options.queries)
    return queries_of(options.queries)


def _opened_tables(
    spark: SparkSession, by_turn: Sequence[BenchmarkOptions]
) -> dict[tuple[str, str], Table]:
    """Return the tables by name and URI. Raise BadInput if their reads cannot be cold, and have to be."""
    tables: dict[tuple[str, str], Table] = {}
    for each in by_turn:
        for name, uri in each.tables.items():
            if (name, uri) not in tables:
                tables[name, uri] = open_table(spark, name, uri)
    unknown = [table.name for table in tables.values() if table.places is None]
    if unknown and by_turn[0].cache == COLD:
        raise BadInput(
            f"--cache cold: the files of {join_names(unknown)} are not known to their storage, and cannot be "
            "put out of memory"
        )
    return tables


def _reserved_destinations(
    spark: SparkSession, selection: Selection, datasets: Collection[Dataset], closing: ExitStack
) -> tuple[Selection, Mapping[str, Destination]]:
    """Return the workloads to run, and where they write beside each dataset, by its URI.

    Where that is not possible, workloads that write are omitted; raises BadInput if the user named them.
    `closing` removes what is reserved.
    """
    if not selection.writing:
        return selection, {}
    found: dict[str, Destination] = {}
    with ExitStack() as opened:
        try:
            for dataset in datasets:
                if dataset.uri not in found:
                    found[dataset.uri] = opened.enter_context(destination_beside(spark, dataset))
        except BadInput as error:
            return selection.without_writing(str(error)), {}
        closing.enter_context(opened.pop_all())
    return selection, found


def _wait_for_all_executors(spark: SparkSession, none_comes: Callable[[], bool]) -> None:
    """Wait for the executors that were asked for, if their number is known, and say how many are missing.

    Raise BadInput if that number is what the cluster allows, and not what somebody named.
    """
    asked = asked_executors(dict(spark.sparkContext.getConf().getAll()))
    if asked is None:
        return
    come = wait_for_all_executors(spark, asked.number, none_comes)
    if come == 0 or come >= asked.number:
        return
    few = f"{come} of {count_of(asked.number, 'executor')} have come"
    if asked.is_limit:
        raise BadInput(
            f"spark.dynamicAllocation.maxExecutors={asked.number} cannot be had: {few}; name a number that "
            f"can, such as --conf spark.executor.instances={come}"
        )
    say(f"{few}, and the run goes on with them: trials in which others come do not count")


def _require_nodes(spark: SparkSession, nodes: int) -> None:
    """Raise BadInput unless the executors are on this number of nodes."""
    found = list(dict.fromkeys(executors(spark)))
    if len(found) != nodes:
        raise BadInput(
            f"--nodes {nodes}: the executors are on {len(found)}, {', '.join(found)}; give an executor all "
            f"cores of its node by --executor-cores, and {nodes} times as many by --conf spark.cores.max "
            f"(standalone), or --num-executors {nodes} (YARN)"
        )


def plan_rounds(
    options: BenchmarkOptions,
    workloads: Sequence[str],
    once_s: float = 0.0,
    unproven: Callable[[], int] = lambda: 0,
) -> Rounds:
    """Return the rounds to run. `once_s` were spent on what further runs need not do.

    `unproven` counts the workloads whose answers are still to be proven.
    """
    if options.warmup == 0 and options.proof != IN_TRIALS:
        say("without a warm-up round, a round after the measured ones proves the answers")
    warm_up = None
    max_s = seconds_left()
    if options.warmup == AUTO:
        max_s = min(max_s, options.max_time_s)
    else:
        warm_up = int(options.warmup)
    return Rounds(
        workloads,
        warm_up,
        options.trials,
        max_s=max_s,
        profile=options.profile,
        fewer_after_s=seconds_for_rounds(once_s),
        unproven=unproven,
    )


def _show_results(sides: Sequence[ConfigurationSide], rounds: Rounds) -> None:
    """Show a summary and the path of each results file."""
    for side in sides:
        show("\n".join(side.summary()))
        doubt = side.doubt_of_cold_reads()
        if doubt:
            say(visible(f"{doubt} (docs/cold-reads.md says what to do)"))
        for line in side.silence():
            say(line)
    if rounds.stopped:
        show(rounds.stopped)
    for side in sides:
        if side.file is not None:
            show(visible(f"results: {side.file}"))
