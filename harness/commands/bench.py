"""`clusterlift bench`: data, runs and a table, in the minutes that the user gives."""

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from harness.analysis.compare.comparison import compare, overview
from harness.analysis.observed.configuration import find_configuration
from harness.base.errors import BadInput
from harness.base.option_types import RealNumber, WholeNumber
from harness.base.option_values import whole_number
from harness.base.terminal import say, show
from harness.base.words import count_of, percent
from harness.commands.command import command
from harness.commands.options import configuration_option, results_option, spark_lines_option
from harness.commands.own_machine import warn_of_faults
from harness.commands.run import (
    DEFAULT_RUNS,
    MAX_MINUTES,
    check_same_work,
    local_dataset,
    precision_option,
    spark_runs,
    time_for_runs,
)
from harness.experiments.making import make_runs, make_runs_within
from harness.experiments.planned_runs import Shaping
from harness.experiments.run_plan import RunPlan
from harness.model.limits import MAX_ROWS, MAX_RUNS, MIN_RUNS
from harness.model.run import RecordedRun
from harness.present import text
from harness.present.comparison_table import comparison_table
from harness.records.directories import check_writable, configuration_directory, results_files
from harness.records.lookup import last_run_before, runs_in_order
from harness.records.series import Series, is_complete, locked_series
from harness.statistics.power import narrower_interval
from harness.submit.submission import Submission
from harness.trials.counting import AUTO
from harness.trials.time_budget import NEEDED_RUNS
from harness.work.same_work import DIGEST
from harness.work.script_options import BenchmarkOptions, read_script_options

DEFAULT_MINUTES = 5.0
WORKLOADS = "group-by,inner-join,calc-pi-python-udf,sha-512,write,repartition"
"""One of each kind: in the same time they are known better than all. The last go first if time is short."""
FEW_PARTITIONS = 8
"""Spark's 200 suit a cluster. On one machine, most of a trial would be the scheduling of tasks."""
ONE_MACHINE_PROPERTIES = {
    "spark.sql.shuffle.partitions": str(FEW_PARTITIONS),
    # All tasks run in the driver's JVM. In some runs, G1 learns from Spark's large pages to mark what lives
    # when a sixth of the heap is full, and then marks without end: they are slower by a fifth to a third.
    "spark.driver.defaultJavaOptions": "-XX:-G1UseAdaptiveIHOP",
}
ONE_MACHINE_ROUNDS = ("--warmup=2", "--trials=2")
"""Rounds are short beside the start of Spark, and Java's compiler is at work in the first two.

Where time is short, there are fewer: four such runs give a narrower interval than three long ones."""


@command("bench", context_settings={"ignore_unknown_options": True})
@click.option(
    "--minutes",
    type=RealNumber(1, MAX_MINUTES),
    metavar="N",
    help="Time for everything; the first table needs three runs, however long they take.  "
    f"[default: {DEFAULT_MINUTES:g}]",
)
@click.option(
    "--runs",
    type=WholeNumber(1, MAX_RUNS),
    metavar="N",
    help="Instead of --minutes: number of complete runs to have at the end.",
)
@precision_option
@click.option(
    "--rows", default="1000000", show_default=True, metavar="N", help="Rows of the dataset."
)
@click.option(
    "--dataset",
    metavar="URI",
    help="Where the dataset is, or will be generated.  [default: data/rows-N]",
)
@click.option(
    "--layout",
    metavar="LAYOUT",
    help="Layout of its files, such as replicated:2.  [default: as the storage chooses]",
)
@configuration_option("Name of the set-up under test.", default="default", show_default=True)
@results_option
@spark_lines_option
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE SCRIPT]...")
def bench_command(
    minutes: float | None,
    runs: int | None,
    precision: float | None,
    rows: str,
    dataset: str | None,
    layout: str | None,
    configuration: str,
    results: Path,
    spark_lines: bool,  # noqa: FBT001  a flag of click
    words: Sequence[str],
) -> int:
    """Generate a dataset, run the workloads on it, and print a table.

    The same command again adds runs, and the table becomes more precise. If another configuration was
    measured before on the same machine and data, the table compares the two. Ctrl-C ends the command with the
    table of what was measured so far.

    Options of spark-submit are passed on to it, all others to jobs/benchmark.py, whose options
    `clusterlift run -- --help` lists.
    """
    dataset = dataset or f"data/rows-{rows}"
    data = [f"--rows={rows}"]
    if layout:
        data.append(f"--layout={layout}")
    user = Submission.of(words)
    given = read_script_options([f"--dataset={dataset}", *user.arguments])
    options: list[tuple[str, str]] = []
    arguments = [
        f"--dataset={dataset}",
        f"--generate={shlex.join(data)}",
        f"--configuration={configuration}",
        f"--results={results}",
    ]
    has_free_rounds = False
    if "spark.master" not in user.properties:
        for name, value in ONE_MACHINE_PROPERTIES.items():
            options.append(("--conf", f"{name}={value}"))
        arguments += [f"--repartition={FEW_PARTITIONS}", *ONE_MACHINE_ROUNDS]
        has_free_rounds = not given.given & {"trials", "warmup"}
    if not given.sql:
        arguments.append(f"--default-workloads={WORKLOADS}")
    submission = Submission([*options, *user.options], [*arguments, *user.arguments])
    budget = time_for_runs(runs, minutes, precision, DEFAULT_MINUTES)
    series = submission.series
    check_same_work(series, submission, rows=_number_of(rows))
    check_writable(results, configuration)
    fewest_runs = NEEDED_RUNS if budget else MIN_RUNS
    with locked_series([series]):
        before = len(series.complete())
        try:
            of_plan = partial(_arguments_of, given)
            make = spark_runs(series, submission, of_plan, shows_usual_lines=spark_lines)
            makers = {series: make}
            if budget is None:
                code = make_runs(makers, runs or DEFAULT_RUNS, warn_of_faults)
            else:
                warn_of_faults()
                shaping = _shaping(series, submission) if has_free_rounds else None
                code = make_runs_within(makers, budget, precision, shaping)
        finally:  # whatever ended them
            if results_files(configuration_directory(results, configuration)):
                _show_table(configuration, results, fewest_runs)
            if budget:
                _say_what_more_time_brings(before, len(series.complete()))
    return code


def _shaping(series: Series, submission: Submission) -> Shaping:
    """Return how runs may become shorter, and which configuration's runs they are to be like."""
    given = submission.given
    workloads = given.workloads or tuple(WORKLOADS.split(","))
    if given.sql:
        workloads = ()
    digest = local_dataset(submission).get(DIGEST)
    copied = _runs_before(series, digest) if digest else []
    return Shaping(workloads, keeps_workloads=bool(given.sql), copied=copied)


def _runs_before(series: Series, digest: str) -> list[RecordedRun]:
    """Return the complete runs of the configuration that was measured last on these data, in their order.

    Runs whose warm-up ended by itself are left out: their number of rounds was not planned.
    """
    found: dict[str, list[RecordedRun]] = {}
    last: list[RecordedRun] = []
    for recorded in runs_in_order(series.results):
        run = recorded.run
        is_planned = run.parameters.get("warmup") != AUTO
        has_these_data = (run.dataset or {}).get("digest") == digest
        is_other = run.configuration != series.configuration
        if is_planned and has_these_data and is_other and is_complete(recorded):
            last = found.setdefault(run.configuration, [])
            last.append(recorded)
    return last


def _arguments_of(given: BenchmarkOptions, plan: RunPlan) -> list[str]:
    """Return the arguments of the script that make a run as planned."""
    arguments = [f"--warmup={plan.warm_up}", f"--trials={plan.trials}"]
    if not given.sql:
        option = "workloads" if given.workloads else "default-workloads"
        arguments.append(f"--{option}={','.join(plan.workloads)}")
    return arguments


def _number_of(rows: str) -> int:
    try:
        return whole_number(0, MAX_ROWS)(rows)
    except ValueError as error:
        raise BadInput(f"--rows: {error}") from error


def _say_what_more_time_brings(before: int, runs: int) -> None:
    """Say how many more runs the same time makes, and how much narrower intervals become by them."""
    more = runs - before
    if more <= 0:
        return
    line = f"the same command, with as much time, makes about {count_of(more, 'more run')}"
    if runs >= MIN_RUNS:
        width = percent(narrower_interval(runs, more))
        line = f"{line}: the intervals of times are then about {width} as wide"
    say(line)


def _show_table(configuration: str, results: Path, fewest_runs: int) -> None:
    """Show the configuration beside the one before it, or alone."""
    # By its directory: where the command runs, another one may have the configuration's name.
    own = str(configuration_directory(results, configuration))
    show("")
    if not show_with_earlier(own, results, fewest_runs):
        alone = overview(find_configuration(own, results, samples=False))
        show(text.render([comparison_table(alone, fewest_runs=fewest_runs)]))


def show_with_earlier(after: str, results: Path, fewest_runs: int = MIN_RUNS) -> bool:
    """Show a configuration beside the one measured before it; return whether there is one to compare with.

    Intervals are from `fewest_runs` or more on each side. If the two cannot be compared, say why.
    """
    earlier = last_run_before(after, results)
    if earlier is None:
        return False
    try:
        names = (str(Path(earlier.source).parent), after)
        comparison = compare([find_configuration(name, results, samples=False) for name in names])
    except BadInput as error:
        before = earlier.run.configuration
        name = Path(after).name
        say(f"{before!r} was measured before {name!r}, but they cannot be compared: {error}")
        return False
    show(text.render([comparison_table(comparison, fewest_runs=fewest_runs)]))
    return True
