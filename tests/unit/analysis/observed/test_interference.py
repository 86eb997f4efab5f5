"""Disturbed trials do not count, and what differs between two sides is a confounder."""

from dataclasses import replace
from typing import Any

import pytest

from harness.analysis.compare.confounders import confounders
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.caveats import caveats
from harness.analysis.observed.interference import busy_line, disturbed_line, interference_facts
from harness.analysis.observed.sample import take_sample
from harness.model.interference import NodeInterference
from harness.model.run import Phase, RecordedRun
from harness.trials.counting import counted_trials
from tests.unit.builders import a_run, alone, failed, ok, recorded

QUIET: dict[str, Any] = {
    "duration_s": 10.0, "processors": 2, "loops": 200, "loop_s": 0.0004, "busy_s": 19.0,
    "stolen_s": 0.0, "others_s": 0.4, "memory_wait_s": 0.0,
}  # fmt: skip
SWAPPED = "n2: it swapped (12 MB/s, usually 0)"
SLOW = "n1: processors slower than usual (by 31 %)"


def run(
    configuration: str = "1g", disturbed: tuple[str | None, ...] = (None,), **fields: Any
) -> RecordedRun:
    """A run of one workload; each trial's node has the fields."""
    nodes = (NodeInterference("n1", **QUIET | fields),)
    trials = [
        ok("group-by", 10.0 + number, number, interference=nodes, disturbed=reason)
        for number, reason in enumerate(disturbed, 1)
    ]
    return recorded(a_run(configuration), trials)


class TestDisturbedTrials:
    def test_are_left_out_of_the_sample(self) -> None:
        sample = take_sample("group-by", [run(disturbed=(None, SLOW, None))])
        assert sample.times_s == (11.0, 13.0)

    def test_are_a_caveat_that_groups_them_by_reason_whatever_the_numbers(self) -> None:
        other = "n3: it swapped (7 MB/s, usually 0)"
        runs = [run(disturbed=(None, SLOW, SWAPPED)), run(disturbed=(None, other))]
        line = (
            "3 of 5 measured trials were disturbed and do not count: "
            "n2, n3: it swapped (2); n1: processors slower than usual (1)"
        )
        assert caveats(runs) == (line,)

    def test_have_their_rarest_reasons_counted_together(self) -> None:
        reasons = [f"n{number % 2}: reason {number} (1)" for number in (1, 1, 2, 2, 3, 3, 4, 5)]
        assert str(disturbed_line([run(disturbed=tuple(reasons))])).endswith(
            "n1: reason 1 (2); n0: reason 2 (2); n1: reason 3 (2); others (2)"
        )

    def test_that_are_none_are_no_caveat(self) -> None:
        assert caveats([run()]) == ()


DIFFERENT = [
    ({"loop_s": 0.00043}, "processor speed (time of a fixed loop)", "0.400 ms", "0.430 ms"),
    ({"stolen_s": 1.0}, "processor time that the hypervisor took", "0 %", "5 %"),
    ({"others_s": 4.0}, "processor time of other processes", "2 %", "20 %"),
    ({"memory_wait_s": 0.5}, "time in which processes waited for memory", "0 %", "5 %"),
]


@pytest.mark.parametrize(("fields", "name", "before", "after"), DIFFERENT)
def test_what_disturbed_one_side_more_is_a_confounder(
    fields: dict[str, Any], name: str, before: str, after: str
) -> None:
    quiet, disturbed = run(), run("2.5g", **fields)
    [found] = confounders(Sides(alone(quiet), alone(disturbed)))
    assert (found.fact, found.before, found.after) == (name, before, after)
    [back] = confounders(Sides(alone(disturbed), alone(quiet)))
    assert (back.fact, back.before, back.after) == (name, after, before)


@pytest.mark.parametrize(
    "fields",
    [{}, {"loop_s": 0.00041}, {"stolen_s": 0.1}, {"others_s": 0.9}]
    + [dict.fromkeys(fields) for fields, *_ in DIFFERENT],
)
def test_small_and_unknown_differences_are_none(fields: dict[str, Any]) -> None:
    assert confounders(Sides(alone(run()), alone(run("2.5g", **fields)))) == ()


def test_only_the_trials_that_count_are_compared() -> None:
    slow = NodeInterference("n1", **QUIET | {"loop_s": 0.0008})
    disturbed = ok("group-by", 20.0, 9, interference=(slow,), disturbed=SLOW)
    both = run("2.5g")
    both = recorded(both.run, [*both.trials, disturbed])
    assert confounders(Sides(alone(run()), alone(both))) == ()


def test_a_run_of_an_older_version_has_no_such_facts() -> None:
    old = recorded(a_run("old"), [ok("group-by", 9.0)])
    assert interference_facts([old]) == {}
    assert confounders(Sides(alone(old), alone(run()))) == ()


def test_the_means_are_over_all_nodes_and_trials() -> None:
    nodes = tuple(NodeInterference(f"n{n}", **QUIET | {"loop_s": n * 1e-4}) for n in (1, 3))
    found = interference_facts([recorded(a_run(), [ok("group-by", 1.0, interference=nodes)])])
    assert found["processor speed (time of a fixed loop)"] == "0.200 ms"
    assert found["processor time of other processes"] == "2 %"


class TestWorkloadsOfWhichAllTrialsWereDisturbed:
    OTHERS = "n1: other processes took processor time (45 %, usually 20 %)"

    @staticmethod
    def counted(run: RecordedRun, needed: int | None = None) -> RecordedRun:
        trials, throughout = counted_trials(run.trials, needed)
        return replace(run, trials=trials, disturbed_throughout=throughout)

    def test_count_and_the_notes_say_so(self) -> None:
        busy = self.counted(run(disturbed=(self.OTHERS, SWAPPED), others_s=9.0))
        assert take_sample("group-by", [busy]).times_s == (11.0, 12.0)
        throughout, on_a_busy_machine = caveats([busy])
        assert throughout == (
            "all measured trials of a workload in a run were disturbed, and so they count: "
            "group-by (n1: other processes took processor time)"
        )
        assert on_a_busy_machine == (
            "measured on a busy machine: processor time of other processes was 45 %"
        )
        assert busy_line([run()]) is None

    @pytest.mark.parametrize("order", [1, -1])
    def test_have_the_same_note_in_any_order(self, order: int) -> None:
        names = ("group-by", "sha-512")[::order]
        trials = [ok(name, 1.0, disturbed=self.OTHERS) for name in names]
        [line] = caveats([self.counted(recorded(a_run(), trials))])
        assert line.endswith(": group-by, sha-512 (n1: other processes took processor time)")

    def test_differ_from_runs_that_were_not(self) -> None:
        busy = self.counted(run("2.5g", disturbed=(self.OTHERS,), others_s=9.0))
        lines = [each.describe("1g") for each in confounders(Sides(alone(run()), alone(busy)))]
        assert "processor time of other processes: 45 % here, 2 % in 1g" in lines

    def test_do_not_count_beside_an_undisturbed_trial(self) -> None:
        trials = (ok("group-by", 1.0), ok("group-by", 2.0, 2, disturbed=self.OTHERS))
        assert counted_trials(trials, None) == (trials, {})

    def test_count_beside_failures_and_the_note_says_so(self) -> None:
        trials = [failed("group-by"), ok("group-by", 2.0, 2, disturbed=self.OTHERS)]
        [line] = caveats([self.counted(recorded(a_run(), trials))])
        assert line.startswith(
            "all measured trials of a workload in a run were disturbed or failed, and"
        )

    def test_count_each_workload_for_itself(self) -> None:
        trials = [ok("group-by", 1.0), ok("sha-512", 2.0, disturbed=self.OTHERS)]
        counted, throughout = counted_trials(trials, None)
        assert [trial.counts for trial in counted] == [True, True]
        assert throughout == {"sha-512": self.OTHERS}

    def test_look_for_the_end_of_their_warm_up_again(self) -> None:
        found = self.counted(run(disturbed=(self.OTHERS,) * 9, others_s=9.0), needed=6)
        assert [trial.phase for trial in found.trials][:2] == [Phase.WARM_UP, Phase.MEASURED]
