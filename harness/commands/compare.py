"""`clusterlift compare`: a table of configurations."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from harness.analysis.compare.comparison import Comparison, compare, require_several
from harness.analysis.observed.configuration import find_configuration
from harness.commands.command import command
from harness.commands.options import adjust_option, different_data_option, results_option
from harness.model.errors import BadInput
from harness.present import data_formats, markdown, text
from harness.present.table import Table
from harness.records.directories import PREDICTIONS
from harness.records.lookup import check_no_run_twice, find_probes, last_run_before
from harness.terminal import say, show

FORMATS: dict[str, Callable[[Comparison], str]] = {
    "text": text.render,
    "markdown": markdown.render,
    "csv": data_formats.as_csv,
    "json": data_formats.as_json,
}
PROBE_FORMATS: dict[str, Callable[[Table], str]] = {
    "text": text.render_table,
    "markdown": markdown.render_table,
}


@command("compare")
@click.argument("configurations", nargs=-1, metavar="[BEFORE] AFTER [MORE...]")
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Format of the table. CSV and JSON have all digits; times are in seconds.",
)
@adjust_option
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse configurations that differ in more than the change under test.",
)
@different_data_option
@click.option(
    "--probes", is_flag=True, help="Compare the probes of the network instead of the workloads."
)
@click.option(
    "--earlier",
    is_flag=True,
    help="Give only AFTER. It is compared with the configuration that was measured most recently "
    "before it, on the same machine and data. Nothing is printed if there is none.",
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
    earlier: bool,
) -> None:
    """Compare the times of workloads in two or more configurations.

    BEFORE is the baseline. Each argument is the name of a configuration under --results, a directory
    of results files of one configuration, or a results file. Runs of a
    configuration are repetitions: how much they differ decides what a change means.
    """
    if probes:
        if format_ not in PROBE_FORMATS:
            raise BadInput(
                f"--probes supports the formats {' and '.join(PROBE_FORMATS)} only; "
                "`clusterlift export` writes every measurement to a Parquet file"
            )
        if adjust or strict or allow_different_data:
            raise BadInput(
                "--probes compares no workloads: leave out --adjust, --strict and --allow-different-data"
            )
        table = partial(_probe_tables, results=results, format_=format_)
    else:
        table = partial(
            _table,
            results=results,
            format_=format_,
            relative_to_controls=adjust == "controls",
            allow_different_data=allow_different_data,
            strict=strict,
        )
    if not earlier:
        show(table(configurations))
    elif len(configurations) != 1:
        raise BadInput("--earlier needs one configuration: AFTER")
    else:
        show_with_earlier(configurations[0], results, table)


def show_with_earlier(
    after: str, results: Path, table: Callable[[Sequence[str]], str] | None = None
) -> bool:
    """Show a configuration beside the one measured before it, and return whether there is a table.

    If the two cannot be compared, say why.
    """
    earlier = last_run_before(after, results)
    if earlier is None:
        return False
    before = earlier.run.configuration
    try:
        if table is None:
            shown = _table([str(Path(earlier.source).parent), after], results)
        else:
            shown = table([before, after])
    except BadInput as error:
        say(f"{before!r} was measured before {after!r}, but they cannot be compared: {error}")
        return False
    show(shown)
    return True


def _table(configurations: Sequence[str], results: Path, format_: str = "text", **how: bool) -> str:
    columns = [find_configuration(name, results) for name in configurations]
    comparison = compare(columns, **how)
    table = FORMATS[format_](comparison)
    has_predictions = (Path(columns[0].runs[0].source).parent / PREDICTIONS).is_dir()
    if format_ not in PROBE_FORMATS or not has_predictions:  # other formats are for programs
        return table
    # Most configurations have none, and prediction is a quarter of what there is to import.
    from harness.commands.predict import scores_of  # noqa: PLC0415
    from harness.present.prediction import outcome_text  # noqa: PLC0415

    texts = map(outcome_text, scores_of(comparison.columns))
    return "\n".join([table, *(f"{text.fill(each)}\n" for each in texts)])


def _probe_tables(configurations: Sequence[str], results: Path, format_: str) -> str:
    # A table of workloads does not need them.
    from harness.analysis.compare.probe_comparison import compare_probes  # noqa: PLC0415
    from harness.present.probe_table import probe_table  # noqa: PLC0415

    require_several(configurations)
    found = [find_probes(name, results) for name in configurations]
    check_no_run_twice(probed for probes in found for probed in probes)
    measurements = {
        name: [probed.measurements for probed in probes]
        for name, probes in zip(configurations, found, strict=True)
    }
    tables = compare_probes(measurements)
    if not tables:
        raise BadInput(
            f"the probes of {', '.join(configurations)} have no measurements; "
            "run `clusterlift probe all` again"
        )
    return "\n".join(PROBE_FORMATS[format_](probe_table(table)) for table in tables)
