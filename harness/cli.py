"""`clusterlift`: read, compare and import results. Errors are one line and exit 2."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from harness import __version__
from harness.analysis.comparison import Comparison, compare
from harness.analysis.lookup import find_column, find_run
from harness.analysis.original import read_original
from harness.errors import BadInput, ClusterliftError
from harness.lab.commands import lab
from harness.loopback import commands as loopback
from harness.model import Ending
from harness.present import comma_separated, json_object, layout, markdown, run, text
from harness.present.escape import visible
from harness.record.facts import parse_facts
from harness.record.store import Recording, new_run_id, timestamp
from harness.spark_submit import spark_submit

FORMATS: dict[str, Callable[[Comparison], str]] = {
    "text": text.render,
    "markdown": markdown.render,
    "csv": comma_separated.render,
    "json": json_object.render,
}

results_option = click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    metavar="DIR",
    help="Where runs are kept, a directory for each configuration.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def clusterlift() -> None:
    """Tell what a network or storage upgrade buys a Spark cluster."""


clusterlift.add_command(loopback.hdfs)
clusterlift.add_command(loopback.qfs)
clusterlift.add_command(lab)


@clusterlift.command("compare")
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


@clusterlift.command("show")
@click.argument("name", metavar="RUN")
@results_option
def show_command(name: str, results: Path) -> None:
    """Show one run: its circumstances, trials, summary.

    RUN is a results file; or a directory of them or the name of a configuration under --results,
    which stand for their newest run.
    """
    click.echo(run.render(find_run(name, results)), nl=False)


@clusterlift.command("import")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.csv")
@click.option(
    "--configuration", required=True, metavar="NAME", help="What the times were measured on."
)
@results_option
@click.option(
    "--fact",
    "facts",
    multiple=True,
    metavar="KEY=VALUE",
    help="Something to know about the configuration; repeatable. None by default.",
)
def import_command(file: Path, configuration: str, results: Path, facts: Sequence[str]) -> None:
    """Import results of the original pyspark-benchmark.

    FILE.csv has the columns test,seconds; the directory of part files that the original's -o
    leaves behind will do as well. The path of the new results file is printed.
    """
    if not configuration.strip():
        raise BadInput("--configuration is empty; give the set-up's name, for example 1g-rs")
    imported, trials = read_original(
        file, new_run_id(), configuration, timestamp(), parse_facts(facts)
    )
    with Recording(results, imported) as recording:
        for trial in trials:
            recording.trial(trial)
        recording.end(Ending.COMPLETED)
    click.echo(visible(str(recording.path)))


@clusterlift.command("layout")
@click.argument("uri", metavar="URI")
@click.option(
    "--properties-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Properties for spark-submit; QFS needs some.  [default: Spark's own]",
)
def layout_command(uri: str, properties_file: str | None) -> int:
    """Say how every file at URI really lies, on which nodes, and in how many bytes.

    Needs Spark. The exit code is 1 if a file is not as the dataset's manifest says, or lacks a part;
    without a manifest, if the files differ among themselves.
    """
    properties = ["--properties-file", properties_file] if properties_file else []
    options = ["--master", "local[1]", *properties]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "observed.json"
        spark_submit("datagen/observe.py", uri, "--output", str(file), options=options)
        observed = json.loads(file.read_text())
    click.echo(layout.render(observed), nl=False)
    return int(bool(observed["problem"] or observed["invalid"]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (the process's own by default) and return its exit code."""
    _never_fail_to_print()
    try:
        code: int | None = clusterlift.main(
            arguments, prog_name="clusterlift", standalone_mode=False
        )
    except ClusterliftError as error:
        return _complain(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        return _complain(error.format_message(), error.exit_code)
    except click.Abort:
        return _complain("interrupted", 130)
    return code or 0


def _complain(message: str, exit_code: int) -> int:
    click.echo(f"clusterlift: error: {visible(message)}", err=True)
    return exit_code


def _never_fail_to_print() -> None:
    """A terminal that has no `±` shows an escape in its place."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
