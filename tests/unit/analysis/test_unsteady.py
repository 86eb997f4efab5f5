"""What never became steady is known wherever its times are shown."""

from harness.analysis.compare.comparison import Cell, overview
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import unsteady
from harness.model.run import RecordedRun
from harness.runtime.warm_up import with_phases
from tests.unit.builders import a_run, ok, recorded

STEADY = (10, 10.1, 9.9, 10, 10.1, 9.9, 10)
ENDLESS = tuple(100 * 0.9**number for number in range(24))


def a_recorded_run(times_s: tuple[float, ...], warmup: object = "auto") -> RecordedRun:
    trials = [ok("group-by", time_s, round_) for round_, time_s in enumerate(times_s, 1)]
    run = a_run(parameters={"warmup": warmup, "trials": 6})
    return recorded(run, with_phases(trials, 6))


def cell_of(*runs: RecordedRun) -> Cell:
    [row] = overview(ConfigurationRuns("1g", runs)).rows
    [cell] = row.cells
    return cell


def test_a_steady_workload_needs_no_note() -> None:
    run = a_recorded_run(STEADY)
    assert unsteady(run, "group-by") is None
    assert cell_of(run).notes == ()


def test_what_never_became_steady_is_a_note_of_its_cell() -> None:
    run = a_recorded_run(ENDLESS)
    assert unsteady(run, "group-by") == "its last 6 trials still became faster"
    assert unsteady(run, "another") is None
    cell = cell_of(run)
    assert len(cell.sample.times_s) == 6
    assert cell.notes == ("not known to be steady: its last 6 trials still became faster",)


def test_a_run_that_was_cut_off_cannot_tell() -> None:
    run = a_recorded_run(STEADY[:4])
    assert cell_of(run).notes == ("not known to be steady: fewer than 6 trials count",)


def test_a_run_with_a_fixed_warm_up_does_not_look_for_steadiness() -> None:
    assert unsteady(a_recorded_run(ENDLESS, warmup=1), "group-by") is None
