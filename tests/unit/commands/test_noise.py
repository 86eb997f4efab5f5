"""`clusterlift noise` compares identical runs with each other in all ways."""

import re
from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import pytest

from harness.analysis.compare import identical_runs as analysis
from harness.analysis.compare.identical_runs import MAX_PAIRS, IdenticalRuns, identical_runs
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.cli import main
from harness.model.run import Ending, RecordedRun
from harness.present.identical_runs import render
from harness.records.writer import Recording
from tests.unit.builders import a_run, failed, ok, recorded

NAMES = ("group-by", "inner-join", "repartition", "calc-pi", "sha-512-cached")
CONTROLS = ["calc-pi", "sha-512-cached"]
RUN_SD, TRIAL_SD, TRIALS = 0.02, 0.03, 6


def runs(number: int, seed: int = 1) -> list[RecordedRun]:
    """Return simulated runs that differ by 2 %, of six trials that differ by 3 %."""
    random = np.random.default_rng(seed)
    found = []
    for n in range(number):
        factors = np.exp(RUN_SD * random.standard_normal(len(NAMES)))
        trials = [
            ok(name, 10 * factor * float(np.exp(TRIAL_SD * random.standard_normal())), round_)
            for round_ in range(1, TRIALS + 1)
            for name, factor in zip(NAMES, factors.tolist(), strict=True)
        ]
        run = a_run("1g", f"run-{n}", parameters={"controls": CONTROLS}, workloads=NAMES)
        found.append(recorded(run, trials))
    return found


def configuration(number: int, seed: int = 1) -> ConfigurationRuns:
    return ConfigurationRuns("1g", tuple(runs(number, seed)))


@cache
def of_twelve() -> IdenticalRuns:
    """Return what twelve runs show; to compare them takes seconds."""
    return identical_runs(configuration(12))


def record(results: Path, number: int) -> None:
    for each in runs(number):
        with Recording(results, each.run) as recording:
            for trial in each.trials:
                recording.trial(trial)
            recording.end(Ending.COMPLETED)


def refused(results: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the single line with which `aa` refuses the runs."""
    assert main(["noise", "1g", "--results", str(results)]) == 2
    printed = capsys.readouterr()
    [line] = printed.err.splitlines()
    assert printed.out == ""
    return line


class TestIdenticalRuns:
    def test_are_split_in_all_ways_into_two_equal_sides(self) -> None:
        found = identical_runs(configuration(6)).pairs
        assert [(pairs.runs, pairs.pairs) for pairs in found] == [
            (size, comb(6, size) * comb(6 - size, size) // 2) for size in (1, 2, 3)
        ]

    def test_of_three_there_are_only_pairs_of_single_runs_which_claim_nothing(self) -> None:
        [single] = identical_runs(configuration(3)).pairs
        assert (single.runs, single.pairs) == (1, 3)
        assert (single.claims, single.alarms) == (None, None)

    def test_differ_by_an_unknown_amount_without_a_workload_in_common(self) -> None:
        others = [
            recorded(each.run, [t for t in each.trials if t.workload == name])
            for each, name in zip(runs(2), NAMES, strict=False)
        ]
        found = identical_runs(ConfigurationRuns("1g", tuple(others)))
        assert found.pairs[0].most_differ is None
        assert re.search(r"^1 +1 +- +- +-$", render(found), re.MULTILINE)

    def test_differ_less_the_more_runs_are_on_either_side(self) -> None:
        single, two, three = of_twelve().pairs
        assert single.most_differ > two.most_differ > three.most_differ > 0

    def test_are_claimed_to_differ_about_as_often_as_promised(self) -> None:
        # The splits of the same twelve runs have much in common, so the limit is generous.
        of_seeds = [identical_runs(configuration(8, seed)).pairs[1] for seed in range(4)]
        assert np.mean([pairs.claims for pairs in of_seeds]) <= 0.1
        assert np.mean([pairs.alarms for pairs in of_seeds]) <= 0.1

    def test_show_how_much_trials_and_runs_vary(self) -> None:
        for variation in of_twelve().variations:
            assert variation.is_control == (variation.workload in CONTROLS)
            assert variation.trials_sd == pytest.approx(TRIAL_SD, rel=0.3)
            expected = (RUN_SD**2 + np.pi / 2 * TRIAL_SD**2 / TRIALS) ** 0.5
            assert variation.runs_sd == pytest.approx(expected, rel=0.4)

    def test_one_run_that_differs_in_all_is_an_alarm(self) -> None:
        slow = [
            recorded(
                each.run,
                [ok(t.workload, (t.wall_s or 0) * factor, t.round) for t in each.trials],
            )
            for each, factor in zip(runs(6), (1, 1, 1, 2, 2, 2), strict=True)
        ]
        [*_, three] = identical_runs(ConfigurationRuns("1g", tuple(slow))).pairs
        # Of ten splits into three and three, a single one has all slow runs on one side.
        assert (three.claims, three.alarms) == (0.1, 0.1)

    def test_very_many_are_compared_in_a_random_selection(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(analysis, "MAX_PAIRS", 50)
        first, again = (identical_runs(configuration(40)).pairs for _ in range(2))
        assert [pairs.pairs for pairs in first] == [50] * 3
        assert first == again
        assert MAX_PAIRS > 50

    def test_a_workload_that_some_runs_lack_is_compared_where_it_is(self) -> None:
        whole = runs(4)
        partial = recorded(whole[0].run, [t for t in whole[0].trials if t.workload != "group-by"])
        found = identical_runs(ConfigurationRuns("1g", (partial, *whole[1:])))
        assert "group-by" in [variation.workload for variation in found.variations]
        assert [pairs.pairs for pairs in found.pairs] == [6, 3]


class TestTheCommand:
    def test_prints_variation_and_claims(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        record(tmp_path, 12)
        assert main(["noise", "1g", "--results", str(tmp_path)]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith("1g, 12 runs. Standard deviations")
        assert all(len(line) <= 100 for line in printed.splitlines())
        rows = [re.split(r"  +", line.strip()) for line in printed.splitlines()]
        assert [row[-1] == "control" for row in rows if row[0] in NAMES] == [
            name in CONTROLS for name in NAMES
        ]
        sizes = {row[0]: row for row in rows if row[0] in ("1", "2", "3")}
        assert [row[1] for row in sizes.values()] == ["66", "1485", "2000"]
        assert sizes["1"][2:4] == ["-", "-"]
        assert all(row[2].endswith("%") for number, row in sizes.items() if number != "1")

    def test_a_single_run_is_refused(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        record(tmp_path, 1)
        assert refused(tmp_path, capsys).endswith(
            "'1g' has a single run; make several identical ones, such as `make aa RUNS=12`"
        )

    def test_runs_without_a_time_are_refused(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for number in (1, 2):
            with Recording(tmp_path, a_run("1g", f"run-{number}")) as recording:
                recording.trial(failed("group-by"))
                recording.end(Ending.COMPLETED)
        assert "'1g' has fewer than 2 runs with a measured trial" in refused(tmp_path, capsys)
