"""`clusterlift report`: a comparison as an HTML page."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.compare.comparison import compare
from harness.analysis.cost.benefit import cost_benefits, performances_for_cost
from harness.analysis.cost.costs import given_costs
from harness.analysis.observed.probe_load import pooled_measurements
from harness.base.errors import BadInput
from harness.base.terminal import show
from harness.base.words import visible
from harness.commands.command import command
from harness.commands.log_options import NamedSides, log_options
from harness.commands.options import (
    adjust_option,
    cost_option,
    different_answers_option,
    different_data_option,
    results_option,
)
from harness.probes.kind import newest_probes
from harness.records.lookup import probes_beside
from harness.records.outputs import OutputKind, write_file


@command("report")
@click.argument("configurations", nargs=-1, metavar="BEFORE AFTER [MORE...]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="The HTML file to write.",
)
@cost_option(
    "Cost of the change: 350USD, or 2.5g-rs=350USD for one configuration. If the baseline has a cost, costs "
    "are of whole clusters. Repeatable."
)
@adjust_option
@different_data_option
@different_answers_option
@log_options
@results_option
def report_command(
    configurations: Sequence[str],
    output: Path,
    costs: Sequence[str],
    adjust: str | None,
    allow_different_answers: tuple[str, ...] | None,
    results: Path,
    sides: NamedSides,
    *,
    allow_different_data: bool,
) -> None:
    """Write a comparison with charts, probes and costs to one HTML file.

    BEFORE, AFTER and MORE are the same as for `clusterlift compare`. The page is self-contained: a
    browser shows it without network access or other files.
    """
    try:  # compare works without them
        from harness.commands.probe_figures import probe_sections  # noqa: PLC0415
        from harness.present.report.figure import Evidence  # noqa: PLC0415
        from harness.present.report.page import is_page, render  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise BadInput(
            f"clusterlift report needs {error.name}, which is not installed: "
            "install clusterlift with its extra [report], as docs/install.md says"
        ) from error

    comparison = compare(
        sides.columns(configurations, results),
        relative_to_controls=adjust == "controls",
        allow_different_data=allow_different_data,
        allow_different_answers=allow_different_answers or (),
    )
    names = [column.name for column in comparison.columns]
    given = given_costs(costs, names[0], names[1:])
    measured = {}
    newest = {}
    for column in comparison.columns:
        found = probes_beside(column.runs)
        measurements = pooled_measurements(found)
        if measurements:
            measured[column.name] = measurements
        if found:
            newest[column.name] = newest_probes(found)
    shared = [*configurations, *sides.given]
    if adjust:
        shared += ["--adjust", adjust]
    if allow_different_data:
        shared.append("--allow-different-data")
    if allow_different_answers:
        shared.append(f"--allow-different-answers={','.join(allow_different_answers)}")
    if results != Path("results"):
        shared += ["--results", str(results)]
    own = [f"--cost={cost}" for cost in costs]
    own.append(f"--output={output}")
    page = render(
        Evidence(comparison, measured),
        benefits=cost_benefits(comparison, given) if given else (),
        performances=performances_for_cost(comparison, given) if given else (),
        presenting_commands=(
            f"clusterlift compare {shlex.join(shared)}",
            f"clusterlift report {shlex.join([*shared, *own])}",
        ),
        probe_sections=list(probe_sections(newest)),
    )
    kind = OutputKind("a report of clusterlift", is_page)
    write_file(output, page.encode(errors="backslashreplace"), kind)
    show(visible(f"report: {output}"))
