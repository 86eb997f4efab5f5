"""Which workloads count together, and what is said of them."""

from typing import Any

from harness.analysis.compare.all_workloads import all_workloads
from harness.analysis.compare.comparison import compare
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.eventlog.application import APPLICATION, WRITTEN_BY
from harness.model.work import Work
from harness.present.all_workloads import together_sentences
from tests.unit.builders import a_run, failed, ok, recorded


def runs(name: str, *times_s: dict[str, float], **fields: Any) -> ConfigurationRuns:
    """A run for each mapping, with one trial of each workload; a time of 0 is a failure."""
    found = []
    for number, of_run in enumerate(times_s):
        trials = [ok(each, wall_s) if wall_s else failed(each) for each, wall_s in of_run.items()]
        run = a_run(name, f"{name}-{number}", workloads=tuple(of_run), **fields)
        found.append(recorded(run, trials))
    return ConfigurationRuns(name, tuple(found))


def said(before: ConfigurationRuns, after: ConfigurationRuns) -> list[str]:
    return list(together_sentences(all_workloads(compare([before, after]))))


def test_what_both_have_counts_once_and_controls_do_not() -> None:
    controls = {"controls": ["pi"]}
    before = runs(
        "old", *[{"q1": 10.0, "q2": 30.0, "pi": 9.0, "q3": 7.0, "q4": 5.0}] * 2, parameters=controls
    )
    after = runs(
        "new", *[{"q1": 5.0, "q2": 30.0, "pi": 9.0, "q3": 0.0, "q5": 5.0}] * 2, parameters=controls
    )
    [line] = said(before, after)
    assert line.startswith("new, 2 workloads together: 35.0 s instead of 40.0 s, -12.5% (")
    assert "geometric mean of the changes: -29.3% (" in line


def test_one_workload_has_no_line() -> None:
    assert said(runs("old", {"q1": 1.0}), runs("new", {"q1": 2.0})) == []


def test_workloads_of_a_single_run_are_left_out_and_counted() -> None:
    every = {"q1": 10.0, "q2": 10.0, "q3": 10.0}
    before = runs("old", every, {"q1": 10.0, "q2": 10.0})
    [line] = said(before, runs("new", every, every))
    assert "2 workloads together (without 1 of a single run): 20.0 s" in line
    [line] = said(runs("old", every), runs("new", every))
    assert line == (
        "new, 3 workloads together: 30.0 s instead of 30.0 s, 0.0% ?; geometric mean of the changes: 0.0% ?."
    )


def test_an_application_counts_only_where_its_executions_are_not_compared() -> None:
    both = {"etl": 100.0, "load": 10.0, "save": 10.0}
    logged = {"written_by": WRITTEN_BY, "parameters": {APPLICATION: "etl"}}
    [found] = all_workloads(compare([runs("old", both, **logged), runs("new", both, **logged)]))
    assert found.workloads == ("load", "save")


def test_every_execution_counts_where_the_applications_are_not_matched() -> None:
    both = {"load": 10.0, "save": 10.0}
    logged = {"written_by": WRITTEN_BY, "parameters": {APPLICATION: "nightly-1"}}
    [found] = all_workloads(compare([runs("old", both, **logged), runs("new", both, **logged)]))
    assert found.workloads == ("load", "save")


def test_units_of_work_have_no_sum() -> None:
    trial = ok("hpl", 10.0, work=Work(1.0, "flop"))
    with_work = [recorded(a_run(name, workloads=("hpl",)), [trial]) for name in ("old", "new")]
    columns = [ConfigurationRuns(each.run.configuration, (each,)) for each in with_work]
    assert all_workloads(compare(columns)) == []


def test_streams_have_queries_per_hour() -> None:
    streams = {"streams": 4, "in_streams": ["q1", "q2"]}
    before = runs("old", *[{"4 streams": 80.0, "q1": 10.0, "q2": 10.0}] * 2, parameters=streams)
    after = runs("new", *[{"4 streams": 40.0, "q1": 5.0, "q2": 5.0}] * 2, parameters=streams)
    [found] = all_workloads(compare([before, after]))
    assert found.workloads == ("q1", "q2")
    [line] = said(before, after)
    assert "Queries per hour: 720 instead of 360, +100.0% (" in line
