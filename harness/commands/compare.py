"""`clusterlift compare`: a table of configurations; `clusterlift scaling`: one of numbers of nodes."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.compare.comparability import require_several
from harness.analysis.compare.comparison import compare
from harness.analysis.compare.important_rows import MAX_ROWS
from harness.analysis.compare.scaling import find_family, scaling
from harness.analysis.ready.limits import LimitFinding, exit_code, limit_findings
from harness.base.errors import BadInput
from harness.base.terminal import show
from harness.commands.command import command
from harness.commands.log_options import NamedSides, log_options
from harness.commands.options import (
    adjust_option,
    as_fraction,
    different_answers_option,
    different_data_option,
    results_option,
)
from harness.present import comparison_json, markdown, text
from harness.present.blocks import Sentences
from harness.present.change_table import ChangeTable
from harness.present.comparison_table import comparison_table
from harness.present.findings import finding_lines
from harness.present.scaling_page import scaling_page
from harness.records.lookup import check_no_run_twice, find_probes

FORMATS = {"text": text.render, "markdown": markdown.render}
"""The formats for people, by name. JSON has a comparison's numbers, and not its sentences."""
JSON = "json"


@command("compare")
@click.argument("configurations", nargs=-1, metavar="BEFORE AFTER [MORE...]")
@click.option(
    "--format",
    "format_",
    type=click.Choice([*FORMATS, JSON]),
    default="text",
    show_default=True,
    help="Format of the table. JSON has all digits; times are in seconds.",
)
@adjust_option
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse configurations that differ in more than the change under test.",
)
@different_data_option
@different_answers_option
@click.option(
    "--probes", is_flag=True, help="Compare the probes of the network instead of the workloads."
)
@click.option(
    "--fail-if-slower",
    "slower",
    callback=as_fraction,
    metavar="3%",
    help="Exit with 1 if any workload takes more than 3 % more time than in BEFORE, with 0 if none does, and "
    "with 3 if that is not known. Each workload counts by itself; controls do not count.",
)
@click.option(
    "--fail-if-not-faster",
    "faster",
    callback=as_fraction,
    metavar="10%",
    help="Likewise: exit with 0 only if every workload takes at least 10 % less time.",
)
@click.option(
    "--all",
    "shows_all",
    is_flag=True,
    help=f"Show all workloads, and not only the {MAX_ROWS} that changed by most time.",
)
@log_options
@results_option
def compare_command(
    configurations: Sequence[str],
    format_: str,
    adjust: str | None,
    slower: float | None,
    faster: float | None,
    allow_different_answers: tuple[str, ...] | None,
    results: Path,
    sides: NamedSides,
    *,
    strict: bool,
    allow_different_data: bool,
    probes: bool,
    shows_all: bool,
) -> int:
    """Compare the times of workloads in two or more configurations.

    BEFORE is the baseline. Each argument is the name of a configuration under --results, a directory
    of results files of one configuration, or a results file. Runs of a
    configuration are repetitions: how much they differ decides what a change means.
    """
    if probes:
        if format_ == JSON:
            raise BadInput(
                f"--probes supports the formats {' and '.join(FORMATS)} only; each line of the files of "
                "probes is JSON"
            )
        of_workloads = (adjust, strict, allow_different_data, allow_different_answers)
        if any(of_workloads) or slower or faster or sides.given:
            raise BadInput(
                "--probes compares no workloads: leave out --adjust, --strict, --allow-different-data, "
                "--allow-different-answers, --fail-if-slower, --fail-if-not-faster and --event-logs"
            )
        show(FORMATS[format_](_probe_tables(configurations, results)))
        return 0
    comparison = compare(
        sides.columns(configurations, results, samples=False),
        relative_to_controls=adjust == "controls",
        allow_different_data=allow_different_data,
        allow_different_answers=allow_different_answers or (),
        strict=strict,
    )
    found: list[LimitFinding] = []
    if slower:
        found += limit_findings(comparison, slower)
    if faster:
        found += limit_findings(comparison, -faster)
    if format_ == JSON:
        show(comparison_json.render(comparison, found))
    else:
        lines = Sentences(list(finding_lines(found)))
        most = None if shows_all else MAX_ROWS
        show(FORMATS[format_]([comparison_table(comparison, most), lines]))
    return exit_code(found)


@command("scaling")
@click.argument("configurations", nargs=-1, required=True, metavar="CONFIGURATION...")
@results_option
def scaling_command(configurations: Sequence[str], results: Path) -> None:
    """Show how performance grows with the number of nodes, for each CONFIGURATION.

    CONFIGURATION is the name without -n1, -n2, ..., which --nodes 1,2,4 (or `scaling` in the file of an
    experiment) appended.
    """
    if len(set(configurations)) < len(configurations):
        raise BadInput("a configuration is named twice; name it once")
    families = {name: find_family(name, results) for name in configurations}
    show(text.render(scaling_page(scaling(families))))


def _probe_tables(configurations: Sequence[str], results: Path) -> list[ChangeTable]:
    # A table of workloads does not need them.
    from harness.analysis.compare.probe_comparison import compare_probes  # noqa: PLC0415
    from harness.present.probe_table import probe_table  # noqa: PLC0415

    require_several(configurations)
    probes = {}
    every = []
    for name in configurations:
        probes[name] = find_probes(name, results)
        every += probes[name]
    check_no_run_twice(every)
    tables = compare_probes(probes)
    if not tables:
        raise BadInput(
            f"the probes of {', '.join(configurations)} have no measurements; "
            "run `clusterlift probe all` again"
        )
    return list(map(probe_table, tables))
