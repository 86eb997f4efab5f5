"""`clusterlift run`: several runs of jobs/benchmark.py with the same arguments."""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from harness.commands.command import command
from harness.commands.options import converted
from harness.commands.submission import check_submission, submit
from harness.model.errors import BadInput, ClusterliftError
from harness.model.run import Ending, RecordedRun
from harness.model.scaling import parse_nodes, scaled_name
from harness.records.directories import configuration_directory, results_files
from harness.records.reader import load
from harness.runtime.clock import duration_text
from harness.runtime.series import SparkOptions, series_of
from harness.terminal import count_of, say, show

MAX_RUNS = 1000

SPARK_OPTIONS = (
    *("archives", "conf", "driver-class-path", "driver-cores", "driver-java-options"),
    *("driver-library-path", "driver-memory", "exclude-packages", "executor-cores"),
    *("executor-memory", "files", "jars", "keytab", "master", "name", "num-executors", "packages"),
    *("principal", "properties-file", "proxy-user", "py-files", "queue"),
    *("deploy-mode", "repositories", "total-executor-cores"),
)
"""The options of spark-submit that take a value. None of them is an option of the script."""


def _spark_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Accept every option of spark-submit, as often as spark-submit does."""
    options = (
        click.option(f"--{name}", multiple=True, metavar="VALUE", hidden=True)
        for name in SPARK_OPTIONS
    )
    return reduce(lambda decorated, option: option(decorated), options, function)


@command("run", context_settings={"ignore_unknown_options": True})
@click.option(
    "--runs",
    type=click.IntRange(1, MAX_RUNS),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of complete runs to have at the end.",
)
@click.option(
    "--nodes",
    callback=converted(parse_nodes),
    metavar="N,N,...",
    help="Run on N nodes for each N, under the name of the configuration, -n and N. Needs --executor-cores, "
    "the cores of a node. In arguments, {nodes} becomes N.  [default: as Spark places the executors]",
)
@_spark_options
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE SCRIPT]...")
def run_command(
    runs: int,
    nodes: tuple[int, ...] | None,
    arguments: Sequence[str],
    **spark_options: Sequence[str],
) -> int:
    """Run jobs/benchmark.py several times, each time as an application of its own.

    Options of spark-submit, such as --master and --conf, are passed on to it; all others to the script,
    whose own --help lists them. The same command continues where it was interrupted or killed: runs
    with the same arguments that are complete count. The exit code is 1 if a trial failed.

    With --master yarn --deploy-mode cluster, the script runs on a node of the cluster; its results and
    messages come here all the same.
    """
    options = [
        (f"--{name.replace('_', '-')}", value)
        for name, values in spark_options.items()
        for value in values
    ]
    if nodes:
        scaled = [_Series(*_on_nodes(options, arguments, number)) for number in nodes]
        codes = list(_in_turns(scaled, runs))
        if not codes:
            show(f"all {count_of(runs, 'run')} on each number of nodes are complete")
        return max(codes, default=0)
    series = _Series(options, arguments)
    complete = _complete(series.recorded())
    if len(complete) >= runs:
        show(
            f"{series.configuration} has {count_of(len(complete), 'complete run')} with these "
            f"arguments; for one more: --runs {len(complete) + 1}"
        )
        return 0
    return series.make(range(len(complete) + 1, runs + 1))


def _in_turns(scaled: "Sequence[_Series]", runs: int) -> Iterator[int]:
    """Complete each series by one run after the other, there and back; yield the exit codes.

    Nothing follows after a run that recorded nothing.
    """
    for number in range(1, runs + 1):
        for series in scaled[:: 1 if number % 2 else -1]:
            if len(_complete(series.recorded())) >= number:
                continue
            say(f"{series.configuration}, run {number} of {runs}")
            yield series.make(range(number, number + 1))
            if len(_complete(series.recorded())) < number:
                return


def _on_nodes(
    options: SparkOptions, arguments: Sequence[str], nodes: int
) -> tuple[SparkOptions, list[str]]:
    """Return the options and arguments of runs on so many nodes. Raise BadInput without --executor-cores."""
    cores = [value for option, value in options if option == "--executor-cores"][-1:]
    if not cores or not cores[0].isdecimal() or not int(cores[0]):
        raise BadInput(
            "--nodes needs --executor-cores: the cores of a node, so that it has one executor"
        )
    _, configuration = _where(arguments)
    return (
        [
            *options,
            ("--conf", f"spark.cores.max={int(cores[0]) * nodes}"),
            ("--conf", f"spark.executor.instances={nodes}"),
        ],
        [
            *(argument.replace("{nodes}", str(nodes)) for argument in arguments),
            *(f"--configuration={scaled_name(configuration, nodes)}", f"--nodes={nodes}"),
        ],
    )


class _Series:
    """The runs of one configuration that are made with the same arguments."""

    def __init__(self, options: SparkOptions, arguments: Sequence[str]) -> None:
        self._options, self._arguments = options, arguments
        results, self.configuration = self._results = _where(arguments)
        self._directory = configuration_directory(results, self.configuration)
        check_submission(options)
        self._name = series_of(options, arguments, os.environ.get("CLUSTERLIFT_FS", ""))

    def recorded(self) -> list[RecordedRun]:
        """Return the runs of the series, complete or not. Raise BadInput if a file cannot be read."""
        runs = map(load, results_files(self._directory))
        return [each for each in runs if each.run.parameters.get("series") == self._name]

    def make(self, numbers: range) -> int:
        """Make the runs of these numbers, and return the exit code.

        After a failed trial, or if Spark was lost, the other runs follow; after a run that recorded
        nothing they do not. Raise KeyboardInterrupt if a signal ended the script, and ClusterliftError
        if a run is not complete.
        """
        for each in self.recorded():
            if each.ending is not Ending.COMPLETED:
                say(f"{each.source} is not complete, so it does not count")
        seconds: list[float] = []
        codes: list[int] = []
        for number in numbers:
            left = fmean(seconds) * (numbers.stop - number) if seconds else None
            outlook = f"; about {duration_text(left)} left" if left else ""
            say(f"run {number} of {numbers[-1]}{outlook}")
            before, started = len(self.recorded()), time.monotonic()
            code = submit(self._options, self._arguments, self._results, self._name)
            if len(self.recorded()) == before:
                return code
            seconds.append(time.monotonic() - started)
            codes.append(code)
        if missing := numbers[-1] - len(_complete(self.recorded())):
            raise ClusterliftError(
                f"{count_of(missing, 'run')} of {numbers[-1]} ended early: the reasons are above; the "
                "same command makes as many again"
            )
        return max(codes)


def _complete(runs: Sequence[RecordedRun]) -> list[RecordedRun]:
    return [each for each in runs if each.ending is Ending.COMPLETED]


def _where(arguments: Sequence[str]) -> tuple[Path, str]:
    """Return the script's --results and --configuration, read and defaulted as the script does."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--configuration", type=str.strip, default="default")
    try:
        found, _ = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise BadInput(f"{error.argument_name}: {error.message}") from error
    return found.results, found.configuration
