"""Spark 4.1 and later count fetch wait otherwise: a comparison across says so, wherever it is shown."""

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.compare.fetch_wait import different_fetch_wait
from harness.analysis.explain.attribution import explain
from harness.model.run import RecordedRun
from harness.present import comparison_json, explanation, markdown, text
from harness.present.report.figure import Evidence
from harness.present.report.page import render
from tests.unit.builders import a_run, configured, recorded
from tests.unit.metrics_builders import timed

LINE = (
    "fetch wait is not comparable: Spark 4.3.0 also counts the wait for connections, which 3.5.7, 4.0.1 does "
    "not (SPARK-54536); this concerns where the time went, and not the times"
)
NARROW = ["3.5.7", "4.0.1", "4.0.0-preview1"]
WIDE = ["4.1.0", "4.1.0-SNAPSHOT", "4.10.2", "5.0.0"]
UNKNOWN = [None, "", "main", "4", "4.", "9" * 5000]


def runs(*versions: str | None) -> list[RecordedRun]:
    return [recorded(a_run(environment={"spark": version})) for version in versions]


def test_all_versions_are_named_in_either_order() -> None:
    before, after = runs("3.5.7", "4.0.1"), runs("4.3.0")
    assert different_fetch_wait(before, after) == different_fetch_wait(after, before) == LINE


@pytest.mark.parametrize("after", [*NARROW, *WIDE, *UNKNOWN])
def test_the_boundary_is_4_1_and_an_unknown_version_says_nothing(after: str | None) -> None:
    assert all(
        (different_fetch_wait(runs(each), runs(after)) is None) is (after not in WIDE)
        for each in NARROW
    )


def test_it_is_shown_once_wherever_two_configurations_are_compared() -> None:
    trials = [timed("group-by", 10.0, fetch_wait_s=1.0), timed("inner-join", 10.0)]
    across = compare(
        [configured(each, trials, environment={"spark": each}) for each in ("3.5.7", "4.3.0")]
    )
    for page in (
        text.render(across),
        markdown.render(across),
        explanation.render(explain(across)),
        render(Evidence(across)),
    ):
        assert page.count("SPARK-54536") == 1
        assert "where the time went, and not the times" in " ".join(page.split())
    assert "SPARK-54536" in comparison_json.render(across)
