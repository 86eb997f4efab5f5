"""`clusterlift run`: several runs of jobs/benchmark.py with the same arguments."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from harness.commands.command import command
from harness.commands.options import converted
from harness.commands.own_machine import warn_of_faults
from harness.commands.submission import Submission, run_script
from harness.local_spark import BENCHMARK
from harness.model.errors import BadInput, ClusterliftError
from harness.model.limits import MAX_RUNS, MIN_RUNS
from harness.model.scaling import parse_nodes, scaled_name
from harness.node.kernel import positive
from harness.option_types import RealNumber, WholeNumber
from harness.records.series import Series, is_complete, missing_runs, require_same_work
from harness.runtime.clock import duration_text
from harness.runtime.option_values import parse_fraction
from harness.runtime.series import SERIES
from harness.runtime.time_budget import END_BY, TimeBudget
from harness.runtime.warm_up import AUTO
from harness.terminal import say, show
from harness.words import count_of, percent

MAX_CORES = 10**6
DEFAULT_RUNS = 3
MAX_MINUTES = 7 * 24 * 60
DEFAULT_PRECISION_MINUTES = 60.0

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
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF THE SCRIPT]...")
def run_command(
    runs: int | None,
    minutes: float | None,
    precision: str | None,
    nodes: tuple[int, ...] | None,
    words: Sequence[str],
) -> int:
    """Run jobs/benchmark.py several times, each time as an application of its own.

    Options of spark-submit, such as --master and --conf, are passed on to it; all others to the script,
    whose own --help lists them. The same command continues where it was interrupted or killed: a run
    with the same arguments counts if it is complete and at least one of its trials did not fail. The exit
    code is 1 if a trial failed.
    """
    wanted, submission = own_precision(precision, Submission.of(words))
    given = [_on_nodes(submission, number) for number in nodes or ()] or [submission]
    submissions = {one.series: one for one in given}
    for series, one in submissions.items():
        check_same_work(series, one)
    if minutes is None and wanted is None:
        return make_runs(submissions, runs or DEFAULT_RUNS)
    return make_runs_within(submissions, budget_of(runs, minutes, wanted), wanted)


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
    for submission in submissions.values():
        check_time_decides(submission)
    warn_of_faults()
    every, codes = list(submissions), [0]
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
            left_s = max(budget.left_s, budget.expected_s(MIN_RUNS - complete))
            over = f"the time is over, but a table needs {MIN_RUNS} runs"
            say(
                f"{series.configuration}, run {number} of about "
                f"{complete + budget.turns_left(complete)}; "
                + (f"{duration_text(left_s)} left" if left_s else over)
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
    from harness.analysis.compare.outlook import least_precise  # noqa: PLC0415
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


def own_precision(text: str | None, submission: Submission) -> tuple[float | None, Submission]:
    """Return the precision of runs, and what to submit: with --trials auto, it is the script's."""
    if text is None:
        return None, submission
    if submission.given.trials == AUTO:
        return None, replace(submission, arguments=[*submission.arguments, "--precision", text])
    try:
        return parse_fraction(text), submission
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


def check_time_decides(submission: Submission) -> None:
    """Raise BadInput if the script's arguments fix the number of rounds, so that no time can limit them."""
    if AUTO not in {submission.given.trials, submission.given.warmup}:
        raise BadInput(
            "--warmup and --trials fix the number of rounds, which no time can limit then: give --runs N, or "
            "--warmup auto or --trials auto"
        )


def check_same_work(series: Series, submission: Submission, **known: object) -> None:
    """Raise BadInput if the configuration has runs of other work, which no table can pool with new ones.

    The work is what the script's arguments say, and what is `known` besides, such as the number of rows.
    """
    given = submission.given
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
    series: Series, submission: Submission, end_by: Mapping[str, str] | None = None
) -> tuple[int, bool]:
    """Return the exit code of a run, and whether it recorded anything.

    `end_by` is the variable that tells it when it has to end; without it its trials take what they need.
    """
    before = len(series.recorded())
    environment = {SERIES: series.id, **(end_by or {})}
    code = run_script(BENCHMARK, submission.options, submission.arguments, environment)
    return code, len(series.recorded()) > before


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
