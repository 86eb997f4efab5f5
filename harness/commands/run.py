"""`clusterlift run`: several runs of jobs/benchmark.py with the same arguments."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from harness.base.clock import duration_text
from harness.base.errors import BadInput, ClusterliftError
from harness.base.option_types import RealNumber, WholeNumber, converted
from harness.base.terminal import say, show
from harness.base.words import count_of
from harness.commands.command import command
from harness.commands.options import as_fraction
from harness.commands.own_machine import warn_of_faults
from harness.model.limits import MAX_RUNS, MIN_RUNS
from harness.model.run import Phase, RecordedRun, moment_of
from harness.model.scaling import parse_nodes, scaled_name
from harness.node.iproute2 import positive
from harness.records.files import content_of
from harness.records.series import (
    Series,
    is_complete,
    locked_series,
    missing_runs,
    proven_content,
)
from harness.submit.script import BENCHMARK, run_script
from harness.submit.submission import Submission
from harness.trials.time_budget import END_BY, FEWER_ROUNDS_BY, TimeBudget, machine_clock
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
_NEEDED = (Phase.WARM_UP, Phase.MEASURED)
"""The shortest run has a round of each."""


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
    help="Instead of --runs: make as many short runs as fit into N minutes, but at least two. The same "
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
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE SCRIPT]...")
def run_command(
    runs: int | None,
    minutes: float | None,
    precision: float | None,
    nodes: tuple[int, ...] | None,
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
    given = [_on_nodes(submission, number) for number in nodes or ()] or [submission]
    submissions = {one.series: one for one in given}
    for series, one in submissions.items():
        check_same_work(series, one)
    budget = time_for_runs(runs, minutes, precision)
    with locked_series(submissions):
        if budget:
            return make_runs_within(submissions, budget, precision)
        return make_runs(submissions, runs or DEFAULT_RUNS)


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
                say(
                    f"{recorded.source} ended early, or all its trials failed: it is none of the {runs}"
                )
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
        code, made = _make_run(series, submissions[series], number)
        codes.append(code)
        if made is None:
            return code
    if short := len(list(missing_runs(list(submissions), runs))):
        raise ClusterliftError(
            f"{count_of(short, 'run')} of {runs * len(submissions)} ended early, or all their trials failed: "
            "the reasons are above; the same command makes as many again"
        )
    return max(codes, default=0)


def make_runs_within(
    submissions: Mapping[Series, Submission],
    budget: TimeBudget,
    precision: float | None = None,
    *,
    may_shorten: bool = False,
) -> int:
    """Make as many runs of each series as fit into the time, in turns, and return the exit code.

    With `precision`, none is made once every time is known to that fraction of it. If the runs
    `may_shorten`, they have fewer rounds where else fewer than WANTED_RUNS would fit. A run that recorded
    nothing is the last. Raise KeyboardInterrupt if a signal ended the script, and ClusterliftError if a run
    is not complete.
    """
    warn_of_faults()
    every, codes = list(submissions), [0]
    while True:
        complete = min(len(series.complete()) for series in every)
        if precision and _are_precise(every, precision):
            return max(codes)
        share_s = budget.begin_turn(complete)
        if share_s is None:
            runs, turn_s = count_of(complete, "run"), budget.turn_s or 0
            say(
                f"{runs}: {duration_text(budget.left_s)} left, and one takes {duration_text(turn_s)}"
            )
            return max(codes)
        # An earlier command may have ended amid this turn.
        turn = list(missing_runs(every, complete + 1))
        once_s = spare_s = 0.0
        rounds_s = budget.share_s(complete)
        for series, number in turn:
            total = complete + budget.turns_left(complete)
            left = f"{duration_text(budget.left_s)} left"
            over = f"the time is over, but a table needs {MIN_RUNS} runs"
            say(
                f"{series.configuration}, run {number} of "
                + (f"about {total}; " if budget.turn_s else f"{total} or more; ")
                + (left if budget.left_s else over)
            )
            end_by = {END_BY: str(machine_clock() + share_s / len(turn))}
            if may_shorten:
                end_by[FEWER_ROUNDS_BY] = str(machine_clock() + rounds_s / len(turn))
            code, made = _make_run(series, submissions[series], number, end_by)
            codes.append(code)
            if made is None:
                return code
            once_s += (made.run.dataset or {}).get("first_use_s") or 0.0
            spare_s += seconds_of_spare_rounds(made) if may_shorten else 0.0
            if len(series.complete()) == complete:
                raise ClusterliftError(
                    "the run ended early, or all its trials failed: the reasons are above; the same command "
                    "makes new ones"
                )
        if len(turn) == len(every):  # a part of one does not show how long it takes
            budget.end_turn(once_s, spare_s)


def seconds_of_spare_rounds(recorded: RecordedRun) -> float:
    """Return how long the rounds took beyond a warm-up and a measured one, each as long as the last one."""
    rounds = [(trial.phase, trial.round) for trial in recorded.trials if trial.phase in _NEEDED]
    number = len(set(rounds))
    if number <= len(_NEEDED):
        return 0.0
    last = [trial for trial in recorded.trials if (trial.phase, trial.round) == rounds[-1]]
    took_s = moment_of(last[-1].started_at) - moment_of(last[0].started_at)
    of_last_trial_s = (last[-1].wall_s or 0.0) * last[-1].executions
    return (number - len(_NEEDED)) * (took_s.total_seconds() + of_last_trial_s)


def _are_precise(every: Sequence[Series], precision: float) -> bool:
    """Return whether every time is known to this fraction of it, and say which is known least well."""
    # Runs need no statistics otherwise, and a cluster's master may lack scipy.
    from harness.analysis.compare.comparison import widest  # noqa: PLC0415
    from harness.analysis.observed.configuration import ConfigurationRuns  # noqa: PLC0415
    from harness.present.quantities import TOO_FEW_RUNS, uncertainty  # noqa: PLC0415

    found = [widest(ConfigurationRuns(s.configuration, tuple(s.complete()))) for s in every]
    known = [each for each in found if each]
    if len(known) < len(found):
        return False
    name, width = max(known, key=lambda each: each[1])
    text = uncertainty(width)
    if text == TOO_FEW_RUNS:
        say(f"{text} to know the time of {name}")
    else:
        say(f"every time is known to {text} or better; {name} is known least well")
    return width <= precision


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
    minutes = minutes or (DEFAULT_PRECISION_MINUTES if precision else default)
    return TimeBudget(minutes * 60) if minutes else None


def check_same_work(series: Series, submission: Submission, **known: object) -> None:
    """Raise BadInput if the configuration has runs of other work, which no table can pool with new ones.

    The work is what the script's arguments say, and what is `known` besides, such as the number of rows.
    """
    wanted = {
        "configuration": series.configuration,
        **work_of_options(submission.given),
        **_local_dataset(submission),
        **known,
    }
    require_work_of_runs(series.configuration, wanted, series.of_configuration())


def _local_dataset(submission: Submission) -> dict[str, Any]:
    """Return digest and format of a dataset on a file system of this machine; nothing of any other.

    The script itself proves that its files are those of the manifest, and judges a manifest that is damaged.
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


def _make_run(
    series: Series, submission: Submission, number: int, end_by: Mapping[str, str] | None = None
) -> tuple[int, RecordedRun | None]:
    """Make the run of this number, and return its exit code, and the run; None if it recorded nothing.

    `end_by` is the variable that tells it when it has to end; without it its trials take what they need.
    """
    before = series.recorded()
    environment = {SERIES: series.id, PROVEN: proven_content(before), **(end_by or {})}
    # The same as that of a run which this one replaces.
    seed = f"{submission.given.seed or series.id}-{number}"
    arguments = [*submission.arguments, f"--seed={seed}"]
    code = run_script(BENCHMARK, submission.option_words, arguments, environment)
    known = {recorded.run.id for recorded in before}
    made = (each for each in series.recorded() if each.run.id not in known)
    return code, next(made, None)


def _on_nodes(submission: Submission, nodes: int) -> Submission:
    """Return what to submit for runs on `nodes` nodes. Raise BadInput without --executor-cores."""
    given = [value for option, value in submission.options if option == "--executor-cores"]
    cores = positive(given[-1], MAX_CORES) if given else None
    if cores is None:
        raise BadInput(
            "--nodes needs --executor-cores: the cores of a node, so that it has one executor"
        )
    configuration = scaled_name(submission.given.configuration, nodes)
    return Submission(
        [
            *submission.options,
            ("--conf", f"spark.cores.max={cores * nodes}"),
            ("--conf", f"spark.executor.instances={nodes}"),
        ],
        [
            *(argument.replace("{nodes}", str(nodes)) for argument in submission.arguments),
            *(f"--configuration={configuration}", f"--nodes={nodes}"),
        ],
    )
