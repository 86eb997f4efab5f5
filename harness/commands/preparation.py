"""`clusterlift power`, `ready` and `noise`: what prepares a comparison."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.compare.identical_runs import identical_runs
from harness.analysis.compare.power import needed_after, needed_at_noise
from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.analysis.predict.readiness import network_check, readiness
from harness.commands.command import command
from harness.commands.options import as_fraction, results_option
from harness.model.errors import BadInput
from harness.model.finding import Finding
from harness.model.limits import MAX_TRIALS
from harness.option_types import WholeNumber
from harness.present import identical_runs as noise_page
from harness.present import power as power_page
from harness.present import readiness as ready_page
from harness.probes.kinds import newest_probes
from harness.records.lookup import probes_beside
from harness.runtime.warm_up import DEFAULT_TRIALS
from harness.statistics.mixed_model import PRIOR_RUN_SD
from harness.statistics.power import POWER
from harness.terminal import show

DEFAULT_WORKLOADS = 9


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
    help=f"Without RUNS: measured trials of each workload in a run.  [default: {DEFAULT_TRIALS}]",
)
@click.option(
    "--workloads",
    type=WholeNumber(1, 1000),
    help="Without RUNS: workloads in the table. A table of more workloads needs more runs.  "
    f"[default: {DEFAULT_WORKLOADS}]",
)
@click.option(
    "--configurations",
    type=WholeNumber(1, 1000),
    help="Configurations in the table, without the baseline.  [default: 1, or those of RUNS that took turns]",
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
    trials: int | None,
    workloads: int | None,
    configurations: int | None,
    power: float,
    results: Path,
    *,
    turns: bool,
) -> None:
    """Compute how many runs, of how many trials, are needed to detect a change.

    RUNS are earlier runs of the baseline: the name of a configuration under --results, a directory of
    results files, or a results file. They show how much trials and runs differ and what they cost. If
    configurations took turns in an experiment, name all of them. Without RUNS, name the noise. The
    significance level is 5 % for the whole table: if nothing changed, at most one table in twenty shows a
    change.
    """
    if names:
        if turns or any(given is not None for given in (noise, between, trials, workloads)):
            raise BadInput(
                "--noise, --between, --trials, --workloads and --turns have no effect beside RUNS, "
                "which show all of it"
            )
        if len(names) > 1 and configurations is not None:
            raise BadInput("--configurations has no effect beside several RUNS, which show it")
        columns = [find_configuration(name, results) for name in names]
        needed = needed_after(columns, change, configurations or 1, power)
    else:
        if noise is None:
            raise BadInput("power needs RUNS of the baseline, or --noise")
        needed = needed_at_noise(
            change=change,
            noise=noise,
            between=PRIOR_RUN_SD if between is None else between,
            trials=trials or DEFAULT_TRIALS,
            workloads=workloads or DEFAULT_WORKLOADS,
            configurations=configurations or 1,
            power=power,
            in_turns=turns,
        )
    show(power_page.render(needed))


@command("ready")
@click.argument("configurations", nargs=-1, required=True, metavar="RUNS...")
@click.option(
    "--allow-no-probes",
    is_flag=True,
    help="Accept a baseline whose network no probe measured. Where there are probes, their faults, and "
    "files that cannot be read, still count.",
)
@results_option
def ready_command(configurations: Sequence[str], results: Path, *, allow_no_probes: bool) -> int:
    """Check that a baseline has all that a comparison needs.

    Run this before the upgrade. RUNS are names of configurations under --results, directories of
    results files, or results files. The command also computes the smallest change of each workload
    that a comparison will detect. The exit code is 1 if something is missing that cannot be measured
    after the upgrade.
    """
    columns = [find_configuration(name, results) for name in configurations]
    checked = [
        readiness(column, network_check(column, _findings(column), allow_no_probes=allow_no_probes))
        for column in columns
    ]
    show("\n".join(map(ready_page.render, checked)))
    return int(any(baseline.missing for baseline in checked))


def _findings(column: ConfigurationRuns) -> list[Finding] | str | None:
    """Return what the newest probes found, as the gate says it; why they cannot be read; None without one."""
    try:
        newest = newest_probes(probes_beside(column.runs))
    except BadInput as error:
        return str(error)
    return [finding for probe in newest for finding in probe.findings] if newest else None


@command("noise")
@click.argument("configuration", metavar="RUNS")
@results_option
def noise_command(configuration: str, results: Path) -> None:
    """Compare identical runs with each other (an A/A test).

    RUNS are repetitions of one configuration: its name under --results, or a directory of results files.
    The command shows how much trials and runs vary, and how often comparisons of equal runs would claim a
    change that is not there. Make six runs or more for this, such as those of `make aa RUNS=12`.
    """
    show(noise_page.render(identical_runs(find_configuration(configuration, results))))
