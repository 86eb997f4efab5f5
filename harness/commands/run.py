"""`clusterlift run`: several runs of jobs/benchmark.py with the same arguments."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from harness.base.checked import positive
from harness.base.errors import BadInput
from harness.base.option_types import RealNumber, WholeNumber, converted
from harness.commands.command import command
from harness.commands.options import as_fraction, spark_lines_option
from harness.commands.own_machine import warn_of_faults
from harness.experiments.making import Made, Make, make_runs, make_runs_within
from harness.experiments.run_plan import RunPlan
from harness.model.limits import MAX_RUNS
from harness.model.scaling import parse_nodes, scaled_name
from harness.records.files import content_of
from harness.records.series import (
    Series,
    locked_series,
    proven_content,
)
from harness.submit.script import BENCHMARK, run_script
from harness.submit.submission import Submission
from harness.trials.time_budget import TimeBudget
from harness.work.same_work import require_work_of_runs, work_of_options, work_on
from harness.work.script_options import HELP
from harness.work.series import PROVEN, SERIES

MAX_CORES = 10**6
DEFAULT_RUNS = 3
MAX_MINUTES = 7 * 24 * 60
DEFAULT_PRECISION_MINUTES = 60
_MANIFEST = "_dataset.json"
_MAX_MANIFEST_BYTES = 2**28
_DEFAULT_FS = "spark.hadoop.fs.defaultFS"

precision_option = click.option(
    "--precision",
    callback=as_fraction,
    metavar="3%",
    help="Make runs until the 95 % interval of every workload's time is within this fraction of it, but no "
    f"longer than --minutes, or {DEFAULT_PRECISION_MINUTES} minutes.",
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
    help="Instead of --runs: make short runs for N minutes, but at least three. The same "
    "command again adds runs.",
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
@spark_lines_option
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE SCRIPT]...")
def run_command(
    runs: int | None,
    minutes: float | None,
    precision: float | None,
    nodes: tuple[int, ...] | None,
    spark_lines: bool,  # noqa: FBT001  a flag of click
    words: Sequence[str],
) -> int:
    """Run jobs/benchmark.py several times, each time as an application of its own.

    Options of spark-submit, such as --master and --conf, are passed on to it; all others to the script, such
    as --dataset, --configuration and --results: `clusterlift run -- --help` lists them. The same command
    continues where it was interrupted or killed: a run with the same arguments counts if it is complete and
    at least one of its trials did not fail. The exit code is 1 if a trial failed.
    """
    if HELP.intersection(words):
        return run_script(BENCHMARK, (), ["--help"], {})
    submission = Submission.of(words)
    submissions = [submission]
    if nodes:
        submissions = [_on_nodes(submission, number) for number in nodes]
    makers = {}
    for each in submissions:
        series = each.series
        check_same_work(series, each)
        makers[series] = spark_runs(series, each, shows_usual_lines=spark_lines)
    budget = time_for_runs(runs, minutes, precision)
    with locked_series(makers):
        if budget is None:
            return make_runs(makers, runs or DEFAULT_RUNS, warn_of_faults)
        warn_of_faults()
        return make_runs_within(makers, budget, precision)


def time_for_runs(
    runs: int | None, minutes: float | None, precision: float | None, default: float | None = None
) -> TimeBudget | None:
    """Return the time that limits runs, if it does; if nothing is given, `default` minutes.

    Raise BadInput if their number is given as well.
    """
    if runs is not None:
        if minutes or precision:
            raise BadInput("--runs fixes what --minutes and --precision decide: give one of them")
        return None
    if precision:
        default = DEFAULT_PRECISION_MINUTES
    minutes = minutes or default
    if not minutes:
        return None
    return TimeBudget(minutes * 60)


def check_same_work(series: Series, submission: Submission, **known: object) -> None:
    """Raise BadInput if the configuration has runs of other work, which no table can pool with new ones.

    The work is what the script's arguments say, and what is `known` besides, such as the number of rows.
    """
    wanted = {
        "configuration": series.configuration,
        **work_of_options(submission.given),
        **local_dataset(submission),
        **known,
    }
    require_work_of_runs(series.configuration, wanted, series.of_configuration())


def local_dataset(submission: Submission) -> dict[str, Any]:
    """Return digest and format of a dataset on a file system of this machine; nothing of any other.

    The script itself proves that the manifest names its files, and judges a manifest that is damaged.
    """
    uri = submission.given.dataset or ""
    has_other_default = _DEFAULT_FS in submission.properties or "HADOOP_CONF_DIR" in os.environ
    if has_other_default and not uri.startswith("file:"):
        return {}
    path = uri.removeprefix("file://").removeprefix("file:")
    try:
        manifest = json.loads(content_of(Path(path, _MANIFEST), _MAX_MANIFEST_BYTES))
    except (BadInput, ValueError, RecursionError):
        return {}
    if not isinstance(manifest, dict):
        return {}
    return work_on(manifest)


def spark_runs(
    series: Series,
    submission: Submission,
    arguments_of: Callable[[RunPlan], Sequence[str]] = lambda _: (),
    *,
    shows_usual_lines: bool = False,
) -> Make:
    """Return what makes the runs of a series.

    The arguments that `arguments_of` returns for a plan replace the submission's own. `shows_usual_lines` is
    an option of `run_script`.
    """

    def make(number: int, limits: Mapping[str, str], plan: RunPlan | None) -> Made:
        before = series.recorded()
        environment = {SERIES: series.id, PROVEN: proven_content(before), **limits}
        # A run has the same seed as that which it replaces.
        seed = f"{submission.given.seed or series.id}-{number}"
        arguments = list(submission.arguments)
        if plan:
            arguments += arguments_of(plan)
        arguments.append(f"--seed={seed}")
        code = run_script(
            BENCHMARK,
            submission.option_words,
            arguments,
            environment,
            shows_usual_lines=shows_usual_lines,
        )
        known = {recorded.run.id for recorded in before}
        new = (each for each in series.recorded() if each.run.id not in known)
        return Made(code, next(new, None))

    return make


def _on_nodes(submission: Submission, nodes: int) -> Submission:
    """Return what to submit for runs on `nodes` nodes. Raise BadInput without --executor-cores."""
    given = [value for option, value in submission.options if option == "--executor-cores"]
    cores = positive(given[-1], MAX_CORES) if given else None
    if cores is None:
        raise BadInput(
            "--nodes needs --executor-cores: the cores of a node, so that it has one executor"
        )
    configuration = scaled_name(submission.given.configuration, nodes)
    options = list(submission.options)
    options.append(("--conf", f"spark.cores.max={cores * nodes}"))
    options.append(("--conf", f"spark.executor.instances={nodes}"))
    arguments = [argument.replace("{nodes}", str(nodes)) for argument in submission.arguments]
    arguments += [f"--configuration={configuration}", f"--nodes={nodes}"]
    return Submission(options, arguments)
