"""What is shown first: what fails now, and what changed by most time."""

from harness.analysis.compare.comparison import compare
from harness.analysis.compare.failures import failing_line
from harness.analysis.compare.important_rows import important_rows
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.eventlog.application import WRITTEN_BY
from harness.present.comparison_table import comparison_table
from tests.unit.analysis.compare.test_all_workloads import runs
from tests.unit.builders import a_run, configured, failed, ok, recorded


def of_seconds(name: str, **times_s: float) -> ConfigurationRuns:
    return runs(name, times_s, times_s)


def test_a_short_table_keeps_its_order() -> None:
    comparison = compare([of_seconds("old", a=1, b=9), of_seconds("new", a=1, b=1)])
    assert [row.workload for row in important_rows(comparison, 2)] == ["a", "b"]
    assert [row.workload for row in important_rows(comparison)] == ["a", "b"]


def test_of_many_the_first_are_those_that_fail_now_and_then_those_that_changed_most() -> None:
    before = of_seconds("old", a=1, b=9, c=100, d=1, e=5)
    after = of_seconds("new", a=1, b=3, c=97, d=0, e=5)
    comparison = compare([before, after])
    assert [row.workload for row in important_rows(comparison, 3)] == ["d", "b", "c"]
    table = comparison_table(comparison, 3)
    assert [line.name for line in table.lines] == ["d", "b", "c"]
    assert table.totals[0] == (
        "3 of 5 workloads are shown, those that changed by most time; of the others: 2 not significant. "
        "--all shows all."
    )
    assert len(comparison_table(comparison).lines) == 5


def test_what_an_application_executes_often_counts_often() -> None:
    def logged(name: str, small_s: float, large_s: float) -> ConfigurationRuns:
        trials = [ok("small", small_s, number) for number in range(1, 101)]
        run = a_run(name, workloads=("small", "large"), written_by=WRITTEN_BY)
        return ConfigurationRuns(name, (recorded(run, [*trials, ok("large", large_s)]),))

    comparison = compare([logged("old", 1.0, 100.0), logged("new", 2.0, 110.0)])
    assert [row.workload for row in important_rows(comparison, 1)] == ["small"]


def test_what_runs_before_and_fails_after_is_the_first_line() -> None:
    before = configured("old", [ok("q1", 1.0), ok("q2", 1.0), failed("q3")])
    after = configured("new", [failed("q1", "OutOfMemoryError: heap"), ok("q2", 1.0), failed("q3")])
    line = "runs in old, fails in new: q1 (1 of 1 trial: OutOfMemoryError: heap)"
    assert failing_line(Sides(before, after)) == line
    assert comparison_table(compare([before, after])).warnings[0] == line
    assert failing_line(Sides(after, before)) == ""
