"""`clusterlift run`: several runs of jobs/benchmark.py with the same arguments."""

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import starmap
from pathlib import Path
from statistics import median
from typing import Any

import click

from harness.commands.command import command
from harness.commands.options import converted
from harness.commands.own_machine import warn_of_faults
from harness.commands.submission import check_submission, run_script
from harness.local_spark import BENCHMARK
from harness.model.errors import BadInput, ClusterliftError
from harness.model.limits import (
    DEFAULT_PI_SAMPLES,
    DEFAULT_REPARTITION,
    DEFAULT_SINK,
    MAX_PARTITIONS,
    MAX_PI_SAMPLES,
    MAX_RUNS,
    MIN_RUNS,
)
from harness.model.scaling import parse_nodes, scaled_name
from harness.node.kernel import positive
from harness.option_types import RealNumber, WholeNumber
from harness.records.series import Series, is_complete, missing_runs, require_same_work
from harness.runtime.clock import duration_text
from harness.runtime.command_line import whole_number
from harness.runtime.option_values import parse_fraction
from harness.runtime.series import SERIES, SparkOptions, series_of
from harness.runtime.time_budget import END_BY, TimeBudget, least_run_s
from harness.runtime.warm_up import AUTO
from harness.terminal import say, show
from harness.words import count_of, percent

MAX_CORES = 10**6
DEFAULT_RUNS = 3
MAX_MINUTES = 7 * 24 * 60
DEFAULT_PRECISION_MINUTES = 60.0

SPARK_OPTIONS = (
    *("archives", "conf", "driver-class-path", "driver-cores", "driver-java-options"),
    *("driver-library-path", "driver-memory", "exclude-packages", "executor-cores"),
    *("executor-memory", "files", "jars", "keytab", "master", "name", "num-executors", "packages"),
    *("principal", "properties-file", "proxy-user", "py-files", "queue"),
    *("deploy-mode", "repositories", "total-executor-cores"),
)
"""The options of spark-submit that take a value. None of them is an option of the script."""


_NUMBERS_OF_EXECUTORS = frozenset(
    {
        *("--num-executors", "--total-executor-cores"),
        *("spark.cores.max", "spark.executor.instances"),
    }
)
"""What --nodes sets itself."""


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


precision_option = click.option(
    "--precision",
    metavar="3%",
    help="Make runs until the 95 % interval of every workload's time is within this fraction of it, "
    f"but no longer than --minutes, or {DEFAULT_PRECISION_MINUTES:g} minutes. With --trials auto, the "
    "option is passed to the script.",
)


@command("run", context_settings={"ignore_unknown_options": True})
@click.option(
    "--runs",
    type=WholeNumber(1, MAX_RUNS),
    metavar="N",
    help=f"Number of complete runs to have at the end.  [default: {DEFAULT_RUNS}]",
)
@click.option(
    "--minutes",
    type=RealNumber(1, MAX_MINUTES),
    metavar="N",
    help="Instead of --runs: make as many runs as fit into N minutes, but at least two. The same command "
    "again adds runs.",
)
@precision_option
@click.option(
    "--nodes",
    callback=converted(parse_nodes),
    metavar="N,N,...",
    help="Run on N nodes for each N, under the name of the configuration with -nN appended. Needs "
    "--executor-cores, the cores of a node. In arguments, {nodes} becomes N.  [default: as Spark places the "
    "executors]",
)
@spark_options
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE SCRIPT]...")
def run_command(
    runs: int | None,
    minutes: float | None,
    precision: str | None,
    nodes: tuple[int, ...] | None,
    arguments: Sequence[str],
    **spark: Sequence[str],
) -> int:
    """Run jobs/benchmark.py several times, each time as an application of its own.

    Options of spark-submit, such as --master and --conf, are passed on to it; all others to the script,
    whose own --help lists them. The same command continues where it was interrupted or killed: a run
    with the same arguments counts if it is complete and at least one of its trials did not fail. The exit
    code is 1 if a trial failed.
    """
    options = given_options(spark)
    wanted, arguments = own_precision(precision, arguments)
    given = [_on_nodes(options, arguments, number) for number in nodes or ()]
    submissions = dict(starmap(submission, given or [(options, arguments)]))
    for series, (_, own) in submissions.items():
        check_same_work(series, own)
    if minutes is None and wanted is None:
        return make_runs(submissions, runs or DEFAULT_RUNS)
    return make_runs_within(submissions, budget_of(runs, minutes, wanted), wanted)


Submission = tuple[SparkOptions, Sequence[str]]
"""The options of spark-submit, and the arguments of the script."""


def submission(options: SparkOptions, arguments: Sequence[str]) -> tuple[Series, Submission]:
    """Return a series, and how a run of it is submitted. Raise BadInput if it cannot be."""
    check_submission(options)
    given = read_arguments(arguments)
    id_ = series_of(options, arguments, os.environ.get("CLUSTERLIFT_FS", ""))
    return Series(given.results, given.configuration, id_), (options, arguments)


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
        outlook = ""
        if codes:
            left_s = (time.monotonic() - started) / len(codes) * (len(missing) - len(codes))
            outlook = f"; about {duration_text(left_s)} left"
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


def make_runs_within(
    submissions: Mapping[Series, Submission], budget: TimeBudget, precision: float | None = None
) -> int:
    """Make as many runs of each series as fit into the time, in turns, and return the exit code.

    With `precision`, none is made once every time is known to that fraction of it. A run that recorded
    nothing is the last. Raise BadInput if the number of rounds of a run is fixed, KeyboardInterrupt if a
    signal ended the script, and ClusterliftError if a run is not complete.
    """
    for _, arguments in submissions.values():
        check_time_decides(arguments)
    warn_of_faults()
    every, codes = list(submissions), [0]
    if all(earlier := [series.complete() for series in every]):
        budget.expect(sum(median(map(least_run_s, runs)) for runs in earlier))
    while True:
        complete = min(len(series.complete()) for series in every)
        if precision is not None and _is_precise(every, precision, complete, budget):
            return max(codes)
        share_s = budget.begin_turn(complete)
        if share_s is None:
            if precision is not None:
                say(f"the time is over before every time is known to ±{percent(precision, 1)}")
            return max(codes)
        # An earlier command may have ended amid this turn.
        turn = list(missing_runs(every, complete + 1))
        for series, number in turn:
            remaining_s = budget.remaining_s(complete)
            over = f"the time is over, but a table needs {MIN_RUNS} runs"
            say(
                f"{series.configuration}, run {number} of about "
                f"{complete + budget.turns_left(complete)}; "
                + (f"{duration_text(remaining_s)} left" if remaining_s else over)
            )
            end_by = {END_BY: str(time.time() + share_s / len(turn))}
            code, is_recorded = _make_run(series, submissions[series], end_by)
            codes.append(code)
            if not is_recorded:
                return code
            if len(series.complete()) == complete:
                raise ClusterliftError(
                    "the run ended early, or all its trials failed: the reasons are above; the same command "
                    "makes new ones"
                )
        budget.end_turn()


def _is_precise(
    every: Sequence[Series], precision: float, complete: int, budget: TimeBudget
) -> bool:
    """Return whether every time is known so well, and say how far it is from that."""
    # Runs need no statistics otherwise, and a cluster's master may lack scipy.
    from harness.analysis.compare.power import least_precise  # noqa: PLC0415
    from harness.analysis.observed.configuration import ConfigurationRuns  # noqa: PLC0415

    columns = (ConfigurationRuns(one.configuration, tuple(one.complete())) for one in every)
    found = [least_precise(column, precision) for column in columns]
    worst = max((one for one in found if one), key=lambda one: one.half_width, default=None)
    if worst is None or None in found:
        return False
    width = f"known to ±{percent(worst.half_width, 1)}" if worst.half_width < 1 else "not known yet"
    known = f"{worst.workload} is {width}"
    if worst.half_width <= precision:
        say(f"every time is known to ±{percent(precision, 1)}: {known}")
        return True
    if worst.runs is None:
        left = "more runs than are worth waiting for"
    else:
        more = worst.runs - complete
        expected_s = budget.expected_s(more)
        left = f"about {count_of(more, 'more run')}"
        left += f", or {duration_text(expected_s)}" if expected_s else ""
    say(
        f"{known}; ±{percent(precision, 1)} takes {left}; {duration_text(budget.left_s)} of the time are left"
    )
    return False


def own_precision(
    given: str | None, arguments: Sequence[str]
) -> tuple[float | None, Sequence[str]]:
    """Return the precision of runs, and the script's arguments: with --trials auto, it is the script's."""
    if given is None:
        return None, arguments
    if read_arguments(arguments).trials == AUTO:
        return None, [*arguments, "--precision", given]
    try:
        return parse_fraction(given), arguments
    except ValueError as error:
        raise BadInput(f"--precision: {error}") from error


def budget_of(
    runs: int | None,
    minutes: float | None,
    precision: float | None,
    default: float = DEFAULT_PRECISION_MINUTES,
) -> TimeBudget:
    """Return the time for runs until a precision or a limit is reached. Raise BadInput with --runs, too."""
    if runs is not None:
        name = "minutes" if minutes is not None else "precision"
        raise BadInput(f"--runs and --{name}: give one of them")
    limit = DEFAULT_PRECISION_MINUTES if precision is not None else default
    return TimeBudget((minutes or limit) * 60)


def check_time_decides(arguments: Sequence[str]) -> None:
    """Raise BadInput if the script's arguments fix the number of rounds, so that no time can limit them."""
    given = read_arguments(arguments)
    if AUTO not in {given.trials, given.warmup}:
        raise BadInput(
            "--warmup and --trials fix the number of rounds, which no time can limit then: give --runs N, or "
            "--warmup auto or --trials auto"
        )


def check_same_work(series: Series, arguments: Sequence[str], **known: object) -> None:
    """Raise BadInput if the configuration has runs of other work, which no table can pool with new ones.

    The work is what the script's arguments say, and what is `known` besides, such as the number of rows.
    """
    given = read_arguments(arguments)
    own = {name: getattr(given, name) for name in ("sink", "repartition", "pi_samples")}
    own["configuration"] = series.configuration  # a directory may have been renamed
    done = {
        recorded.source: {
            **recorded.run.parameters,
            **(recorded.run.dataset or {}),
            "configuration": recorded.run.configuration,
        }
        for recorded in series.of_configuration()
    }
    require_same_work(series.configuration, {**known, **own}, done)


def _make_run(
    series: Series, submission_: Submission, end_by: Mapping[str, str] | None = None
) -> tuple[int, bool]:
    """Return the exit code of a run, and whether it recorded anything.

    `end_by` is the variable that tells it when it has to end; without it its trials take what they need.
    """
    before = len(series.recorded())
    environment = {SERIES: series.id, **(end_by or {})}
    code = run_script(BENCHMARK, *submission_, environment)
    return code, len(series.recorded()) > before


def _on_nodes(
    options: SparkOptions, arguments: Sequence[str], nodes: int
) -> tuple[SparkOptions, list[str]]:
    """Return the options and arguments of runs on `nodes` nodes.

    Raise BadInput without --executor-cores, and if other options say how many executors there are.
    """
    for option, value in options:
        name = value.partition("=")[0] if option == "--conf" else option
        if name in _NUMBERS_OF_EXECUTORS:
            raise BadInput(f"--nodes decides how many executors there are: leave out {name}")
    given = [value for option, value in options if option == "--executor-cores"]
    cores = positive(given[-1], MAX_CORES) if given else None
    if cores is None:
        raise BadInput(
            "--nodes needs --executor-cores: the cores of a node, so that it has one executor"
        )
    configuration = scaled_name(read_arguments(arguments).configuration, nodes)
    return (
        [
            *options,
            ("--conf", f"spark.cores.max={cores * nodes}"),
            ("--conf", f"spark.executor.instances={nodes}"),
        ],
        [
            *(argument.replace("{nodes}", str(nodes)) for argument in arguments),
            *(f"--configuration={configuration}", f"--nodes={nodes}"),
        ],
    )


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Return some of the script's options, read and defaulted as the script does."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add = parser.add_argument
    add("--results", type=Path, default=Path("results"))
    add("--configuration", type=str.strip, default="default")
    add("--trials", default="")
    add("--warmup", default=AUTO)
    add("--sink", default=DEFAULT_SINK)
    add("--repartition", type=whole_number(1, MAX_PARTITIONS), default=DEFAULT_REPARTITION)
    add("--pi-samples", type=whole_number(1, MAX_PI_SAMPLES), default=DEFAULT_PI_SAMPLES)
    try:
        found, _ = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise BadInput(f"{error.argument_name}: {error.message}") from error
    return found
