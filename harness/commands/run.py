"""`clusterlift run`: several runs of jobs/benchmark.py with the same arguments."""

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import starmap
from pathlib import Path
from typing import Any

import click

from harness.commands.command import command
from harness.commands.doctor import warn_of_faults
from harness.commands.options import converted
from harness.commands.submission import check_submission, submit
from harness.model.errors import BadInput, ClusterliftError
from harness.model.scaling import parse_nodes, scaled_name
from harness.node.kernel import positive
from harness.option_types import WholeNumber
from harness.records.series import Series, in_turns, is_complete, missing_runs
from harness.runtime.clock import duration_text
from harness.runtime.series import SERIES, SparkOptions, series_of
from harness.runtime.time_budget import END_BY, TimeBudget
from harness.runtime.warm_up import AUTO
from harness.terminal import count_of, say, show

MAX_RUNS = 1000
MAX_CORES = 10**6
DEFAULT_RUNS = 3
MAX_MINUTES = 7 * 24 * 60

SPARK_OPTIONS = (
    *("archives", "conf", "driver-class-path", "driver-cores", "driver-java-options"),
    *("driver-library-path", "driver-memory", "exclude-packages", "executor-cores"),
    *("executor-memory", "files", "jars", "keytab", "master", "name", "num-executors", "packages"),
    *("principal", "properties-file", "proxy-user", "py-files", "queue"),
    *("deploy-mode", "repositories", "total-executor-cores"),
)
"""The options of spark-submit that take a value. None of them is an option of the script."""


def spark_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Accept every option of spark-submit, as often as spark-submit does; `given_options` reads them."""
    options = (
        click.option(f"--{name}", multiple=True, metavar="VALUE", hidden=True)
        for name in SPARK_OPTIONS
    )
    return reduce(lambda decorated, option: option(decorated), options, function)


def given_options(values: Mapping[str, Sequence[str]]) -> SparkOptions:
    """Return the options of spark-submit that a command was called with."""
    return [
        (f"--{name.replace('_', '-')}", value) for name, given in values.items() for value in given
    ]


@command("run", context_settings={"ignore_unknown_options": True})
@click.option(
    "--runs",
    type=WholeNumber(1, MAX_RUNS),
    metavar="N",
    help=f"Number of complete runs to have at the end.  [default: {DEFAULT_RUNS}]",
)
@click.option(
    "--minutes",
    type=click.FloatRange(1, MAX_MINUTES),
    metavar="N",
    help="In place of --runs: make as many runs as fit into N minutes, but at least two. The same command "
    "again adds runs.",
)
@click.option(
    "--nodes",
    callback=converted(parse_nodes),
    metavar="N,N,...",
    help="Run on N nodes for each N, under the name of the configuration, -n and N. Needs --executor-cores, "
    "the cores of a node. In arguments, {nodes} becomes N.  [default: as Spark places the executors]",
)
@spark_options
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE SCRIPT]...")
def run_command(
    runs: int | None,
    minutes: float | None,
    nodes: tuple[int, ...] | None,
    arguments: Sequence[str],
    **spark: Sequence[str],
) -> int:
    """Run jobs/benchmark.py several times, each time as an application of its own.

    Options of spark-submit, such as --master and --conf, are passed on to it; all others to the script,
    whose own --help lists them. The same command continues where it was interrupted or killed: runs
    with the same arguments count that are complete and have a trial that did not fail. The exit code is 1
    if a trial failed.

    With --master yarn --deploy-mode cluster, the script runs on a node of the cluster; its results and
    messages come here all the same.
    """
    options = given_options(spark)
    given = [_on_nodes(options, arguments, number) for number in nodes or ()]
    submissions = dict(starmap(submission, given or [(options, arguments)]))
    if minutes is None:
        return make_runs(submissions, runs or DEFAULT_RUNS)
    if runs is not None:
        raise BadInput("--runs and --minutes: give one of them")
    return make_runs_within(submissions, TimeBudget(minutes * 60))


Submission = tuple[SparkOptions, Sequence[str]]
"""The options of spark-submit, and the arguments of the script."""


def submission(options: SparkOptions, arguments: Sequence[str]) -> tuple[Series, Submission]:
    """Return a series, and how a run of it is submitted. Raise BadInput if it cannot be."""
    check_submission(options)
    id_ = series_of(options, arguments, os.environ.get("CLUSTERLIFT_FS", ""))
    return Series(*_where(arguments), id_), (options, arguments)


def make_runs(submissions: Mapping[Series, Submission], runs: int) -> int:
    """Make the runs that are not complete yet, in turns, and return the exit code.

    After a failed trial, or if Spark was lost, the other runs follow; after a run that recorded nothing they
    do not. Raise KeyboardInterrupt if a signal ended the script, and ClusterliftError if a run is not
    complete at the end.
    """
    for series in submissions:
        all_recorded = series.recorded()
        for recorded in all_recorded:
            if not is_complete(recorded):
                say(f"{recorded.source} ended early, or all its trials failed: it does not count")
        if (complete := sum(map(is_complete, all_recorded))) >= runs:
            show(
                f"{series.configuration} has {count_of(complete, 'complete run')} with these "
                f"arguments; for one more: --runs {complete + 1}"
            )
    missing = list(missing_runs(list(submissions), runs))
    if missing:
        warn_of_faults()
    started = time.monotonic()
    codes: list[int] = []
    for series, number in missing:
        left = (
            (time.monotonic() - started) / len(codes) * (len(missing) - len(codes)) if codes else 0
        )
        outlook = f"; about {duration_text(left)} left" if codes else ""
        say(f"{series.configuration}, run {number} of {runs}{outlook}")
        code, is_recorded = _make_run(series, submissions[series])
        codes.append(code)
        if not is_recorded:
            return code
    if short := len(list(missing_runs(list(submissions), runs))):
        raise ClusterliftError(
            f"{count_of(short, 'run')} of {runs * len(submissions)} ended early, or all their trials failed: "
            "the reasons are above; the same command makes as many again"
        )
    return max(codes, default=0)


def make_runs_within(submissions: Mapping[Series, Submission], budget: TimeBudget) -> int:
    """Make as many runs of each series as fit into the time, in turns, and return the exit code.

    A run that recorded nothing is the last. Raise BadInput if the number of rounds of a run is fixed,
    KeyboardInterrupt if a signal ended the script, and ClusterliftError if a run is not complete.
    """
    for _, arguments in submissions.values():
        check_time_decides(arguments)
    warn_of_faults()
    every, codes = list(submissions), [0]
    while True:
        complete = min(len(series.complete()) for series in every)
        share_s = budget.begin_turn(complete)
        if share_s is None:
            return max(codes)
        for series in in_turns(every, complete + 1):
            say(
                f"{series.configuration}, run {complete + 1} of about "
                f"{complete + budget.turns_left(complete)}; {duration_text(budget.left_s)} left"
            )
            end_by = time.time() + share_s / len(every)
            code, is_recorded = _make_run(series, submissions[series], end_by)
            codes.append(code)
            if not is_recorded:
                return code
            if len(series.complete()) == complete:
                raise ClusterliftError(
                    "the run ended early, or all its trials failed: the reasons are above; the same command "
                    "makes others"
                )
        budget.end_turn()


def check_time_decides(arguments: Sequence[str]) -> None:
    """Raise BadInput if the script's arguments fix the number of rounds, so that no time can limit them."""
    given = _read(arguments)
    if AUTO not in {given.trials, given.warmup}:
        raise BadInput(
            "--minutes needs --warmup auto or --trials auto: the number of rounds is fixed otherwise"
        )


def _make_run(
    series: Series, submission_: Submission, end_by: float | None = None
) -> tuple[int, bool]:
    """Return the exit code of a run, and whether it recorded anything.

    `end_by` is the Unix time by which it has to end; None if it may take as long as its trials need.
    """
    before = len(series.recorded())
    environment = {SERIES: series.id} | ({END_BY: str(end_by)} if end_by is not None else {})
    code = submit(*submission_, (series.results, series.configuration), environment)
    return code, len(series.recorded()) > before


def _on_nodes(
    options: SparkOptions, arguments: Sequence[str], nodes: int
) -> tuple[SparkOptions, list[str]]:
    """Return the options and arguments of runs on `nodes` nodes. Raise BadInput without --executor-cores."""
    given = [value for option, value in options if option == "--executor-cores"]
    cores = positive(given[-1], MAX_CORES) if given else None
    if cores is None:
        raise BadInput(
            "--nodes needs --executor-cores: the cores of a node, so that it has one executor"
        )
    _, configuration = _where(arguments)
    return (
        [
            *options,
            ("--conf", f"spark.cores.max={cores * nodes}"),
            ("--conf", f"spark.executor.instances={nodes}"),
        ],
        [
            *(argument.replace("{nodes}", str(nodes)) for argument in arguments),
            *(f"--configuration={scaled_name(configuration, nodes)}", f"--nodes={nodes}"),
        ],
    )


def _where(arguments: Sequence[str]) -> tuple[Path, str]:
    """Return the script's --results and --configuration."""
    given = _read(arguments)
    return given.results, given.configuration


def _read(arguments: Sequence[str]) -> argparse.Namespace:
    """Return some of the script's options, read and defaulted as the script does."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--configuration", type=str.strip, default="default")
    parser.add_argument("--trials", default="")
    parser.add_argument("--warmup", default=AUTO)
    try:
        found, _ = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise BadInput(f"{error.argument_name}: {error.message}") from error
    return found
