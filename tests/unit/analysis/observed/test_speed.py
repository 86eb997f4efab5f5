"""Tables of trials whose processors had different speeds."""

from dataclasses import replace

import pytest

from harness.analysis.compare.comparison import Comparison, compare, overview
from harness.analysis.compare.identical_runs import identical_runs
from harness.analysis.compare.power import least_precise, needed_after
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.predict.readiness import readiness
from harness.model.interference import NodeInterference, is_of_speed
from harness.present import text
from harness.runtime.disturbances import with_disturbances
from harness.statistics.power import UNPAIRED, runs_needed
from tests.unit.builders import a_run, known, ok, recorded

LOOPS_MS = [0.40, 0.44, 0.38, 0.42, 0.60, 0.39, 0.43, 0.41]
NOISE = [1.0, 1.01, 0.99, 1.005, 1.0, 0.995, 1.0, 1.01]
SWAPPED = "n1: it swapped (5 MB/s, usually 0)"


def node(loop_ms: float, **fields: float) -> NodeInterference:
    return NodeInterference("n1", 10.0, 2, loops=100, loop_s=loop_ms / 1e3, busy_s=20.0, **fields)  # type: ignore[arg-type]


def column(
    name: str, factor: float = 1.0, busier: float = 1.0, follows: float = 1.0
) -> ConfigurationRuns:
    """Two runs. With `follows` 1, a trial is as long as the loop says."""
    runs = []
    for number in (1, 2):
        trials = [
            ok(
                "group-by",
                factor * (loop / 0.4) ** follows * busier * noise * (1 + number / 100),
                round_,
                interference=(node(loop * busier),),
            )
            for round_, (loop, noise) in enumerate(zip(LOOPS_MS, NOISE, strict=True), 1)
        ]
        runs.append(recorded(a_run(name, f"{name}-{number}"), with_disturbances(trials)))
    return ConfigurationRuns(name, tuple(runs))


def table(*columns: ConfigurationRuns, for_speed: bool = True) -> Comparison:
    return compare(columns, for_speed=for_speed)


def test_a_disturbed_trial_counts_again_and_little_of_the_variance_is_left() -> None:
    before = column("a")
    assert [bool(t.disturbed) for t in before.runs[0].trials] == [loop > 0.5 for loop in LOOPS_MS]
    comparison = table(before, column("b", 1.1))
    assert known(comparison.speed).variance_left < 0.1
    summary = known(comparison.rows[0].cells[0].summary)
    assert summary.trials == 16
    assert summary.time_s == pytest.approx(1.015, rel=0.04)
    assert comparison.changes[0].relative_change == pytest.approx(0.1)
    assert comparison.columns[0].runs == before.runs  # as measured


def test_the_caption_says_so_and_names_the_assumption() -> None:
    shown = " ".join(text.render(table(column("a"), column("b"))).split())
    assert "times are adjusted for the speed of the processors" in shown
    assert "It is assumed that slow processors lengthen trials, and not that long trials" in shown
    without = text.render(table(column("a"), column("b"), for_speed=False))
    assert "adjusted for the speed" not in without
    assert "disturbed" in without


def test_what_a_change_does_to_the_processors_stays_in_its_effect() -> None:
    changes = table(column("a"), column("b", busier=1.2)).changes
    assert changes[0].relative_change == pytest.approx(0.2)


def test_a_table_whose_trials_do_not_follow_the_processors_is_as_measured() -> None:
    columns = column("a", follows=0), column("b", follows=0)
    assert table(*columns).speed is None
    assert text.render(table(*columns)) == text.render(table(*columns, for_speed=False))


def test_without_the_time_of_the_loop_it_is_as_measured() -> None:
    def bare(name: str) -> ConfigurationRuns:
        made = column(name)
        return replace(
            made,
            runs=tuple(
                replace(run, trials=tuple(replace(t, interference=None) for t in run.trials))
                for run in made.runs
            ),
        )

    assert table(bare("a"), bare("b")).speed is None


def test_what_no_model_mends_stays_out() -> None:
    def swapping(name: str) -> ConfigurationRuns:
        made = column(name)
        first, *others = made.runs
        trials = (replace(first.trials[0], disturbed=SWAPPED), *first.trials[1:])
        return replace(made, runs=(replace(first, trials=trials), *others))

    comparison = table(swapping("a"), column("b"))
    assert known(comparison.rows[0].cells[0].summary).trials == 15
    assert "1 of 16 measured trials was disturbed" in comparison.columns[0].notes[0]


@pytest.mark.parametrize(
    ("reason", "mended"),
    [
        ("n2: processors slower than usual (by 31 %)", True),
        ("n2: the hypervisor took processor time (7 %, usually 0 %)", True),
        ("n: 2: other processes took processor time (40 %, usually 2 %)", False),
        ("n2: other processes took processor time (40 %, usually 2 %)", True),
        (SWAPPED, False),
        ("it rained", False),
    ],
)
def test_which_reasons_are_of_speed(reason: str, mended: bool) -> None:  # noqa: FBT001
    assert is_of_speed(reason) is mended


def test_a_reason_of_another_kind_is_named_first() -> None:
    quiet = [ok("a", 1.0, n, interference=(node(0.4, swapped_bytes=0),)) for n in range(1, 5)]
    both = ok("a", 1.0, 5, interference=(node(4.0, swapped_bytes=2 * 10**7),))
    assert "it swapped" in str(with_disturbances([*quiet, both])[-1].disturbed)


def test_what_is_said_of_runs_before_and_after_a_table_is_said_of_the_times_in_it() -> None:
    first, second = column("a").runs
    own = ConfigurationRuns("a", (first, replace(second, trials=second.trials[1:])))
    shown, measured = (overview(own, for_speed=adjusted) for adjusted in (True, False))
    width = known(known(shown.rows[0].cells[0].summary).uncertainty)
    assert known(least_precise(own, 0.01)).half_width == pytest.approx(width)
    between = shown.model.run_sd("group-by")
    assert between != pytest.approx(measured.model.run_sd("group-by"))
    assert identical_runs(own).variations[0].runs_sd == between
    assert readiness(own).detectable[0].run_sd == between
    [asked] = needed_after([own], 0.01, 1, 0.9).workloads
    assert asked.runs == runs_needed(0.01, between, 1, 0.9, UNPAIRED)
