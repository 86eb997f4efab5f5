"""`clusterlift run`, tested with a spark-submit that records a run without Spark."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from datagen.manifest import FILE_NAME
from harness.commands.cli import main
from harness.model.run import Ending
from harness.records.directories import results_files
from harness.records.reader import load
from harness.records.writer import record_all
from harness.submit.submission import SPARK_OPTIONS
from harness.work.queries import text_digest
from jobs.options import _parser, parse
from tests.refusal import refusal
from tests.tracked import ROOT
from tests.unit.builders import a_run
from tests.unit.commands.fake_spark import FakeSpark
from tests.waiting import PATIENCE_S, eventually


def endings(directory: str = "results/default") -> list[str]:
    """Return how the runs ended, sorted: names of files of the same second have no order."""
    return sorted(str(load(file).ending) for file in results_files(Path(directory)))


def lines(text: str) -> list[str]:
    return text.splitlines()


class TestCommandLine:
    def test_options_of_spark_submit_come_before_the_script_and_all_others_after_it(
        self, spark: FakeSpark
    ) -> None:
        given = "--trials 6 --master spark://h:7077 --dataset d --conf a=b --fact x=y --conf=c=d"
        assert main(["run", "--runs", "1", *given.split()]) == 0
        assert spark.calls() == [
            [
                *("--master", "spark://h:7077", "--conf", "a=b", "--conf", "c=d"),
                str(ROOT / "jobs/benchmark.py"),
                *("--trials", "6", "--dataset", "d", "--fact", "x=y"),
            ]
        ]

    def test_two_dashes_may_separate_them(self, spark: FakeSpark) -> None:
        script = ["--trials", "3", "--skip-content-check"]
        assert main(["run", "--runs=1", "--conf", "a=b", "--", *script]) == 0
        assert spark.calls()[0][-4:] == [str(ROOT / "jobs/benchmark.py"), *script]

    def test_the_help_of_the_script_is_behind_two_dashes(self, spark: FakeSpark) -> None:
        main(["run", "--", "--help"])
        assert spark.calls() == [[str(ROOT / "jobs/benchmark.py"), "--help"]]

    def test_no_option_of_the_script_is_one_of_spark_submit(self) -> None:
        own = {option for action in _parser()._actions for option in action.option_strings}
        assert not own & SPARK_OPTIONS

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--runs", "0"], "Invalid value for '--runs': 0 is not in the range 1<=x<=1000"),
            (["--master"], "--master needs a value"),
            (["--trials", "few"], "--trials: 'few' is not a whole number"),
            (["--results"], "--results: expected one argument"),
            (["--", "--configuration"], "--configuration: expected one argument"),
            (
                ["--runs", "2", "--minutes", "5"],
                "--runs fixes what --minutes and --precision decide: give one of them",
            ),
        ],
    )
    def test_a_mistake_is_one_line(
        self,
        arguments: list[str],
        message: str,
        spark: FakeSpark,
    ) -> None:
        assert refusal("run", *arguments).startswith(message)
        assert spark.calls() == []

    def test_work_that_no_table_could_pool_is_refused_before_any_run(
        self, spark: FakeSpark
    ) -> None:
        """As `bench` does: `compare` said so after hours of runs, which spoilt the configuration."""
        record_all(Path("results"), a_run("1g", parameters={"sink": "noop"}), [])
        refused = refusal("run", "--configuration", "1g", "--sink", "rdd-count")
        assert "has sink noop, and new runs would have rdd-count" in refused
        Path("results/1g").rename("results/old")
        refused = refusal("run", "--configuration", "old")
        assert "has configuration 1g, and new runs would have old" in refused
        assert main(["run", "--configuration", "1g", "--runs", "1"]) == 0
        assert len(spark.calls()) == 1

    @pytest.mark.parametrize("prefix", ["", "file:", "file://"])
    @pytest.mark.parametrize(
        ("manifest", "refused"),
        [
            ({"digest": "b", "format": "csv"}, "has dataset digest a, and new runs would have b"),
            (
                {"digest": "a", "format": "parquet"},
                "has format of the dataset csv, and new runs would have parquet",
            ),
            ({"digest": "a", "format": "csv"}, None),
            ({}, None),
            ([], None),
            (None, None),
        ],
    )
    def test_runs_of_another_dataset_on_this_machine_are_refused(
        self, spark: FakeSpark, prefix: str, manifest: Any, refused: str | None
    ) -> None:
        dataset = {"uri": "file:/d", "layout": {}, "digest": "a", "format": "csv"}
        record_all(Path("results"), a_run("1g", dataset=dataset), [])
        data = Path("rows").absolute()
        data.mkdir()
        if manifest is not None:
            (data / FILE_NAME).write_text(json.dumps(manifest))
        command = ("run", "--runs", "1", "--configuration", "1g", "--dataset", f"{prefix}{data}")
        if refused is None:
            assert main(list(command)) == 0
        else:
            assert refused in refusal(*command)
        assert len(spark.calls()) == (refused is None)

    def test_a_path_that_leads_elsewhere_is_not_looked_at_on_this_machine(
        self, spark: FakeSpark
    ) -> None:
        dataset = {"uri": "hdfs://n/d", "layout": {}, "digest": "a", "format": "csv"}
        record_all(Path("results"), a_run("1g", dataset=dataset), [])
        Path("rows").mkdir()
        Path("rows", FILE_NAME).write_text(json.dumps({"digest": "b"}))
        conf = ("--conf", "spark.hadoop.fs.defaultFS=hdfs://n")
        path = str(Path("rows").absolute())
        command = ("run", "--runs", "1", *conf, "--configuration", "1g", "--dataset", path)
        assert main(list(command)) == 0

    def test_runs_of_another_text_of_a_query_are_others(self, spark: FakeSpark) -> None:
        Path("q").mkdir()
        query = Path("q/q1.sql")
        query.write_text("SELECT 1")
        command = ["run", "--runs", "1", "--sql", "q"]
        assert main(command) == main(command) == 0
        assert len(spark.calls()) == 1
        query.write_text("SELECT 2")
        assert main(command) == 0
        assert len(spark.calls()) == 2  # the run of the other text is none of these
        recorded = a_run("1g", parameters={"queries": {"q1": text_digest("SELECT 1")}})
        record_all(Path("results"), recorded, [])
        refused = refusal(*command, "--configuration=1g")
        assert "has the text of q1 e004ebd5b553" in refused


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--deploy-mode=cluster", "use --deploy-mode client"),
        ("--conf=spark.submit.deployMode=cluster", "use --deploy-mode client"),
        ("--remote=sc://h", "Spark Connect gives no access to the driver's JVM"),
    ],
)
def test_the_driver_runs_here(option: str, message: str, spark: FakeSpark) -> None:
    assert message in refusal("run", "--master", "yarn", option)
    assert spark.calls() == []


def in_background(spark: FakeSpark, *arguments: str) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, and wait until a run of it waits."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=os.setpgrp,
    )
    eventually(spark.is_waiting)
    return process


class TestRuns:
    def run(self, *arguments: str) -> int:
        return main(["run", *arguments])

    def test_each_is_an_application_of_its_own(
        self, spark: FakeSpark, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert self.run("--trials", "6") == 0
        assert endings() == ["completed"] * 3
        assert len(spark.calls()) == 3
        first, second, third = lines(capfd.readouterr().err)
        assert first == "default, run 1 of 3"
        assert second.startswith("default, run 2 of 3; about ")
        assert third.endswith(" left")

    def test_complete_ones_are_not_repeated(
        self, spark: FakeSpark, capfd: pytest.CaptureFixture[str]
    ) -> None:
        self.run("--configuration", "1g")
        capfd.readouterr()
        assert self.run("--configuration=1g") == 0
        assert len(spark.calls()) == 3
        expected = "1g has 3 complete runs with these arguments; for one more: --runs 4\n"
        assert capfd.readouterr() == (expected, "")
        assert self.run("--runs", "4", "--configuration=1g") == 0
        assert len(spark.calls()) == 4

    def test_each_has_a_seed_of_its_own_that_one_in_its_place_has_too(
        self, spark: FakeSpark
    ) -> None:
        spark.plan("complete", "lost")
        self.run("--runs", "2")
        self.run("--runs", "3")
        self.run("--runs", "1", "--seed", "7")
        *seeds, other = spark.seeds()
        series = seeds[0].removesuffix("-1")
        assert seeds == [f"{series}-{number}" for number in (1, 2, 2, 3)]
        assert other == "7-1"

    def test_a_file_system_of_this_machine_may_have_another_port(
        self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for uri in ("hdfs://127.0.0.1:1234", "hdfs://127.0.0.1:5678"):
            monkeypatch.setenv("CLUSTERLIFT_FS", uri)
            assert self.run("--runs", "2", "--dataset", f"{uri}/rows") == 0
        assert len(spark.calls()) == 2

    def test_after_a_failed_trial_the_others_follow(self, spark: FakeSpark) -> None:
        spark.plan("failed")
        assert self.run() == 1
        assert endings() == ["completed"] * 3

    def test_a_run_whose_trials_all_failed_does_not_count(self, spark: FakeSpark) -> None:
        spark.plan("failed")
        assert [self.run("--runs", "1"), self.run("--runs", "1")] == [1, 0]
        assert len(spark.calls()) == 2

    def test_after_a_lost_spark_the_others_follow_and_the_same_command_makes_another(
        self, spark: FakeSpark, capfd: pytest.CaptureFixture[str]
    ) -> None:
        spark.plan("complete", "lost")
        assert self.run() == 1
        assert (
            "error: 1 run of 3 ended early, or all their trials failed: the reasons are above"
            in capfd.readouterr().err
        )
        [lost] = [f for f in results_files(Path("results/default")) if not is_complete(f)]
        assert self.run() == 0
        errors = lines(capfd.readouterr().err)
        assert errors == [
            f"{lost} ended early, or all its trials failed: it does not count as a run",
            "default, run 3 of 3",
        ]
        assert len(spark.calls()) == 4

    def test_a_refused_run_is_the_last(
        self, spark: FakeSpark, capfd: pytest.CaptureFixture[str]
    ) -> None:
        spark.plan("complete", "refused")
        assert self.run() == 2
        assert len(spark.calls()) == 2
        assert capfd.readouterr().out == "benchmark.py: error: no\n"

    def test_so_is_one_that_a_signal_ended(
        self, spark: FakeSpark, capfd: pytest.CaptureFixture[str]
    ) -> None:
        spark.plan("killed")
        assert self.run() == 130
        assert lines(capfd.readouterr().err)[1:] == [
            "the same command continues",
            "clusterlift: error: interrupted",
        ]
        assert endings() == ["None"]

    @pytest.mark.usefixtures("spark")
    def test_a_results_file_that_cannot_be_read_is_named_before_any_run(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        broken = Path("results/default/x.jsonl")
        broken.parent.mkdir(parents=True)
        broken.write_text("{}\n")
        assert self.run() == 2
        assert str(broken) in capfd.readouterr().err


def is_complete(file: Path) -> bool:
    return load(file).ending is Ending.COMPLETED


class TestSignals:
    def start(self, spark: FakeSpark) -> subprocess.Popen[str]:
        """Start a command, and wait until its second run waits."""
        spark.plan("complete", "wait")
        return in_background(spark, "run", "--trials", "6")

    @pytest.mark.parametrize(
        ("number", "send"),
        [
            (signal.SIGINT, os.killpg),  # as a terminal does at Ctrl-C
            (signal.SIGINT, os.kill),
            (signal.SIGTERM, os.kill),
            (signal.SIGHUP, os.kill),
        ],
    )
    def test_a_signal_ends_the_run_and_the_same_command_continues(
        self, number: signal.Signals, send: Callable[[int, int], None], spark: FakeSpark
    ) -> None:
        process = self.start(spark)
        send(process.pid, number)
        _, error = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert lines(error)[-2:] == [
            "the same command continues",
            "clusterlift: error: interrupted",
        ]
        assert endings() == ["completed", "interrupted"]
        assert main(["run", "--trials", "6"]) == 0
        assert endings() == ["completed"] * 3 + ["interrupted"]

    def test_kill_9_interrupts_the_run(self, spark: FakeSpark) -> None:
        process = self.start(spark)
        process.kill()
        process.communicate(timeout=PATIENCE_S)
        eventually(lambda: endings() == ["completed", "interrupted"], "the run goes on")

    def test_a_run_in_the_background_of_a_shell_can_be_interrupted(self, spark: FakeSpark) -> None:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            process = self.start(spark)
        finally:
            signal.signal(signal.SIGINT, before)
        process.terminate()
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert endings() == ["completed", "interrupted"]


class TestTime:
    """Only runs take time: each as long as a test says."""

    def test_the_first_run_shows_how_many_fit_and_the_last_one_has_what_is_left(
        self, spark: FakeSpark, take: Callable[[float], None], capfd: pytest.CaptureFixture[str]
    ) -> None:
        take(90)
        assert main(["run", "--minutes", "5"]) == 0
        assert spark.parts() == [0, 0, 4]
        assert lines(capfd.readouterr().err) == [
            "default, run 1 of 3 or more; 5 min 00 s left",
            "default, run 2 of about 3; 3 min 30 s left",
            "default, run 3 of about 3; 2 min 00 s left",
            "3 runs: 30 s left, and one takes 1 min 30 s",
        ]

    def test_a_dataset_that_a_run_of_the_series_proved_is_named_to_the_next(
        self, spark: FakeSpark, take: Callable[[float], None]
    ) -> None:
        take(90)
        assert (
            main(["run", "--minutes", "3"]) == main(["run", "--minutes", "3", "--sink=noop"]) == 0
        )
        assert (spark.home / "proven").read_text().splitlines() == [
            *("", "f1", "f1"),
            *("", "f1", "f1"),
        ]

    def test_the_same_command_adds_runs(
        self, spark: FakeSpark, take: Callable[[float], None]
    ) -> None:
        main(["run", "--runs", "2"])
        assert spark.parts() == [None, None]
        take(40)
        assert main(["run", "--minutes", "1"]) == 0
        assert spark.parts() == [None, None, 0]

    def test_ends_when_every_time_is_as_precise_as_asked(
        self, spark: FakeSpark, take: Callable[[float], None], capfd: pytest.CaptureFixture[str]
    ) -> None:
        """All trials of these runs take a second; the clock and the scheduler cause a millisecond."""
        take(60)
        assert main(["run", "--precision", "3%"]) == 0
        assert len(spark.calls()) == 3
        assert lines(capfd.readouterr().err)[-1] == (
            "every time is known to ±1% or better; w is known least well"
        )

    def test_ends_with_the_time_if_no_precision_is_reached(
        self, spark: FakeSpark, take: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        take(60)
        monkeypatch.setattr("harness.analysis.compare.comparison.widest", lambda _: ("w", 0.05))
        assert main(["run", "--precision", "3%", "--minutes", "4"]) == 0
        assert len(spark.calls()) == 4

    def test_of_several_series_each_has_its_part(
        self, spark: FakeSpark, take: Callable[[float], None]
    ) -> None:
        take(150)
        given = "--nodes 1,2 --executor-cores 4 --dataset rows-{nodes}"
        assert main(["run", "--minutes", "15", *given.split()]) == 0
        assert spark.parts() == [0, 0, 0, 0, 5, 5]

    def test_a_series_that_an_interrupted_turn_left_out_comes_first(
        self, spark: FakeSpark, take: Callable[[float], None]
    ) -> None:
        take(40)
        spark.plan("complete", "killed")
        given = ["run", "--minutes", "1", "--nodes", "1,2", "--executor-cores", "4"]
        assert main(given) == 130
        assert main(given) == 0
        assert [call[-1][-1] for call in spark.calls()] == list("1222112")

    def test_a_run_whose_trials_all_failed_is_the_last(
        self, spark: FakeSpark, capfd: pytest.CaptureFixture[str]
    ) -> None:
        spark.plan("failed")
        assert main(["run", "--minutes", "1"]) == 1
        assert "the run ended early, or all its trials failed" in capfd.readouterr().err
        assert len(spark.calls()) == 1


class TestNumbersOfNodes:
    GIVEN = "--master spark://h:7077 --executor-cores 4 --dataset rows-{nodes} --configuration 1g"

    def test_each_number_is_a_configuration_of_its_own_in_turns(self, spark: FakeSpark) -> None:
        assert main(["run", "--runs", "2", "--nodes", "1,2", *self.GIVEN.split()]) == 0
        assert endings("results/1g-n1") == endings("results/1g-n2") == ["completed"] * 2
        scripts = [call[call.index(str(ROOT / "jobs/benchmark.py")) :] for call in spark.calls()]
        assert [parse(script[1:]).nodes for script in scripts] == [1, 2, 2, 1]
        assert [parse(script[1:]).dataset for script in scripts] == [
            *("rows-1", "rows-2", "rows-2", "rows-1")
        ]

    def test_executors_have_all_cores_of_so_many_nodes(self, spark: FakeSpark) -> None:
        assert main(["run", "--runs", "1", "--nodes", "3", *self.GIVEN.split()]) == 0
        [call] = spark.calls()
        options = list(pairwise(call))
        assert ("--conf", "spark.cores.max=12") in options
        assert ("--conf", "spark.executor.instances=3") in options

    @pytest.mark.parametrize("given", ["", "--executor-cores x"])
    def test_without_the_cores_of_a_node_it_says_what_to_give(
        self, given: str, spark: FakeSpark
    ) -> None:
        refused = refusal("run", "--nodes", "1,2", *given.split())
        assert "--nodes needs --executor-cores: the cores of a node" in refused
        assert not spark.calls()
