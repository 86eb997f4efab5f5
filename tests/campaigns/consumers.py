"""What the commands do with a file that the reader accepts, and what nobody may see on their pages."""

import contextlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from harness.analysis.compare import power as power_analysis
from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.compare.identical_runs import identical_runs
from harness.analysis.compare.power import needed_after
from harness.analysis.compare.probe_comparison import compare_probes
from harness.analysis.cost.benefit import cost_benefits
from harness.analysis.cost.costs import declared_costs, given_costs
from harness.analysis.explain import blocked
from harness.analysis.explain.attribution import explain
from harness.analysis.explain.timeline import link_uses, trial_links
from harness.analysis.network.gate import Expectation, expectation_faults, upgrade_faults
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.predict import readiness as readiness_analysis
from harness.analysis.predict.readiness import readiness
from harness.analysis.predict.score import score
from harness.commands.gate import verdict
from harness.model.errors import BadInput
from harness.model.probe import RecordedProbes
from harness.present import data_formats, explanation, export, markdown, prediction, run, text
from harness.present import identical_runs as identical_runs_page
from harness.present import power as power_page
from harness.present import readiness as readiness_page
from harness.present.probe_table import probe_table
from harness.present.report import chart, page
from harness.present.report.figure import Evidence
from harness.probes.kinds import findings, kinds, network_of, newest_probes
from harness.records.predictions import FrozenPrediction

NONSENSE = re.compile(r"(?<![\w.-])(?:nan|inf|infinity|None|NaN)(?![\w-])|\d{30}")
"""No page shows such a word or number. (It shows `x`, `3.5` and other mutations that mean something.)"""
_HIDDEN = re.compile(r"<(script|style|svg)\b.*?</\1>", re.DOTALL)
LONGEST_LINE = 200_000


def run_outputs(column: ConfigurationRuns, other: ConfigurationRuns) -> Iterator[str]:
    """Yield what compare, show, ready, explain, report and export make of a run."""
    for recorded in column.runs:
        yield run.render(recorded)
    yield readiness_page.render(readiness(column))
    yield power_page.render(needed_after([column], 0.05, 1, 0.9))
    with contextlib.suppress(BadInput):
        yield identical_runs_page.render(identical_runs(column))
    yield from comparison_outputs([other, column])
    with contextlib.suppress(BadInput):
        yield text.render(compare([column, other], allow_different_data=True))
    for relative, strict in ((True, False), (False, True)):
        with contextlib.suppress(BadInput):
            compare([other, column], relative_to_controls=relative, strict=strict)
    export_rows(export.rows(column.runs, ()))


def comparison_outputs(columns: Sequence[ConfigurationRuns]) -> Iterator[str]:
    """Yield the pages of a comparison; nothing if there is nothing to compare."""
    with contextlib.suppress(BadInput):
        comparison = compare(columns, allow_different_data=True)
        yield text.render(comparison)
        yield markdown.render(comparison)
        yield data_formats.as_csv(comparison)
        yield json.dumps(json.loads(data_formats.as_json(comparison), parse_constant=_no_number))
        uses = [link_uses(trial_links(column)) for column in comparison.columns]
        yield explanation.render(explain(comparison), uses)
        yield report_page(comparison)


def probe_outputs(
    probed: RecordedProbes, before: RecordedProbes, runs: Comparison
) -> Iterator[str]:
    """Yield what gate, compare --probes, report and export make of probes."""
    expected = Expectation()
    judged = newest_probes([probed])
    network = network_of(judged)
    yield verdict(judged, network, expectation_faults(network, expected))
    yield verdict(judged, network, upgrade_faults(network_of(newest_probes([before])), network))
    for kind in kinds().values():
        yield kind.page(probed, findings(probed))
    measured = {"1g": before.measurements, "2.5g": probed.measurements}
    by_run = {name: [measurements] * 2 for name, measurements in measured.items()}
    for table in map(probe_table, compare_probes(by_run)):
        yield text.render_table(table)
        yield markdown.render_table(table)
    yield report_page(runs, measured)
    yield _visible(page.render(Evidence(runs, soaks={"1g": probed})))
    export_rows(export.rows((), [probed]))


def prediction_outputs(
    frozen: FrozenPrediction, before: ConfigurationRuns, after: ConfigurationRuns
) -> Iterator[str]:
    """Yield what predict, score, compare and report make of a prediction."""
    scored = frozen, score(frozen.prediction, before, after)
    yield prediction.render([frozen])
    yield prediction.render_score(*scored)
    yield prediction.render_scores([scored, (frozen, None)])
    yield text.fill(prediction.outcome_text(*scored))
    yield _visible(page.render(Evidence(compare([before, after]), predictions=[scored])))


def report_page(comparison: Comparison, measured: Mapping[str, Any] | None = None) -> str:
    """Return the visible text of the page, with the costs that the runs declare."""
    baseline, *others = (column.name for column in comparison.columns)
    declared, _ = declared_costs(comparison.columns)
    costs = given_costs((), None, baseline, others, declared=declared)
    benefits = cost_benefits(comparison, costs) if costs else ()
    return _visible(page.render(Evidence(comparison, measured or {}), benefits))


def export_rows(rows: Mapping[str, Sequence[Any]]) -> None:
    """Write each table to memory."""
    for name, table in export.TABLES.items():
        export.write(table, rows[name], io.BytesIO())


def problem_of(output: str) -> str | None:
    """Return what is wrong with what a command would print; None if nothing is."""
    try:
        output.encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair, which no file can have"
    for line in output.splitlines():
        if not line.isprintable():
            return f"a control character in {line[:100]!r}"
        if len(line) > LONGEST_LINE:
            return f"a line of {len(line):,} characters: {line[:100]!r}"
        if found := NONSENSE.search(line):
            return f"{found[0][:40]} in {line[max(0, found.start() - 60) : found.end() + 30]!r}"
    return None


def _visible(html: str) -> str:
    return _HIDDEN.sub("", html)


def _no_number(constant: str) -> float:
    raise AssertionError(f"{constant} in JSON")


@pytest.fixture(scope="module")
def quick_pages() -> Iterator[None]:
    """Check the data of charts instead of drawing them; draw samples twice, and what is the same once."""

    def checked(picture: chart.Spec) -> str:
        json.dumps(picture, allow_nan=False)
        return "<svg></svg>"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chart, "svg", checked)
        patch.setattr(blocked, "DRAWS", 2)
        patch.setattr(page, "_template_environment", cache(page._template_environment))
        for module, name in (
            (readiness_analysis, "detectable_change"),
            (power_analysis, "runs_needed"),
        ):
            patch.setattr(module, name, cache(getattr(module, name)))
        yield
