"""The whole page: words, pictures, tables and what they need, in one HTML file that asks for nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness import __version__
from harness.analysis.comparison import Comparison
from harness.analysis.configuration import ConfigurationRuns
from harness.analysis.price import CostBenefit
from harness.model.probe import Measurement
from harness.model.run import Phase
from harness.present.report.answer import answers
from harness.present.report.chart import Figure, series_of
from harness.present.report.costs import cost_items, cost_remarks, cost_table
from harness.present.report.environment import side_by_side
from harness.present.report.figures import change, latency, mesh, mtu, placement, time_spent, trials
from harness.present.report.reproduce import commands
from harness.present.report.table import sortable_table
from harness.terminal import visible

Measured = Mapping[str, Sequence[Measurement]]
HERE = Path(__file__).parent
MOST_NAMES = 3
"""Of configurations in the title."""


def render(
    comparison: Comparison,
    measured: Measured | None = None,
    worths: Sequence[CostBenefit] = (),
    again: Sequence[str] = (),
) -> str:
    """The page, as text.

    `measured` is what was probed of the network, by configuration; `again` are the commands that lead
    from the runs to the page.
    """
    script = (HERE / "sort.js").read_text(encoding="utf-8")
    sides = side_by_side(comparison.columns)
    return (
        _environment()
        .get_template("page.html")
        .render(
            again=again,
            answers=answers(comparison, worths),
            baseline=comparison.columns[0].name,
            commands={column.name: commands(column) for column in comparison.columns},
            different=[side for side in sides if side.differs],
            emulation=_emulation(comparison.columns),
            costs=cost_table(worths) if worths else None,
            cost_lines=list(cost_items(worths)),
            cost_remarks=list(cost_remarks(worths)),
            figures=list(_figures(comparison, measured or {})),
            keys=series_of(column.name for column in comparison.columns),
            lead=_lead(comparison),
            policy=_policy(script),
            same=[side for side in sides if not side.differs],
            script=script,
            style=(HERE / "style.css").read_text(encoding="utf-8"),
            table=sortable_table(comparison),
            title=_title(comparison),
            version=__version__,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["visible"] = lambda text: visible(str(text))
    return environment


def _policy(script: str) -> str:
    """What a browser lets the page do: run this script, and nothing that somebody smuggled in."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _title(comparison: Comparison) -> str:
    baseline, *others = (column.name for column in comparison.columns)
    if len(others) > MOST_NAMES:
        return f"What {len(others)} configurations buy over {baseline}"
    *rest, last = others
    names = f"{', '.join(rest)} and {last}" if rest else last
    return f"What {names} {'buy' if rest else 'buys'} over {baseline}"


def _lead(comparison: Comparison) -> str:
    runs = [recorded for column in comparison.columns for recorded in column.runs]
    measured = [t for run in runs for t in run.trials if t.phase is Phase.MEASURED]
    days = sorted(
        {run.run.started_at[:10] for run in runs if "imported_from" not in run.run.parameters}
    )
    parts = [
        (
            f"{_counted(len(comparison.rows), 'workload')}, {_counted(len(measured), 'measured trial')} "
            f"in {_counted(len(runs), 'run')}"
        ),
        *([" to ".join(dict.fromkeys((days[0], days[-1])))] if days else []),
    ]
    beyond = (
        " Changes are meant beyond those of the controls."
        if comparison.relative_to_controls
        else ""
    )
    return f"{', '.join(parts)}.{beyond}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _emulation(columns: Sequence[ConfigurationRuns]) -> tuple[str, ...]:
    """What the runs say of it, each once."""
    return tuple(
        dict.fromkeys(
            recorded.run.facts["emulated"]
            for column in columns
            for recorded in column.runs
            if "emulated" in recorded.run.facts
        )
    )


def _figures(comparison: Comparison, measured: Measured) -> Iterator[Figure]:
    """Those that there is something for; the first stands at the top."""
    drawn = [figure(comparison) for figure in (change.figure, trials.figure, time_spent.figure)]
    drawn += [figure(measured) for figure in (mesh.figure, mtu.figure, latency.figure)]
    yield from filter(None, [*drawn, placement.figure(comparison)])
