"""Spark 4.1 and later count fetch wait otherwise: a comparison across says so, wherever it is shown."""

from collections.abc import Sequence

import pytest

from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.compare.fetch_wait import different_fetch_wait
from harness.analysis.explain.attribution import explain
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.model.run import RecordedRun
from harness.present import comparison_json, explanation, markdown, text
from harness.present.report.figure import Evidence
from harness.present.report.page import render
from tests.unit.builders import a_run, configured, recorded
from tests.unit.metrics_builders import timed

LINE = (
    "fetch wait is not comparable: Spark 4.3.0 also counts the wait for connections, which 3.5.7 does not "
    "(SPARK-54536); this concerns where the time went, and not the times"
)


def runs(*versions: str | None) -> Sequence[RecordedRun]:
    return [recorded(a_run(environment={"spark": version})) for version in versions]


def side(name: str, version: str) -> ConfigurationRuns:
    trials = [timed("group-by", 10.0, fetch_wait_s=1.0), timed("inner-join", 10.0)]
    return configured(name, trials, environment={"spark": version})


def comparison(before: str, after: str) -> Comparison:
    return compare([side("1g", before), side("2.5g", after)])


@pytest.mark.parametrize(
    ("before", "after"), [("3.5.7", "4.3.0"), ("4.3.0", "3.5.7")], ids=["up", "down"]
)
def test_either_order_is_one_line(before: str, after: str) -> None:
    assert different_fetch_wait(runs(before), runs(after)) == LINE


@pytest.mark.parametrize("before", ["3.5.7", "4.0.1", "4.0.0-preview1"])
@pytest.mark.parametrize("after", ["4.1.0", "4.1.0-SNAPSHOT", "4.3.0", "5.0.0"])
def test_the_boundary_is_4_1(before: str, after: str) -> None:
    assert different_fetch_wait(runs(before), runs(after)) is not None
    assert different_fetch_wait(runs(before), runs("3.4.0")) is None
    assert different_fetch_wait(runs(after), runs("4.10.2")) is None


@pytest.mark.parametrize("unknown", [None, "", "main", "4", "4.", "9" * 5000])
def test_an_unknown_version_says_nothing(unknown: str | None) -> None:
    assert different_fetch_wait(runs("3.5.7"), runs(unknown)) is None


def test_the_versions_of_pooled_runs_are_all_named() -> None:
    line = different_fetch_wait(runs("3.5.7", "4.0.1"), runs("4.3.0"))
    assert line is not None
    assert "Spark 4.3.0 also counts the wait for connections, which 3.5.7, 4.0.1 does not" in line


def test_it_is_shown_once_wherever_two_configurations_are_compared() -> None:
    across = comparison("3.5.7", "4.3.0")
    shown = [
        " ".join(text.render(across).split()),
        markdown.render(across),
        " ".join(explanation.render(explain(across)).split()),
        render(Evidence(across)),
    ]
    for page in shown:
        assert page.count("SPARK-54536") == 1
        assert "this concerns where the time went, and not the times" in page
    assert LINE in comparison_json.render(across)


def test_it_is_not_shown_otherwise() -> None:
    assert "SPARK-54536" not in render(Evidence(comparison("4.1.0", "4.3.0")))
