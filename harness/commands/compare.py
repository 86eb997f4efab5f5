"""`clusterlift compare`: configurations held against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from harness.analysis.comparison import MIN_CONFIGURATIONS, Comparison, compare
from harness.analysis.configuration import find_configuration
from harness.analysis.probe_comparison import compare_probes
from harness.commands.options import results_option
from harness.model.errors import BadInput
from harness.present import csv_text, json_text, markdown, text
from harness.present.probe_comparison import probe_table
from harness.present.table import Table
from harness.records.lookup import find_probes

FORMATS: dict[str, Callable[[Comparison], str]] = {
    "text": text.render,
    "markdown": markdown.render,
    "csv": csv_text.render,
    "json": json_text.render,
}
TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    "text": text.render_table,
    "markdown": markdown.render_table,
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
@click.option(
    "--adjust",
    type=click.Choice(["controls"]),
    help="Show changes beyond those of the controls, which no network or storage can move.",
)
@click.option(
    "--strict", is_flag=True, help="Refuse configurations that differ in more than is compared."
)
@click.option(
    "--allow-different-data", is_flag=True, help="Compare runs on datasets of different content."
)
@click.option(
    "--probes", is_flag=True, help="Compare what was probed of the network, not the workloads."
)
@results_option
def compare_command(
    configurations: Sequence[str],
    format_: str,
    adjust: str | None,
    results: Path,
    *,
    strict: bool,
    allow_different_data: bool,
    probes: bool,
) -> None:
    """Compare configurations with the first of them.

    Each is a results file, a directory of one configuration's results files (their trials are
    pooled), or the name of a configuration under --results.
    """
    if probes:
        click.echo(_probes(configurations, results, format_), nl=False)
        return
    comparison = compare(
        [find_configuration(name, results) for name in configurations],
        relative_to_controls=adjust == "controls",
        allow_different_data=allow_different_data,
        strict=strict,
    )
    click.echo(FORMATS[format_](comparison), nl=False)


def _probes(configurations: Sequence[str], results: Path, format_: str) -> str:
    if format_ not in TABLE_FORMATS:
        raise BadInput(
            f"--probes prints {' or '.join(TABLE_FORMATS)}; `clusterlift export` writes all there is"
        )
    if len(configurations) < MIN_CONFIGURATIONS:
        raise BadInput("compare needs two configurations or more: BEFORE AFTER [MORE...]")
    measured = {
        name: [one for probed in find_probes(name, results) for one in probed.measurements]
        for name in configurations
    }
    tables = compare_probes(measured)
    if not tables:
        raise BadInput(f"nothing was measured in {', '.join(configurations)}")
    return "\n".join(TABLE_FORMATS[format_](probe_table(table)) for table in tables)
