"""`clusterlift export`: trials and measurements as Parquet files."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path

import click

from harness.commands.command import command
from harness.commands.options import optional_import, results_option
from harness.present import export
from harness.records.lookup import check_no_run_twice, find_runs, probes_beside
from harness.records.outputs import OutputKind, write_directory
from harness.terminal import show
from harness.words import count_of, visible

EXPORT = OutputKind("an export of clusterlift", export.is_export)

_TYPES = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    datetime: "UTC timestamp",
    export.TextMap: "map of text to text",
}


def _columns_help() -> str:
    """Describe every table, with a line for each column."""
    # click does not join the lines of a paragraph that begins with \b.
    return "\n\n".join(
        "\n".join(
            [
                "\b",
                f"{name}.parquet: {table.about[:1].lower()}{table.about[1:].removesuffix('.')}",
                *(
                    f"  {column}: {_TYPES[type_]}, {about}"
                    for column, (type_, about) in table.columns.items()
                ),
            ]
        )
        for name, table in export.TABLES.items()
    )


@command("export", epilog=_columns_help())
@click.argument("names", nargs=-1, required=True, metavar="RUNS...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="DIR",
    help="Directory to write to, such as results.parquet. A former export is replaced as a whole.",
)
@results_option
def export_command(names: Sequence[str], output: Path, results: Path) -> None:
    """Export trials, their metrics and network probes to Parquet files.

    RUNS are names of configurations under --results, directories of results files, or results files.
    DuckDB, pandas and Spark read the tables: select * from 'results.parquet/trials.parquet'.
    """
    with optional_import("export"):
        import_module("pyarrow")
    runs = list({run.source: run for name in names for run in find_runs(name, results)}.values())
    check_no_run_twice(runs)
    rows = export.rows(runs, probes_beside(runs))
    write_directory(output, partial(export.write_tables, rows), EXPORT)
    files = ((output / export.file_name(name), len(rows[name])) for name in export.TABLES)
    show("\n".join(f"{visible(str(file))}: {count_of(count, 'row')}" for file, count in files))
