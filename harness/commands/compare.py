"""`clusterlift compare`: configurations held against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from harness.analysis.comparison import Comparison, compare
from harness.analysis.lookup import find_column
from harness.commands.options import results_option
from harness.present import comma_separated, json_object, markdown, text

FORMATS: dict[str, Callable[[Comparison], str]] = {
    "text": text.render,
    "markdown": markdown.render,
    "csv": comma_separated.render,
    "json": json_object.render,
}


@click.command("compare")
@click.argument("configurations", nargs=-1, metavar="BEFORE AFTER [MORE...]")
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How to print the table; times are in seconds.",
)
@results_option
def compare_command(configurations: Sequence[str], format_: str, results: Path) -> None:
    """Compare configurations with the first of them.

    Each is a results file, a directory of one configuration's results files (their trials are
    pooled), or the name of a configuration under --results.
    """
    columns = [find_column(name, results) for name in configurations]
    click.echo(FORMATS[format_](compare(columns)), nl=False)
