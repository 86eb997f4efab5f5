"""`clusterlift export`: everything as tables, for other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path

import click

from harness.commands.options import needs_extra, results_option
from harness.model.errors import BadInput
from harness.present import export
from harness.records.lookup import find_runs, probes_beside
from harness.terminal import visible

TYPES = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    datetime: "UTC timestamp",
    Mapping[str, str]: "map of text to text",
}


def _documented() -> str:
    """Every table with its columns, a line each, which click is told not to fill."""
    return "\n\n".join(
        "\n".join(["\b", f"{name}.parquet: a row is {_about(table)}", *_columns(table)])
        for name, table in export.TABLES.items()
    )


def _about(table: type[export.Row]) -> str:
    text = table.__doc__ or ""
    return text[:1].lower() + text[1:].removesuffix(".")


def _columns(table: type[export.Row]) -> list[str]:
    return [
        f"  {column.name}: {', '.join(filter(None, (TYPES[column.type], column.about)))}"
        for column in export.columns(table)
    ]


@click.command("export", epilog=_documented())
@click.argument("names", nargs=-1, required=True, metavar="RUNS...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="DIR",
    help="Where the tables go, such as results.parquet; what is there of the same name is replaced.",
)
@results_option
def export_command(names: Sequence[str], output: Path, results: Path) -> None:
    """Export trials, what was measured of them, and probes as Parquet files.

    RUNS are results files, directories of them, or names of configurations under --results. DuckDB,
    pandas and Spark read the files: select * from 'results.parquet/trials.parquet'.
    """
    with needs_extra("export", "report"):
        import_module("pyarrow")
    runs = list({run.source: run for name in names for run in find_runs(name, results)}.values())
    rows = export.rows(runs, probes_beside(runs))
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, table in export.TABLES.items():
            file = output / f"{name}.parquet"
            export.write(table, rows[name], file)
            click.echo(f"{visible(str(file))}: {len(rows[name]):,} rows")
    except OSError as error:
        raise BadInput(
            f"--output: cannot write to {output}: {error.strerror}; choose another place"
        ) from error
