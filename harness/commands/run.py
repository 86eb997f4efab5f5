"""`clusterlift run`: several runs of jobs/benchmark.py with the same arguments."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from harness.child_process import run_to_its_end
from harness.commands.command import command
from harness.local_spark import script_path, spark_environment, spark_submit_command
from harness.model.errors import BadInput, ClusterliftError
from harness.model.run import Ending, RecordedRun
from harness.records.directories import configuration_directory, results_files
from harness.records.reader import load
from harness.runtime.clock import duration_text
from harness.runtime.series import SERIES, SparkOptions, series_of
from harness.terminal import count_of, say, show

SCRIPT = "jobs/benchmark.py"
MAX_RUNS = 1000

# Not --deploy-mode: the script has to run here, where its results are.
SPARK_OPTIONS = (
    *("archives", "conf", "driver-class-path", "driver-cores", "driver-java-options"),
    *("driver-library-path", "driver-memory", "exclude-packages", "executor-cores"),
    *("executor-memory", "files", "jars", "keytab", "master", "name", "num-executors", "packages"),
    *("principal", "properties-file", "proxy-user", "py-files", "queue"),
    *("repositories", "total-executor-cores"),
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
@_spark_options
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE SCRIPT]...")
def run_command(runs: int, arguments: Sequence[str], **spark_options: Sequence[str]) -> int:
    """Run jobs/benchmark.py several times, each time as an application of its own.

    Options of spark-submit, such as --master and --conf, are passed on to it; all others to the script,
    whose own --help lists them. The same command continues where it was interrupted or killed: runs
    with the same arguments that are complete count. The exit code is 1 if a trial failed.
    """
    options = [
        (f"--{name.replace('_', '-')}", value)
        for name, values in spark_options.items()
        for value in values
    ]
    series = _Series(options, arguments)
    complete = _complete(series.recorded())
    if len(complete) >= runs:
        show(
            f"{series.configuration} has {count_of(len(complete), 'complete run')} with these "
            f"arguments; for one more: --runs {len(complete) + 1}"
        )
        return 0
    return series.make(range(len(complete) + 1, runs + 1))


class _Series:
    """The runs of one configuration that are made with the same arguments."""

    def __init__(self, options: SparkOptions, arguments: Sequence[str]) -> None:
        results, self.configuration = _where(arguments)
        self._directory = configuration_directory(results, self.configuration)
        script = [script_path(SCRIPT), *arguments]
        self._command = [*spark_submit_command(), *chain.from_iterable(options), *script]
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
            code = run_to_its_end(self._command, {**spark_environment(), SERIES: self._name})
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
