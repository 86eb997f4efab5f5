"""`clusterlift power` computes how many runs a change needs, from assumed noise or from earlier runs."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from harness.cli import main
from harness.model.run import Ending
from harness.records.writer import Recording
from tests.unit.builders import STARTED_AT, a_run, ok

START = datetime.fromisoformat(STARTED_AT)
TRIALS = (9.9, 10.0, 10.0, 10.1, 10.2, 9.8)


def power(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["power", *arguments]) == 0
    return capsys.readouterr().out


def runs_of(printed: str) -> dict[str, str]:
    """Return the last column of the table, by workload."""
    rows = [re.split(r"  +", line) for line in printed.partition("\n\n")[0].splitlines()[2:]]
    return {row[0]: row[-1] for row in rows}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the single line with which the arguments are refused."""
    assert main(["power", *arguments]) == 2
    printed = capsys.readouterr()
    [line] = printed.err.splitlines()
    assert printed.out == ""
    return line


def record(
    results: Path,
    factors: tuple[float, ...],
    before_trials_s: float = 60,
    configuration: str = "1g",
    *,
    in_turns: bool = False,
) -> None:
    """Record runs of three workloads, of which one differs; rounds of 20 s begin after a while."""
    for number, factor in enumerate(factors, 1):
        run = a_run(configuration, f"{configuration}-{number}")
        if in_turns:
            facts = {"master": "local", "application": f"application-{number}"}
            run = replace(run, environment={**run.environment, **facts})
        with Recording(results, run) as recording:
            for round_, time_s in enumerate(TRIALS, 1):
                starts = START + timedelta(seconds=before_trials_s + 20 * (round_ - 1))
                for name, its_factor in (("differs", factor), ("same", 1.0), ("also-same", 1.0)):
                    trial = ok(name, time_s * its_factor, round_)
                    recording.trial(replace(trial, started_at=starts.isoformat()))
            recording.end(Ending.COMPLETED)


class TestFromAssumedNoise:
    def test_a_smaller_change_needs_more_runs(self, capsys: pytest.CaptureFixture[str]) -> None:
        runs = [
            int(runs_of(power(capsys, "--change", change, "--noise", "2%"))["each workload"])
            for change in ("10%", "5%", "3%")
        ]
        assert runs == sorted(set(runs))
        assert runs[0] >= 2

    @pytest.mark.parametrize(
        ("option", "less", "more"),
        [
            ("--noise", "1%", "10%"),
            ("--between", "1%", "5%"),
            ("--workloads", "1", "40"),
            ("--configurations", "1", "9"),
            ("--power", "50%", "99%"),
            ("--trials", "100", "1"),
        ],
    )
    def test_what_makes_it_harder_needs_more_runs(
        self, option: str, less: str, more: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        options = {"--change": "5%", "--noise": "6%", "--between": "2%"}
        easy, hard = (
            power(capsys, *[word for pair in (options | {option: value}).items() for word in pair])
            for value in (less, more)
        )
        assert int(runs_of(easy)["each workload"]) < int(runs_of(hard)["each workload"])

    def test_it_names_change_power_and_table(self, capsys: pytest.CaptureFixture[str]) -> None:
        printed = power(capsys, "--change", "5%", "--noise", "2%", "--workloads", "1")
        runs = runs_of(printed)["each workload"]
        assert " ".join(printed.split()).endswith(
            f"{runs} runs on either side detect a change of 5.0 % of any workload in 90 % of cases, in a "
            "table of 1 comparison."
        )

    def test_a_change_far_below_the_noise_gets_no_number(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        printed = power(capsys, "--change", "0.1%", "--noise", "5%")
        assert runs_of(printed) == {"each workload": "> 200"}
        assert "More than 200 runs would be needed" in printed

    @pytest.mark.parametrize("change", ["0%", "5x", "100%", "-1%"])
    def test_an_invalid_percentage_is_refused(
        self, change: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert "'--change'" in refused(capsys, "--change", change, "--noise", "2%")

    def test_without_runs_the_noise_is_needed(self, capsys: pytest.CaptureFixture[str]) -> None:
        line = refused(capsys, "--change", "5%")
        assert line.endswith("power needs RUNS of the baseline, or --noise")


class TestFromEarlierRuns:
    @pytest.mark.parametrize(
        "option", [("--noise", "2%"), ("--between", "2%"), ("--trials", "6"), ("--workloads", "9")]
    )
    def test_what_they_show_cannot_be_assumed(
        self, option: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        record(tmp_path, (1, 1.02))
        line = refused(capsys, "1g", "--change", "5%", *option, "--results", str(tmp_path))
        assert (
            "--trials, --workloads and --turns have no effect beside RUNS, which show all" in line
        )

    def test_those_that_took_turns_show_how_many_configurations_there_are(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        line = refused(capsys, "1g", "2g", "--change", "5%", "--configurations", "3")
        assert line.endswith("--configurations has no effect beside several RUNS, which show it")

    def test_each_workload_gets_the_number_for_its_own_noise(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        record(tmp_path, (0.95, 1, 1.02, 1.06))
        runs = runs_of(power(capsys, "1g", "--change", "5%", "--results", str(tmp_path)))
        assert int(runs["differs"]) > int(runs["same"]) >= 2

    def test_a_single_run_is_planned_with_what_is_usual_and_says_so(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        record(tmp_path, (1,))
        printed = power(capsys, "1g", "--change", "5%", "--results", str(tmp_path))
        assert "A single run does not show how much runs differ" in " ".join(printed.split())
        [row] = [line.split() for line in printed.splitlines() if line.startswith("differs")]
        assert row[2] == "unknown"
        assert "trials a run make the best use" not in " ".join(printed.split())

    def test_the_noise_of_single_trials_is_unknown_and_no_assumption_looks_measured(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for number, factor in enumerate((0.97, 1, 1.03)):
            with Recording(tmp_path, a_run("1g", f"1g-{number}", workloads=("w",))) as recording:
                recording.trial(ok("w", 10 * factor))
                recording.end(Ending.COMPLETED)
        for command, deviations in (
            (("power", "--change", "5%"), ["unknown", "unknown", "1"]),
            (("ready",), ["3", "unknown", "3.0%"]),
            (("noise",), ["unknown", "3.0%"]),
        ):
            main([*command, "1g", "--results", str(tmp_path)])
            printed = capsys.readouterr().out
            [row] = [line.split() for line in printed.splitlines() if line.startswith("w ")]
            assert row[1 : 1 + len(deviations)] == deviations

    def test_runs_that_take_long_to_start_are_worth_more_trials(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        advised = []
        for number, before_trials_s in enumerate((30, 3000)):
            results = tmp_path / str(number)
            record(results, (0.97, 1, 1.03), before_trials_s)
            printed = power(capsys, "1g", "--change", "5%", "--results", str(results))
            [trials] = re.findall(r"about (\d+) trials? a run", " ".join(printed.split()))
            advised.append(int(trials))
        assert 1 <= advised[0] < advised[1]

    def test_without_a_measured_trial_they_are_refused(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with Recording(tmp_path, a_run("1g")) as recording:
            recording.end(Ending.COMPLETED)
        line = refused(capsys, "1g", "--change", "5%", "--results", str(tmp_path))
        assert line.endswith("'1g' has no measured trial; run jobs/benchmark.py")


class TestTurns:
    """Configurations that take turns in each application."""

    def test_they_need_fewer_of_it_if_applications_differ(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        applications = (0.8, 1, 1.1, 1.3)
        record(tmp_path, applications, in_turns=True)
        record(
            tmp_path, tuple(each * 1.01 for each in applications), configuration="2g", in_turns=True
        )
        options = ("--change", "5%", "--results", str(tmp_path))
        alone, in_turns = power(capsys, "1g", *options), power(capsys, "1g", "2g", *options)
        assert runs_of(alone)["differs"] == "> 200"
        assert int(runs_of(in_turns)["differs"]) < 20
        assert "applications, in each of which the configurations take turns, detect" in " ".join(
            in_turns.split()
        )

    def test_that_were_not_taken_are_refused(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        record(tmp_path, (1, 1.02))
        record(tmp_path, (1, 1.02), configuration="2g")
        line = refused(capsys, "1g", "2g", "--change", "5%", "--results", str(tmp_path))
        assert line.endswith(
            "'1g' and '2g' did not take turns in the same applications, two or more: name the baseline alone"
        )

    def test_a_configuration_takes_none_with_itself(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        record(tmp_path, (1, 1.02), in_turns=True)
        line = refused(capsys, "1g", "1g", "--change", "5%", "--results", str(tmp_path))
        assert "is given twice; name it once" in line

    def test_can_be_assumed(self, capsys: pytest.CaptureFixture[str]) -> None:
        options = ("--change", "5%", "--noise", "3%", "--between", "1%")
        alone, in_turns = power(capsys, *options), power(capsys, *options, "--turns")
        # With the same deviations, a side of one's own would add degrees of freedom.
        assert int(runs_of(in_turns)["each workload"]) >= int(runs_of(alone)["each workload"])
        assert "take turns" in in_turns
