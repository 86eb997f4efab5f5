"""`clusterlift power`: how many runs and trials a comparison needs."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.compare.power import needed_after, needed_at_noise
from harness.analysis.observed.configuration import find_configuration
from harness.commands.command import command
from harness.commands.options import as_fraction, results_option
from harness.model.errors import BadInput
from harness.model.limits import MAX_TRIALS
from harness.option_types import WholeNumber
from harness.present.power import render
from harness.statistics.mixed_model import PRIOR_RUN_SD
from harness.statistics.power import POWER
from harness.terminal import show


@command("power")
@click.argument("names", nargs=-1, metavar="[RUNS]...")
@click.option(
    "--change",
    callback=as_fraction,
    required=True,
    metavar="PERCENT",
    help="Smallest change to detect, such as 5%.",
)
@click.option(
    "--noise",
    callback=as_fraction,
    metavar="PERCENT",
    help="Without RUNS: relative standard deviation of repeated trials of a run.",
)
@click.option(
    "--between",
    callback=as_fraction,
    metavar="PERCENT",
    help="Without RUNS: relative standard deviation between runs, however many trials they have. "
    f"[default: {PRIOR_RUN_SD:.0%}]",
)
@click.option(
    "--trials",
    type=WholeNumber(1, MAX_TRIALS),
    default=6,
    show_default=True,
    help="Without RUNS: measured trials of each workload in a run.",
)
@click.option(
    "--workloads",
    type=WholeNumber(1, 1000),
    default=9,
    show_default=True,
    help="Without RUNS: workloads in the table. A table of more workloads needs more runs.",
)
@click.option(
    "--configurations",
    type=WholeNumber(1, 1000),
    default=1,
    show_default=True,
    help="Configurations in the table, without the baseline.",
)
@click.option(
    "--turns",
    is_flag=True,
    help="Without RUNS: all configurations take turns in each application, and --between is how much runs "
    "differ besides what an application does to all of them.",
)
@click.option(
    "--power",
    callback=as_fraction,
    default=f"{POWER:.0%}",
    show_default=True,
    metavar="PERCENT",
    help="Probability of detecting the change.",
)
@results_option
def power_command(
    names: Sequence[str],
    change: float,
    noise: float | None,
    between: float | None,
    trials: int,
    workloads: int,
    configurations: int,
    power: float,
    results: Path,
    *,
    turns: bool,
) -> None:
    """Compute how many runs, of how many trials, are needed to detect a change.

    RUNS are earlier runs of the baseline: the name of a configuration under --results, a directory of
    results files, or a results file. They show how much trials and runs differ and what they cost. If
    configurations took turns in an experiment, name all of them. Without RUNS, name the noise. The
    significance level is 5% for the whole table: if nothing changed, at most one table in twenty shows a
    change.
    """
    if names:
        if noise is not None or between is not None or turns:
            raise BadInput(
                "--noise, --between and --turns have no effect beside RUNS, which show all of it"
            )
        columns = [find_configuration(name, results) for name in names]
        needed = needed_after(columns, change, configurations, power)
    else:
        if noise is None:
            raise BadInput("power needs RUNS of the baseline, or --noise")
        needed = needed_at_noise(
            change=change,
            noise=noise,
            between=PRIOR_RUN_SD if between is None else between,
            trials=trials,
            workloads=workloads,
            configurations=configurations,
            power=power,
            in_turns=turns,
        )
    show(render(needed))
