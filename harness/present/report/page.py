"""The whole page: text, pictures and tables in one HTML file that loads nothing else."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from operator import attrgetter
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness import __version__
from harness.analysis.compare.comparison import Comparison
from harness.analysis.cost.benefit import CostBenefit, PerformanceForCost
from harness.analysis.observed.caveats import emulations
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import disturbed_trials, measured_trials
from harness.base.items import grouped
from harness.base.words import count_of, visible
from harness.model.run import COMMAND
from harness.present import quantities
from harness.present.change_table import Effect, effect_of
from harness.present.comparison_table import comparison_table
from harness.present.costs import cost_table, performance_table
from harness.present.footnotes import Footnotes
from harness.present.report.answer import Tone, answers
from harness.present.report.environment import fact_rows
from harness.present.report.figure import Evidence, Section, sections
from harness.statistics.change import Change

DIRECTORY = Path(__file__).parent
_TONES = {Effect.FASTER: Tone.GAIN, Effect.SLOWER: Tone.LOSS}
MAX_NAMES = 3
"""The title names at most this number of configurations, and counts more."""


PAGE_BEGINNING = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="clusterlift """
"""How every page begins, and nothing else does."""


def render(
    evidence: Evidence,
    benefits: Sequence[CostBenefit] = (),
    performances: Sequence[PerformanceForCost] = (),
    presenting_commands: Sequence[str] = (),
    probe_sections: Sequence[Section] = (),
) -> str:
    """Return the page as HTML.

    `benefits` and `performances` are ranked, and `presenting_commands` make the tables and the page from the
    recorded runs. `probe_sections` are what probes found, and the tables of probes without a picture.
    """
    comparison = evidence.comparison
    columns = comparison.columns
    facts = grouped(fact_rows(columns), attrgetter("differs"))
    table = comparison_table(comparison)
    figures = []
    for section in sorted([*sections(), *probe_sections], key=attrgetter("order")):
        figure = section.draw(evidence)
        if figure:
            figures.append((section, figure))
    script = (DIRECTORY / "search.js").read_text(encoding="utf-8")
    template = _template_environment().get_template("page.html")
    return template.render(
        answers=answers(comparison, benefits),
        baseline=columns[0].name,
        controls=comparison.controls,
        cost_table=cost_table(benefits),
        different_facts=facts.get(True, ()),
        emulations=emulations(comparison.runs),
        equal_facts=facts.get(False, ()),
        figures=figures,
        footnotes=Footnotes(),
        keys=evidence.styles,
        lead=_lead(comparison),
        measuring_commands={column.name: _measuring_commands(column) for column in columns},
        performance_table=performance_table(performances),
        presenting_commands=presenting_commands,
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode(),
        rows=list(zip(comparison.rows, table.lines, strict=True)),
        style=(DIRECTORY / "style.css").read_text(encoding="utf-8"),
        table=table,
        title=_title(comparison),
        tone=_tone,
        version=__version__,
    )


def is_page(file: Path) -> bool:
    """Return whether `render` made the file. Raises OSError."""
    with file.open("rb") as page:
        return page.read(len(PAGE_BEGINNING)) == PAGE_BEGINNING.encode()


def _template_environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(DIRECTORY), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["p_statement"] = quantities.p_statement
    environment.filters["visible"] = lambda text: visible(str(text))
    return environment


def _tone(change: Change | None) -> str:
    """Return the colour class of a cell; empty for what proves nothing."""
    return _TONES.get(effect_of(change), "")


def _measuring_commands(column: ConfigurationRuns) -> list[str]:
    commands: dict[str, None] = {}
    for recorded in column.runs:
        command = recorded.run.parameters.get(COMMAND)
        if command:
            commands[str(command)] = None
    return list(commands)


def _title(comparison: Comparison) -> str:
    baseline, *others = (column.name for column in comparison.columns)
    verb = "buys" if len(others) == 1 else "buy"
    if len(others) > MAX_NAMES:
        names = f"{len(others)} configurations"
    else:
        names = " and ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
    return f"What {names} {verb} over {baseline}"


def _lead(comparison: Comparison) -> str:
    """Return a line such as `5 workloads and 4 controls, 162 measured trials in 6 runs`, then the days.

    If trials do not all count: `480 measured trials, 462 count, in 12 runs`.
    """
    runs = comparison.runs
    counted = len(list(measured_trials(runs)))
    disturbed = len(list(disturbed_trials(runs)))
    controls = len(comparison.controls)
    text = count_of(len(comparison.rows) - controls, "workload")
    if controls:
        text += f" and {count_of(controls, 'control')}"
    text += f", {count_of(counted + disturbed, 'measured trial')}"
    if disturbed:
        text += f", {counted} count,"
    counted_runs = sum(column.counted_runs for column in comparison.columns)
    text += f" in {count_of(counted_runs, 'run')}"
    days = set()
    for recorded in runs:
        if "imported_from" not in recorded.run.parameters:
            days.add(recorded.run.started_at[:10])
    if days:
        first_and_last = dict.fromkeys([min(days), max(days)])
        text += f", {' to '.join(first_and_last)}"
    text += "."
    if comparison.relative_to_controls:
        text += " Changes are relative to the changes of the controls."
    return text
