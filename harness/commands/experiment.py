"""`clusterlift experiment`: configurations in turns, in the lab or on hosts of the user's own."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click

from harness.analysis.compare.comparability import MIN_CONFIGURATIONS
from harness.analysis.compare.comparison import compare
from harness.analysis.compare.scaling import find_family, scaling
from harness.analysis.observed.configuration import find_configuration
from harness.base.errors import BadInput, ClusterliftError
from harness.base.interrupt import interruptible
from harness.base.option_types import converted
from harness.base.option_values import parse_directory
from harness.base.terminal import show
from harness.base.words import count_of, visible
from harness.commands.command import command
from harness.commands.options import spark_lines_option
from harness.experiments.done import ExperimentOutcome
from harness.experiments.experiment import Experiment
from harness.experiments.experiment_file import read_experiment
from harness.experiments.lab_site import LabSite
from harness.experiments.runs import describe_data, put_back_all, results_of, run_experiment
from harness.experiments.schedule import planned_runs
from harness.experiments.site import Site
from harness.model.scaling import split_scaled_name
from harness.present import markdown, text
from harness.present.blocks import Document
from harness.present.comparison_table import comparison_table
from harness.present.scaling_page import scaling_page
from harness.records.directories import configuration_directory
from harness.records.outputs import OutputKind, write_file
from harness.settings.guard import LEASE_S
from harness.settings.in_force import NotPutBack


@command("experiment")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@click.option(
    "--results",
    type=click.Path(),
    callback=converted(parse_directory),
    metavar="DIR",
    help="Write results to DIR/NAME, where NAME is the experiment's name in its file. For an experiment in "
    "the lab, set the environment variable RESULTS to DIR instead.  [default: results]",
)
@spark_lines_option
@click.option("--dry-run", is_flag=True, help="Show what would be set on which host; set nothing.")
@click.option(
    "--revert",
    is_flag=True,
    help="Put back what a killed experiment left on its hosts; run nothing.",
)
def experiment_command(
    file: Path, results: Path | None, *, spark_lines: bool, dry_run: bool, revert: bool
) -> int:
    """Run the experiment that FILE.toml defines, and compare its configurations.

    The configurations take turns in a random order, and back: B A C, then C A B. Settings on the hosts are
    verified, and put back after each turn. A host that has lost contact with this command for 20 s puts them
    back by itself. If the file has no [site], the command starts the lab and runs the experiment there. The
    same command resumes an interrupted experiment.
    """
    if dry_run and revert:
        raise BadInput("use --dry-run or --revert, not both")
    experiment = read_experiment(file)
    if len(experiment.configurations) < MIN_CONFIGURATIONS:
        raise BadInput(f"{file}: an experiment needs two tables or more: [configurations.NAME]")
    site = site_of(experiment, results)
    site.shows_usual_lines = spark_lines
    with interruptible(once=True):
        if dry_run:
            show("\n".join(map(visible, _plan_lines(experiment, site))))
            return 0
        if revert:
            lines = put_back_all(experiment, site)
            show("\n".join(lines) or "nothing is left to put back")
            return 0
        outcome = run_to_the_end(experiment, site, file)
    directory = results_of(experiment, site)
    if len(outcome.measured) >= MIN_CONFIGURATIONS:
        # By its directory: where the command runs, another one may have the configuration's name.
        places = [configuration_directory(directory, name) for name in outcome.measured]
        columns = [find_configuration(str(place), directory, samples=False) for place in places]
        try:
            comparison = compare(columns)
        except BadInput as error:
            raise BadInput(f"{error}; the results are in --results {directory}") from error
        tables = [comparison_table(comparison)]
        # This is also shown if the file cannot be written.
        show(f"{text.render(_scaling_page(experiment, directory) or tables)}\n")
        table = directory / "comparison.md"
        page = markdown.render(tables).encode(errors="backslashreplace")
        write_file(
            table, page, OutputKind("a table of clusterlift", markdown.is_table, "--results")
        )
        show(visible(f"results: {directory}, table: {table}"))
    if outcome.undone:
        raise ClusterliftError(
            f"not done: {'; '.join(map(str, outcome.undone))}: the reasons are above; the same command "
            "tries again"
        )
    return int(outcome.failed)


def run_to_the_end(experiment: Experiment, site: Site, file: Path) -> ExperimentOutcome:
    """Run an experiment. Raises ClusterliftError, which says how to mend it, if a setting is left."""
    try:
        return run_experiment(experiment, site)
    except NotPutBack as error:
        raise ClusterliftError(
            f"{error}; try again: clusterlift experiment --revert {file}"
        ) from error


def _scaling_page(experiment: Experiment, results: Path) -> Document | None:
    """Return how performance grows; None without results on several numbers of nodes."""
    families: dict[str, None] = {}
    for each in experiment.configurations:
        split = split_scaled_name(each.name)
        if split and each.nodes:
            families[split[0]] = None
    with suppress(BadInput):
        found = scaling({name: find_family(name, results) for name in families})
        return scaling_page(found)
    return None


def site_of(experiment: Experiment, results: Path | None) -> Site:
    if experiment.site is not None:
        return Site(experiment.site, experiment.name, results or Path("results"))
    if results is not None:
        raise BadInput(
            "--results: leave it out, and set the environment variable RESULTS before the lab starts: its "
            "containers mount the directory for results when they start"
        )
    return LabSite(experiment.lab, experiment.name)


def _plan_lines(experiment: Experiment, site: Site) -> Iterator[str]:
    """Yield what the experiment would do."""
    yield f"{experiment.name}: {experiment.site or experiment.lab}"
    for data in experiment.datasets:
        yield f"data {describe_data(data)}"
    runs = list(planned_runs(experiment))
    yield f"{count_of(len(runs), 'run')}: {'; '.join(map(str, runs))}"
    for configuration in experiment.configurations:
        yield ""
        yield f"{configuration.name}:"
        for line in site.planned(configuration):
            yield f"  {line}"
    yield ""
    yield f"a host that hears nothing for {LEASE_S} s puts everything back by itself"
