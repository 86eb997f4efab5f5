"""`clusterlift show`: one run."""

from pathlib import Path

import click

from harness.base.terminal import show
from harness.commands.command import command
from harness.commands.options import results_option
from harness.present import text
from harness.present.run_page import run_page
from harness.records.lookup import find_runs
from harness.records.reader import load
from harness.records.series import is_complete


@command("show")
@click.argument("name", metavar="RUN")
@results_option
def show_command(name: str, results: Path) -> None:
    """Show one run: its environment, its trials and a summary.

    RUN is a results file. For the name of a configuration under --results or a directory of results
    files, the command shows the newest complete run, or the newest one if none is complete.
    """
    runs = find_runs(name, results, samples=None)
    shown = next(filter(is_complete, reversed(runs)), runs[-1])
    others = [recorded for recorded in runs if recorded is not shown]
    if others:
        which = "the newest complete one" if is_complete(shown) else "the newest; none is complete"
        show(f"run {runs.index(shown) + 1} of {len(runs)}, {which}\n\n")
        shown = load(Path(shown.source))
    show(text.render(run_page(shown, others)))
