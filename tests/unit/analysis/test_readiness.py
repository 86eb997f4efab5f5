"""Whether a baseline is fit to be compared with: each thing that may lack, and the whole page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.analysis.column import ConfigurationRuns
from harness.analysis.readiness import readiness
from harness.analysis.readiness_checks import Standing
from harness.cli import main
from harness.model.run import Ending, Phase, RecordedRun, Run, Trial
from harness.model.task_metrics import TaskMetrics, TaskTime
from harness.present.readiness import render
from harness.records.writer import Recording
from harness.statistics.power import detectable_change
from tests.unit.builders import GOLDEN, a_run, assert_golden, failed, ok, recorded

SECONDS: Mapping[str, float] = {
    "group-by": 547.5,
    "repartition": 916.3,
    "sha-512": 921.2,
    "calc-pi-dataframe": 10.8,
}
SHARES = (-0.02, -0.01, 0.0, 0.005, 0.01, 0.03)
"""By which the trials of a run lie beside the median."""

TASKS = TaskMetrics(
    tasks=4,
    failed_tasks=0,
    killed_tasks=0,
    speculative_tasks=0,
    time=TaskTime(0, 1, 0, None, 0, 0, 0, 0),
    slots=None,
    gc_share=None,
    stragglers=None,
    simulation=None,
    tasks_by_locality={},
    input_bytes_by_locality={},
    output_bytes=0,
    shuffle_local_bytes=0,
    shuffle_remote_bytes=0,
    shuffle_written_bytes=0,
    memory_spilled_bytes=0,
    disk_spilled_bytes=0,
    peak_execution_memory_bytes=0,
)
LINK = {"speed_mbit_s": 1000, "mtu_bytes": 1500, "driver": "r8169", "state": "up"}
ENVIRONMENT: Mapping[str, Any] = {
    "kernel": "Linux 6.1.0",
    "spark": "4.3.0",
    "java": "17.0.15",
    "executors": ["10.0.0.1", "10.0.0.2"],
    "links": {"eth0": LINK},
}
PARAMETERS: Mapping[str, Any] = {
    "controls": ["calc-pi-dataframe"],
    "content_checked": True,
    "not_requested": [],
}
DATASET: Mapping[str, Any] = {
    "uri": "qfs://10.0.0.1:20000/rows",
    "layout": {"requested": "rs:6+3:64k", "observed": "rs:6+3:64k", "drift": None},
}


def baseline_run(number: int = 1, configuration: str = "1g-rs", **fields: Any) -> Run:
    known = {"environment": ENVIRONMENT, "parameters": PARAMETERS, "dataset": DATASET}
    return a_run(configuration, f"run-{number}", **{"workloads": tuple(SECONDS)} | known | fields)


def trials(shares: Sequence[float] = SHARES, tasks: TaskMetrics | None = TASKS) -> list[Trial]:
    return [
        ok(workload, wall_s * (1 + share), round_, tasks=tasks)
        for workload, wall_s in SECONDS.items()
        for round_, share in enumerate(shares, 1)
    ]


def a_column(*runs: RecordedRun) -> ConfigurationRuns:
    return ConfigurationRuns(runs[0].run.configuration, runs)


def of_runs(configuration: str = "1g-rs", **fields: Any) -> ConfigurationRuns:
    """Two runs that have this in common, and lack nothing else."""
    return a_column(
        *(recorded(baseline_run(number, configuration, **fields), trials()) for number in (1, 2))
    )


def of_trials(*all_: Trial, ending: Ending | None = Ending.COMPLETED) -> ConfigurationRuns:
    """One run of these trials."""
    return a_column(recorded(baseline_run(), all_, ending))


def environment(**other: Any) -> dict[str, Any]:
    return {**ENVIRONMENT, **other}


def dataset(observed: str, drift: str | None = None, uri: str = "qfs://h:1/rows") -> dict[str, Any]:
    return {**DATASET, "uri": uri, "layout": {"observed": observed, "drift": drift}}


class TestAWholeBaseline:
    def test_lacks_nothing(self) -> None:
        looked_at = readiness(of_runs())
        assert {found.standing for found in looked_at.findings.values()} == {Standing.OK}
        assert looked_at.missing == ()

    @pytest.mark.parametrize(
        ("column", "links"),
        [
            (of_runs(), "eth0 with MTU 1500 at 1000 Mbit/s"),
            (
                of_runs(
                    "before", environment=environment(links={}), facts={"link": "1g", "mtu": "1500"}
                ),
                "link=1g, mtu=1500",
            ),
            (
                of_runs("1g", facts={"emulated": "4 nodes", "link": "100mbit", "mtu": "1500"}),
                "link=100mbit, mtu=1500, the emulated links with MTU 1500",
            ),
            (
                of_runs(environment=environment(links={"eth0": {**LINK, "speed_mbit_s": None}})),
                "eth0 with MTU 1500, 1000 Mbit/s by its name",
            ),
        ],
    )
    def test_may_have_its_links_observed_or_declared(
        self, column: ConfigurationRuns, links: str
    ) -> None:
        found = readiness(column).findings["links"]
        assert (found.standing, found.said) == (Standing.OK, links)


class TestWhatLacks:
    @pytest.mark.parametrize(
        ("what", "column", "said"),
        [
            ("runs", of_trials(*trials(), ending=None), "run-1 did not come to the end"),
            ("runs", of_trials(*trials(), ending=Ending.INTERRUPTED), "did not come to the end"),
            (
                "trials",
                of_trials(*trials(SHARES[:4])),
                "4 a workload: with fewer than 5 no change is significant in a table of 4 workloads",
            ),
            (
                "trials",
                of_trials(*trials(), ok("inner-join", 9.0)),
                "1 of inner-join: with fewer than 5 no change is significant",
            ),
            ("trials", of_trials(failed("group-by")), "none was ok"),
            (
                "failures",
                of_trials(*trials(), failed("sha-512", "OSError: disk gone")),
                "1 trial failed, first sha-512 with OSError: disk gone",
            ),
            (
                "controls",
                of_runs(parameters={**PARAMETERS, "controls": []}),
                "none: nobody will be able to tell the network from the machine",
            ),
            ("task metrics", of_trials(*trials(tasks=None)), "no trial has them"),
            (
                "name and facts",
                of_runs("1g-2x"),
                "the name 1g-2x says replicated:2, but observed was rs:6+3:64k",
            ),
            (
                "links",
                of_runs(
                    "before",
                    environment=environment(links={"eth0": {**LINK, "speed_mbit_s": None}}),
                ),
                "speed of no link that is up is known",
            ),
            ("links", of_runs(environment=environment(links={})), "MTU of no link that is up is"),
            ("environment", of_runs(environment=environment(kernel=None)), "kernel not known"),
            ("environment", of_runs(environment={}), "kernel, Spark, Java, executors not known"),
            (
                "layout",
                of_runs(dataset=dataset("rs:6+3:64k", drift="of 2 files, 1 lacks a stripe")),
                "not as the manifest says: of 2 files, 1 lacks a stripe",
            ),
            ("layout", of_runs(dataset=dataset("unknown")), "qfs did not say how the data lies"),
        ],
    )
    def test_is_said_with_what_to_do(self, what: str, column: ConfigurationRuns, said: str) -> None:
        looked_at = readiness(column)
        assert what in looked_at.missing
        assert said in looked_at.findings[what].said


class TestWhatIsAdvised:
    @pytest.mark.parametrize(
        ("what", "column", "said"),
        [
            (
                "workloads",
                of_runs(parameters={**PARAMETERS, "not_requested": ["inner-join"]}),
                "without inner-join: after the upgrade it is too late for them",
            ),
            (
                "workloads",
                of_runs(omitted={"calc-pi-arrow-udf": "needs pandas"}),
                "calc-pi-arrow-udf",
            ),
            (
                "task metrics",
                of_trials(*trials(), *trials(SHARES[:1], tasks=None)),
                "4 of 28 trials lack them, or some of them",
            ),
            (
                "task metrics",
                of_trials(*trials(), *trials(SHARES[:1], replace(TASKS, incomplete="cut off"))),
                "4 of 28 trials lack them, or some of them",
            ),
            (
                "circumstances",
                a_column(
                    recorded(baseline_run(1), trials()),
                    recorded(baseline_run(2, environment=environment(spark="4.2.0")), trials()),
                ),
                "its runs differ in Spark version",
            ),
            (
                "layout",
                of_runs(dataset=dataset("unknown", uri="file:/data")),
                "file does not say how it keeps the data",
            ),
            ("layout", of_runs(dataset=None), "no run says that it read data"),
            (
                "content",
                of_runs(parameters={**PARAMETERS, "content_checked": False}),
                "run-1, run-2 did not hold the rows against their digest",
            ),
            ("submissions", of_trials(*trials()), "all trials are of one spark-submit"),
        ],
    )
    def test_does_not_make_it_unfit(self, what: str, column: ConfigurationRuns, said: str) -> None:
        found = readiness(column).findings[what]
        assert found.standing is Standing.ADVICE
        assert said in found.said


class TestProspects:
    def test_are_of_every_workload_with_as_many_trials_after(self) -> None:
        prospects = readiness(of_runs()).prospects
        assert [one.workload for one in prospects] == list(SECONDS)
        for one in prospects:
            assert one.n == 12
            # Half of the trials are within 1 % of the median: 1.4826 x 0.01 x 12 / 11.2.
            assert one.noise == pytest.approx(0.0159, rel=0.01)
            assert one.least_change == detectable_change(one.noise or 0, 12, len(SECONDS))

    def test_are_unknown_of_a_noise_that_is(self) -> None:
        [one] = readiness(of_trials(ok("group-by", 1.0))).prospects
        assert (one.n, one.noise, one.least_change) == (1, None, None)

    def test_are_none_where_no_change_can_be_found(self) -> None:
        whole = [ok("group-by", time_s) for time_s in (1.0, 1.1, 1.2, 1.3, 1.4)]
        others = [ok(f"other-{number}", 1.0) for number in range(20)]
        one, *_ = readiness(of_trials(*whole, *others)).prospects
        assert one.noise is not None
        assert one.least_change is None

    def test_leave_warm_up_and_failed_trials_alone(self) -> None:
        odd = [ok("sha-512", 9e9, phase=Phase.WARM_UP), failed("sha-512")]
        usual = readiness(of_trials(*trials())).prospects
        assert readiness(of_trials(*trials(), *odd)).prospects == usual


class TestThePage:
    def test_of_a_whole_baseline(self) -> None:
        assert_golden("ready.txt", render(readiness(of_runs())))

    def test_of_one_that_lacks_nearly_everything(self) -> None:
        hostile = "1g-2x \x1b[31m" + "and so on " * 8
        run = baseline_run(1, hostile, parameters={"not_requested": ["inner-join"]}, environment={})
        times = [*trials(SHARES[:2], tasks=None), failed("group-by", "E: " + "word " * 40)]
        assert_golden("ready-not.txt", render(readiness(a_column(recorded(run, times, None)))))

    def test_fits_a_terminal(self) -> None:
        for name in ("ready.txt", "ready-not.txt"):
            assert all(len(line) <= 100 for line in (GOLDEN / name).read_text().splitlines())


class TestTheCommand:
    @pytest.fixture
    def results(self, tmp_path: Path) -> Path:
        for configuration, tasks in (("1g-rs", TASKS), ("old", None)):
            for number in (1, 2):
                with Recording(tmp_path, baseline_run(number, configuration)) as recording:
                    for trial in trials(tasks=tasks):
                        recording.trial(trial)
                    recording.end(Ending.COMPLETED)
        return tmp_path

    @pytest.mark.parametrize(
        ("names", "code"),
        [(["1g-rs"], 0), (["old"], 1), (["1g-rs", "old"], 1), (["absent"], 2), ([], 2)],
    )
    def test_tells_by_its_exit_code(self, results: Path, names: list[str], code: int) -> None:
        assert main(["ready", *names, "--results", str(results)]) == code

    def test_prints_a_page_for_each(
        self, results: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        main(["ready", "1g-rs", str(results / "old" / "run-1.jsonl"), "--results", str(results)])
        printed = capsys.readouterr().out
        assert "\nREADY: " in printed
        assert printed.endswith("NOT READY: task metrics\n")
