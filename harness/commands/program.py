"""`clusterlift program`: programs of MPI as workloads, on hosts that probes reach."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from harness.analysis.compare.comparison import overview
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.base.errors import BadInput
from harness.base.option_types import RealNumber, WholeNumber, converted
from harness.base.option_values import parse_facts
from harness.base.terminal import say, show
from harness.base.words import count_of, visible
from harness.commands.command import Command, command, group
from harness.commands.options import configuration_option, fact_option, results_option
from harness.commands.site import on_site
from harness.experiments.making import Made, Make, make_runs
from harness.experiments.run_plan import RunPlan
from harness.model.limits import MAX_PER_HOST, MAX_RUNS, MAX_TRIALS
from harness.model.run import Ending, Status
from harness.model.scaling import parse_nodes
from harness.present import text
from harness.present.comparison_table import comparison_table
from harness.probes.options import NamedHosts, integer_option, time_option
from harness.programs.mpi import RDMA, TCP, Placement
from harness.programs.planned_program import ProgramRun, on_first_hosts, ready_hosts, series_of
from harness.programs.program import Program, ProgramOption, programs
from harness.programs.program_run import run_program
from harness.records.series import Series, locked_series


@group("program")
def program_group() -> None:
    """Run programs of MPI as workloads: HPC Challenge with HPL, and PHOLD."""


_OPTIONS = (
    configuration_option(
        'Name of the configuration under test; with --nodes, "-n1", "-n2", ... are appended.',
        required=True,
    ),
    results_option,
    click.option(
        "--nodes",
        callback=converted(parse_nodes),
        metavar="N,N,...",
        help="Run on the first N of the hosts, for each N.  [default: on all]",
    ),
    click.option(
        "--growing", is_flag=True, help="The size given is per host (weak scaling), not the total."
    ),
    integer_option(
        "--per-host",
        WholeNumber(1, MAX_PER_HOST),
        1,
        "Processes on each host; usually its number of cores.",
    ),
    click.option(
        "--network",
        type=click.Choice([TCP, RDMA]),
        default=TCP,
        show_default=True,
        help="How processes on different hosts exchange messages.",
    ),
    integer_option(
        "--runs", WholeNumber(1, MAX_RUNS), 3, "Number of complete runs to have at the end."
    ),
    integer_option("--trials", WholeNumber(1, MAX_TRIALS), 3, "Trials of a run that count."),
    integer_option(
        "--warmup", WholeNumber(0, MAX_TRIALS), 1, "Trials before them, which do not count."
    ),
    time_option(
        "--timeout",
        "timeout",
        "10min",
        "A trial that takes longer is stopped, and counts as failed.",
    ),
    fact_option,
)

_PEAK = click.option(
    "--peak",
    type=RealNumber(min=0, min_open=True, max=1e9),
    metavar="GFLOPS",
    help="Peak performance of one host in Gflop/s, by its data sheet: HPL's efficiency is a share of it.",
)
"""For programs whose hosts have a peak."""


def _subcommand(program: type[Program]) -> Command:
    """Return the command of a program, with its own options first, then the common ones."""

    def run(site: NamedHosts, **values: Any) -> int:
        own = {option.name: values.pop(option.name) for option in program.options}
        return _run(program(**own), site, **values)

    run.__doc__ = program.about
    decorated = on_site(run)
    options = [_option(each) for each in program.options]
    options += _OPTIONS
    if program.has_peak:
        options.append(_PEAK)
    for option in reversed(options):
        decorated = option(decorated)
    return command(program.name)(decorated)


def _option(option: ProgramOption) -> Callable[..., Any]:
    return click.option(
        f"--{option.name}",
        default=option.default,
        show_default=True,
        callback=converted(option.parse),
        metavar="VALUE",
        help=option.help,
    )


def _run(
    program: Program,
    site: NamedHosts,
    *,
    configuration: str,
    results: Path,
    nodes: tuple[int, ...] | None,
    growing: bool,
    per_host: int,
    network: str,
    runs: int,
    trials: int,
    warmup: int,
    timeout: float,
    facts: Sequence[str],
    peak: float | None = None,
) -> int:
    declared = parse_facts(facts)
    hosts = ready_hosts(program, site.hosts(), network)
    if nodes and nodes[-1] > len(hosts):
        raise BadInput(f"--nodes {nodes[-1]} is more than the {count_of(len(hosts), 'host')} given")
    planned = ProgramRun(
        program,
        Placement(hosts, per_host),
        configuration,
        growing=growing,
        trials=trials,
        warmup=warmup,
        timeout_s=timeout,
        host_peak=peak and peak * 1e9,
        network=network,
        facts={**site.facts, **declared},
    )
    every = on_first_hosts(planned, nodes) if nodes else [planned]
    makers = {}
    for each in every:
        series = series_of(each, results)
        makers[series] = program_runs(series, each)
    with locked_series(makers):
        try:
            return make_runs(makers, runs)
        finally:  # whatever ended them
            for series in makers:
                _show_table(series)


def program_runs(series: Series, planned: ProgramRun) -> Make:
    """Return what makes the runs of a series."""

    def make(_number: int, _limits: Mapping[str, str], _plan: RunPlan | None) -> Made:
        recorded = run_program(planned, series.results, series.id)
        if recorded.ending is Ending.INTERRUPTED:
            say("the same command continues")
            raise KeyboardInterrupt
        has_failed = any(trial.status is Status.FAILED for trial in recorded.trials)
        return Made(int(has_failed), recorded)

    return make


def _show_table(series: Series) -> None:
    recorded = series.recorded()
    if recorded:
        runs = ConfigurationRuns(series.configuration, tuple(recorded))
        show(text.render([comparison_table(overview(runs))]))
        show("\n".join(visible(each.source) for each in recorded))


for _program in programs().values():
    program_group.add_command(_subcommand(_program))
