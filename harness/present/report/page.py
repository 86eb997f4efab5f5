"""The whole page: text, pictures and tables in one HTML file that loads nothing else."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness import __version__
from harness.analysis.compare.comparison import Comparison
from harness.analysis.cost.benefit import CostBenefit, PerformanceForCost
from harness.analysis.observed.caveats import emulations
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import disturbed_trials, measured_trials
from harness.base.words import count_of, visible
from harness.model.run import COMMAND
from harness.present import quantities
from harness.present.comparison_table import comparison_table
from harness.present.costs import cost_table, performance_table
from harness.present.footnotes import Footnotes
from harness.present.report.answer import Tone, answers
from harness.present.report.chart import series_of
from harness.present.report.environment import fact_rows
from harness.present.report.figure import Evidence, Section, sections
from harness.statistics.change import Change, Verdict

DIRECTORY = Path(__file__).parent
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
    facts, table = fact_rows(comparison.columns), comparison_table(comparison)
    return (
        _template_environment()
        .get_template("page.html")
        .render(
            answers=answers(comparison, benefits),
            baseline=comparison.columns[0].name,
            controls=comparison.common_controls,
            cost_table=cost_table(benefits) if benefits else None,
            different_facts=[row for row in facts if row.differs],
            emulations=emulations(
                recorded for column in comparison.columns for recorded in column.runs
            ),
            equal_facts=[row for row in facts if not row.differs],
            figures=[
                (section, figure)
                for section in sorted(
                    [*sections(), *probe_sections], key=lambda section: section.order
                )
                if (figure := section.draw(evidence))
            ],
            footnotes=Footnotes(),
            keys=series_of(column.name for column in comparison.columns),
            lead=_lead(comparison),
            measuring_commands={c.name: _measuring_commands(c) for c in comparison.columns},
            performance_table=performance_table(performances) if performances else None,
            presenting_commands=presenting_commands,
            rows=list(zip(comparison.rows, table.lines, strict=True)),
            style=(DIRECTORY / "style.css").read_text(encoding="utf-8"),
            table=table,
            title=_title(comparison),
            tone=_tone,
            version=__version__,
        )
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
    if change is None or change.verdict is not Verdict.CHANGED:
        return ""
    return Tone.GAIN if change.relative_change < 0 else Tone.LOSS


def _measuring_commands(column: ConfigurationRuns) -> list[str]:
    found = (recorded.run.parameters.get(COMMAND) for recorded in column.runs)
    return list(dict.fromkeys(str(command) for command in found if command))


def _title(comparison: Comparison) -> str:
    baseline, *others = (column.name for column in comparison.columns)
    if len(others) > MAX_NAMES:
        return f"What {len(others)} configurations buy over {baseline}"
    *rest, last = others
    names = f"{', '.join(rest)} and {last}" if rest else last
    return f"What {names} {'buy' if rest else 'buys'} over {baseline}"


def _lead(comparison: Comparison) -> str:
    """Return a line such as `5 workloads and 4 controls, 162 measured trials in 6 runs`, then the days.

    Of trials that do not all count: `480 measured trials, 462 count, in 12 runs`.
    """
    runs = [recorded for column in comparison.columns for recorded in column.runs]
    count = sum(1 for _ in measured_trials(runs))
    disturbed = sum(1 for _ in disturbed_trials(runs))
    trials = count_of(count + disturbed, "measured trial")
    counted_runs = sum(column.counted_runs for column in comparison.columns)
    days = sorted(
        {run.run.started_at[:10] for run in runs if "imported_from" not in run.run.parameters}
    )
    controls = len(comparison.common_controls)
    parts = [
        count_of(len(comparison.rows) - controls, "workload")
        + (f" and {count_of(controls, 'control')}" if controls else ""),
        f"{trials}{f', {count} count,' if disturbed else ''} in {count_of(counted_runs, 'run')}",
        *([" to ".join(dict.fromkeys((days[0], days[-1])))] if days else []),
    ]
    relative = " Changes are relative to the changes of the controls."
    return f"{', '.join(parts)}.{relative if comparison.relative_to_controls else ''}"
