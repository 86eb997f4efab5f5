"""`clusterlift score`: predictions compared with what was measured later."""

from collections.abc import Iterator
from pathlib import Path

import click

from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.analysis.predict.outcomes import all_scores, score_of
from harness.commands.command import command
from harness.commands.options import results_option
from harness.model.errors import BadInput
from harness.present.prediction import render_score, render_scores
from harness.records.directories import PROBES, results_files
from harness.terminal import say, show


@command("score")
@click.argument("configurations", nargs=-1, metavar="[BASELINE AFTER]")
@click.option(
    "--prediction",
    "id_",
    metavar="ID",
    help="Which prediction of BASELINE: its ID, or the beginning of it. [default: for the link and layout of "
    "AFTER, the latest that was made before the first run of AFTER began; if there is none, the latest of "
    "all, which is then void]",
)
@click.option(
    "--all",
    "all_",
    is_flag=True,
    help="Instead of BASELINE AFTER: score every prediction under --results against the configuration that "
    "has its link and layout, and all of them together.",
)
@results_option
def score_command(
    configurations: tuple[str, ...],
    id_: str | None,
    results: Path,
    *,
    all_: bool,
) -> None:
    """Compare a prediction for BASELINE with AFTER, which was measured after the upgrade.

    BASELINE and AFTER are names of configurations under --results, or directories of results files.
    """
    if all_:
        if configurations or id_:
            raise BadInput("--all scores every prediction under --results: leave out all else")
        show(render_scores(list(all_scores(list(_all(results))))))
        return
    if len(configurations) != 2:  # noqa: PLR2004  as the usage says
        raise BadInput("score needs two configurations, BASELINE AFTER, or --all")
    before, after = (find_configuration(name, results) for name in configurations)
    show(render_score(*score_of(before, after, id_)))


def _all(results: Path) -> Iterator[ConfigurationRuns]:
    """Yield every configuration in a directory or below; say which cannot be read."""
    if not results.is_dir():
        raise BadInput(f"--results: {results} is not a directory; name that of the results")
    for directory in sorted(path for path in (results, *results.rglob("*")) if results_files(path)):
        if directory.name == PROBES and directory.parent != results:
            continue  # what was probed in the configuration whose directory this is in
        try:
            yield find_configuration(str(directory), results)
        except BadInput as error:
            say(f"{directory} is left out: {error}")
