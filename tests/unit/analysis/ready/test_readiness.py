"""Readiness of a baseline: each check by itself, the detectable changes, the page, and the command."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.ready.readiness import readiness
from harness.commands.cli import main
from harness.model.finding import Gravity
from harness.model.interference import ClusterInterference, NodeInterference
from harness.model.probe import ProbeRun
from harness.model.run import Ending, Phase, RecordedRun, Run, Trial
from harness.model.task_metrics import TaskMetrics
from harness.present import text
from harness.present.readiness_page import readiness_page
from harness.records.writer import record_all
from harness.statistics.power import detectable_change
from tests.unit.builders import GOLDEN, a_run, assert_golden, failed, in_runs, known, ok, recorded
from tests.unit.metrics_builders import task_metrics

SECONDS: Mapping[str, float] = {
    "group-by": 547.5,
    "repartition": 916.3,
    "sha-512": 921.2,
    "calc-pi-dataframe": 10.8,
}
DEVIATIONS = (-0.02, -0.01, 0.0, 0.005, 0.01, 0.03)
"""How far the trials of a run are from their median, as fractions of it."""

QUIET = (
    NodeInterference(
        "n1", duration_s=10.5, processors=2, loops=50, loop_s=0.001, busy_s=20.0, stolen_s=0.0
    ),
)
TASKS = task_metrics(slots=None, tasks=4, cpu_s=1.0, python_worker_s=None)
LINK = {"speed_mbit_s": 1000, "mtu_bytes": 1500, "driver": "r8169", "state": "up"}
ENVIRONMENT: Mapping[str, Any] = {
    "host": "10.0.0.1",
    "kernel": "Linux 6.1.0",
    "spark": "4.3.0",
    "java": "17.0.15",
    "executors": ["10.0.0.1", "10.0.0.2"],
    "links": {"eth0": LINK},
}
PARAMETERS: Mapping[str, Any] = {"controls": ["calc-pi-dataframe"], "not_requested": []}
DATASET: Mapping[str, Any] = {
    "uri": "qfs://10.0.0.1:20000/rows",
    "layout": {"requested": "rs:6+3:64k", "observed": "rs:6+3:64k", "drift": None},
}


def a_day(number: int) -> str:
    """Return when a run of this number, from 1, starts: none at the same time as another."""
    return f"2026-11-{20 + number}T13:42:13.000Z"


def baseline_run(number: int = 1, configuration: str = "1g-rs", **fields: Any) -> Run:
    usual: dict[str, Any] = {
        "workloads": tuple(SECONDS),
        "environment": ENVIRONMENT,
        "parameters": PARAMETERS,
        "dataset": DATASET,
        "started_at": a_day(number),
    }
    return a_run(configuration, f"run-{number}", **usual | fields)


def trials(
    deviations: Sequence[float] = DEVIATIONS,
    tasks: TaskMetrics | None = TASKS,
    interference: ClusterInterference | None = QUIET,
) -> list[Trial]:
    return [
        ok(workload, wall_s * (1 + deviation), round_, tasks=tasks, interference=interference)
        for workload, wall_s in SECONDS.items()
        for round_, deviation in enumerate(deviations, 1)
    ]


def shifted(by: float) -> list[float]:
    return [deviation + by for deviation in DEVIATIONS]


def a_column(*runs: RecordedRun) -> ConfigurationRuns:
    return ConfigurationRuns(runs[0].run.configuration, runs)


def of_runs(configuration: str = "1g-rs", **fields: Any) -> ConfigurationRuns:
    """Two complete runs with these fields, the second 1 % slower; everything else is ready."""
    runs = []
    for number in (1, 2):
        own = [
            replace(trial, started_at=a_day(number))
            for trial in trials(shifted(0.01 * (number - 1)))
        ]
        runs.append(recorded(baseline_run(number, configuration, **fields), own))
    return a_column(*runs)


def of_trials(*all_: Trial, ending: Ending | None = Ending.COMPLETED) -> ConfigurationRuns:
    """One run with these trials."""
    return a_column(recorded(baseline_run(), all_, ending))


def of_environments(*others: Mapping[str, str]) -> ConfigurationRuns:
    """One run for each of these additions to its environment."""
    runs = []
    for number, other in enumerate(others, 1):
        runs.append(recorded(baseline_run(number, environment=environment(**other)), trials()))
    return a_column(*runs)


def of_partitions(*numbers: str | None) -> ConfigurationRuns:
    """One run for each of these numbers, which its session set for group-by; None: it does not tell."""
    runs = []
    for number, partitions in enumerate(numbers, 1):
        properties = {"spark.sql.shuffle.partitions": partitions} if partitions else None
        group_by, *others = trials(DEVIATIONS[:1])
        own = [replace(group_by, properties=properties), *others]
        runs.append(recorded(baseline_run(number), own))
    return a_column(*runs)


def environment(**other: Any) -> dict[str, Any]:
    return {**ENVIRONMENT, **other}


def dataset(observed: str, drift: str | None = None, uri: str = "qfs://h:1/rows") -> dict[str, Any]:
    return {**DATASET, "uri": uri, "layout": {"observed": observed, "drift": drift}}


class TestANode:
    def test_that_did_not_answer_is_advice_and_its_disturbances_are_unknown(self) -> None:
        silent = [replace(trial, silent={"n2": "it crashed"}) for trial in trials()[:1]]
        checks = readiness(of_trials(*silent, *trials()[1:])).checks
        assert checks["nodes"].gravity is Gravity.NOTE
        assert "n2" in checks["nodes"].text
        assert "it crashed" in checks["nodes"].text
        assert checks["disturbances"].text.startswith("on n2; no other node")

    def test_that_could_not_be_described_is_missing(self) -> None:
        of_n2 = environment(silent={"n2": "no python3"})
        checks = readiness(of_runs(environment=of_n2)).checks
        assert checks["nodes"].gravity is Gravity.FAULT
        assert "no python3" in checks["nodes"].text

    @pytest.mark.parametrize(
        ("without", "nodes", "disturbances"),
        [
            (4, "in any trial", "what disturbed the trials is not recorded: an older version"),
            (
                3,
                "in 3 of 4 trials",
                "what disturbed 3 of 4 trials is not recorded; no other trial was",
            ),
            (
                1,
                "in 1 of 4 trials",
                "what disturbed 1 of 4 trials is not recorded; no other trial was",
            ),
        ],
    )
    def test_of_which_nothing_is_recorded_in_some_trials_is_unknown(
        self, without: int, nodes: str, disturbances: str
    ) -> None:
        """As in a run that an older version measured, beside one of this version."""
        silent = trials(DEVIATIONS[:1], interference=None)[:without]
        checks = readiness(of_trials(*silent, *trials(DEVIATIONS[:1])[without:])).checks
        assert checks["nodes"].gravity is Gravity.UNKNOWN
        assert checks["nodes"].text == f"nothing is recorded of the nodes {nodes}"
        assert checks["disturbances"].gravity is Gravity.UNKNOWN
        assert checks["disturbances"].text.startswith(disturbances)

    def test_of_which_a_failed_trial_says_nothing_answered_in_the_others(self) -> None:
        checks = readiness(of_trials(*trials(), failed("sha-512"))).checks
        assert checks["nodes"].gravity is Gravity.OK
        assert checks["disturbances"].gravity is Gravity.OK


class TestLinks:
    NODES: Mapping[str, Any] = {
        "10.0.0.9": {"eth0": LINK},
        "10.0.0.1": {"eth0": LINK},
        "10.0.0.2": {"eth0": {**LINK, "speed_mbit_s": None}},
    }

    def test_of_the_driver_say_nothing_of_the_executors(self) -> None:
        found = readiness(of_runs(environment=environment(nodes=self.NODES))).checks["links"]
        assert found.gravity is Gravity.FAULT
        assert found.text.startswith("unknown speed on 10.0.0.2;")

    def test_of_pods_with_a_network_of_their_own_are_unknown(self) -> None:
        pods = {"10.0.0.1": {"network": "pods"}, "10.0.0.2": {"network": "pods"}}
        in_pods = environment(nodes=self.NODES, pods=pods)
        found = readiness(of_runs(environment=in_pods)).checks["links"]
        assert found.gravity is Gravity.UNKNOWN
        assert "links of their nodes were not seen" in found.text
        declared = of_runs(environment=in_pods, facts={"link": "1gbit", "mtu": "1500"})
        assert readiness(declared).checks["links"].gravity is Gravity.OK


class TestTheLayout:
    KNOWN: Mapping[str, Any] = {"layout": "replicated:2"}
    UNKNOWN: Mapping[str, Any] = {"layout": "unknown"}

    @pytest.mark.parametrize(
        ("data", "tables", "gravity", "message"),
        [
            (DATASET, {}, Gravity.OK, "rs:6+3:64k, as in the manifest"),
            (None, {"t": KNOWN}, Gravity.OK, "tables: replicated:2"),
            (
                DATASET,
                {"t": KNOWN},
                Gravity.OK,
                "rs:6+3:64k, as in the manifest; tables: replicated:2",
            ),
            (None, {"t": UNKNOWN}, Gravity.UNKNOWN, "the storage of table t did not report it"),
            (
                None,
                {"t": UNKNOWN, "u": KNOWN},
                Gravity.UNKNOWN,
                "the storage of table t did not report it; tables: replicated:2",
            ),
            (
                None,
                {"t": {"layout": "replicated:2, unknown"}},
                Gravity.UNKNOWN,
                "the storage of table t did not report it; tables: replicated:2",
            ),
        ],
    )
    def test_of_tables_is_observed_and_in_no_manifest(
        self,
        data: Mapping[str, Any] | None,
        tables: Mapping[str, Any],
        gravity: Gravity,
        message: str,
    ) -> None:
        found = readiness(of_runs(dataset=data, parameters={**PARAMETERS, "tables": tables}))
        assert found.checks["layout"].gravity is gravity
        assert found.checks["layout"].text == message

    def test_of_tables_of_the_catalogue_is_not_recorded(self) -> None:
        queries = {**PARAMETERS, "queries": {"q1": "digest"}}
        found = readiness(of_runs(dataset=None, parameters=queries)).checks["layout"]
        assert found.gravity is Gravity.UNKNOWN
        assert found.text == "how the tables of the queries are stored is not recorded"

    def test_that_one_of_two_runs_did_not_report_is_unknown(self) -> None:
        reported = recorded(baseline_run(1), trials())
        unreported = recorded(baseline_run(2, dataset=dataset("unknown", uri="file:/d")), trials())
        found = readiness(a_column(reported, unreported)).checks["layout"]
        assert found.gravity is Gravity.UNKNOWN
        assert found.text == "file storage did not report it; rs:6+3:64k, as in the manifest"


def test_runs_at_the_same_time_are_advice() -> None:
    runs = [recorded(baseline_run(1), trials()), recorded(baseline_run(1), trials())]
    runs[1] = replace(runs[1], run=replace(runs[1].run, id="run-2"))
    checks = readiness(a_column(*runs)).checks
    assert checks["disturbances"].gravity is Gravity.NOTE
    assert "run-1 and run-2" in checks["disturbances"].text


class TestACompleteBaseline:
    def test_is_ready(self) -> None:
        checked = readiness(of_runs())
        assert {found.gravity for found in checked.checks.values()} == {Gravity.OK}
        assert checked.failed_checks == []

    @pytest.mark.parametrize(
        ("column", "links"),
        [
            (of_runs(), "eth0 with MTU 1500 at 1gbit"),
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
        ],
    )
    def test_may_have_its_links_observed_or_declared(
        self, column: ConfigurationRuns, links: str
    ) -> None:
        found = readiness(column).checks["links"]
        assert (found.gravity, found.text) == (Gravity.OK, links)


class TestMissing:
    """Beside what the page of a baseline with nearly everything missing has."""

    @pytest.mark.parametrize(
        ("check", "baseline", "message"),
        [
            (
                "runs",
                a_column(
                    recorded(baseline_run(1), [*trials(), ok("inner-join", 9.0)]),
                    recorded(baseline_run(2), trials()),
                ),
                "one run of inner-join: times differ from run to run",
            ),
            ("runs", of_trials(failed("group-by")), "no measured trial is ok"),
            ("task metrics", of_trials(failed("sha-512", "E: no")), "no trial has them"),
            (
                "facts",
                of_runs(facts={"layout": "replicated:2"}),
                "the fact is layout=replicated:2, but the run observed rs:6+3:64k",
            ),
            (
                "links",
                of_runs(
                    "before",
                    environment=environment(links={"eth0": {**LINK, "speed_mbit_s": None}}),
                ),
                "unknown speed; declare the rate and MTU of the links",
            ),
            (
                "layout",
                of_runs(dataset=dataset("rs:6+3:64k", drift="of 2 files, 1 lacks a stripe")),
                "not as in the manifest: of 2 files, 1 lacks a stripe",
            ),
        ],
    )
    def test_the_message_names_what_is_missing(
        self, check: str, baseline: ConfigurationRuns, message: str
    ) -> None:
        checked = readiness(baseline)
        assert check in checked.failed_checks
        assert message in checked.checks[check].text


class TestAdvice:
    """Beside that of the same page."""

    @pytest.mark.parametrize(
        ("check", "baseline", "message"),
        [
            (
                "workloads",
                of_runs(omitted={"calc-pi-arrow-udf": "needs pandas"}),
                "calc-pi-arrow-udf",
            ),
            (
                "task metrics",
                of_trials(*trials(), *trials(DEVIATIONS[:1], tasks=None)),
                "4 of 28 trials that count have none, or incomplete ones",
            ),
            (
                "task metrics",
                of_trials(*trials(), *trials(DEVIATIONS[:1], replace(TASKS, incomplete="cut off"))),
                "4 of 28 trials that count have none, or incomplete ones",
            ),
            ("endings", of_trials(*trials(), ending=Ending.INTERRUPTED), "did not finish"),
            (
                "confounders",
                of_environments({}, {"spark": "4.2.0"}),
                "its runs differ in Spark version",
            ),
            (
                "confounders",
                of_environments({}, {"governor": "powersave"}, {"governor": "performance"}),
                "its runs differ in governor",
            ),
            *(
                (
                    "confounders",
                    of_partitions(*numbers),
                    "its runs differ in spark.sql.shuffle.partitions of group-by",
                )
                for numbers in [("200", "400"), (None, "200", "400"), ("200", None, "400")]
            ),
            (
                "layout",
                of_runs(dataset=dataset("unknown", uri="file:/data")),
                "file storage did not report it",
            ),
            ("layout", of_runs(dataset=None), "no run recorded that it read data"),
            ("confounders", of_runs(environment={}), "nothing is recorded about the machines"),
        ],
    )
    def test_the_check_does_not_fail(
        self, check: str, baseline: ConfigurationRuns, message: str
    ) -> None:
        found = readiness(baseline).checks[check]
        assert found.gravity in {Gravity.NOTE, Gravity.UNKNOWN}
        assert message in found.text


class TestSensitivity:
    def test_each_workload_has_one_for_as_many_runs_after_the_change(self) -> None:
        runs = [
            recorded(baseline_run(number), trials(shifted(shift)))
            for number, shift in enumerate((-0.01, 0.0, 0.01))
        ]
        changes = readiness(a_column(*runs)).detectable
        assert [found.workload for found in changes] == list(SECONDS)
        for found in changes:
            assert found.runs == 3
            assert found.noise == pytest.approx(stdev(DEVIATIONS), rel=0.02)
            assert found.run_sd == pytest.approx(0.01, rel=0.02)
            assert found.min_change == detectable_change(known(found.run_sd), 3, len(SECONDS))

    def test_a_single_run_detects_nothing(self) -> None:
        [found] = readiness(of_trials(ok("group-by", 1.0))).detectable
        assert (found.runs, found.run_sd, found.min_change) == (1, None, None)

    def test_warm_up_and_failed_trials_do_not_count(self) -> None:
        ignored = [ok("sha-512", 9e9, phase=Phase.WARM_UP), failed("sha-512")]
        expected = readiness(in_runs(of_trials(*trials()))).detectable
        assert readiness(in_runs(of_trials(*trials(), *ignored))).detectable == expected
        assert all(found.min_change is not None for found in expected)


class TestDisturbances:
    def test_of_few_trials_are_an_advice(self) -> None:
        disturbed = replace(trials()[0], round=99, disturbed="n2: it swapped (12 MB/s, usually 0)")
        found = readiness(of_trials(*trials(), disturbed)).checks["disturbances"]
        assert found.gravity is Gravity.NOTE
        assert found.text == (
            "1 of 25 measured trials was disturbed and does not count: n2: it swapped (1)"
        )

    def test_throughout_are_an_advice_too(self) -> None:
        run = replace(
            recorded(baseline_run(), trials()), disturbed_throughout={"sha-512": "n2: ..."}
        )
        found = readiness(a_column(run)).checks["disturbances"]
        assert found.gravity is Gravity.NOTE
        assert found.text.endswith("and so they count: sha-512 (n2: ...)")

    def test_and_failures_are_unknown_without_a_trial(self) -> None:
        checks = readiness(of_trials()).checks
        for name in ("disturbances", "failures"):
            assert checks[name].gravity is Gravity.UNKNOWN
            assert checks[name].text == "there is no measured trial that counts"


class TestThePage:
    def test_of_a_complete_baseline(self) -> None:
        assert_golden("ready.txt", text.render(readiness_page(readiness(of_runs()))))

    def test_of_a_baseline_with_nearly_everything_missing(self) -> None:
        hostile = "1g-2x \x1b[31m" + "and so on " * 8
        run = baseline_run(1, hostile, parameters={"not_requested": ["inner-join"]}, environment={})
        times = [
            *trials(DEVIATIONS[:2], tasks=None, interference=None),
            failed("group-by", "E: " + "word " * 40),
        ]
        assert_golden(
            "ready-not.txt",
            text.render(readiness_page(readiness(a_column(recorded(run, times, None))))),
        )

    def test_fits_a_terminal(self) -> None:
        for name in ("ready.txt", "ready-not.txt"):
            assert all(len(line) <= 100 for line in (GOLDEN / name).read_text().splitlines())


class TestTheCommand:
    @pytest.fixture
    def results(self, tmp_path: Path) -> Path:
        for configuration, tasks in (("1g-rs", TASKS), ("old", None)):
            for number in (1, 2):
                record_all(tmp_path, baseline_run(number, configuration), trials(tasks=tasks))
        return tmp_path

    @pytest.mark.parametrize(
        ("names", "code"),
        [(["1g-rs"], 0), (["old"], 1), (["1g-rs", "old"], 1), (["absent"], 2), ([], 2)],
    )
    def test_its_exit_code_is_0_only_if_every_baseline_is_ready(
        self, results: Path, names: list[str], code: int
    ) -> None:
        assert main(["ready", "--allow-no-probes", *names, "--results", str(results)]) == code

    @pytest.mark.parametrize(
        ("contents", "option", "code", "line"),
        [
            (None, (), 1, "network fault no probe measured it"),
            (None, ("--allow-no-probes",), 0, "network note no probe measured it"),
            ("", (), 1, "network fault the probes cannot be read"),
            ("garbage\n", ("--allow-no-probes",), 1, "network fault the probes cannot be read"),
        ],
    )
    def test_what_no_probe_shows_of_the_old_network_is_missing(
        self,
        contents: str | None,
        option: Sequence[str],
        code: int,
        line: str,
        results: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        if contents is not None:
            (results / "1g-rs/probes").mkdir()
            (results / "1g-rs/probes/x.jsonl").write_text(contents)
        assert main(["ready", "1g-rs", *option, "--results", str(results)]) == code
        printed = " ".join(capsys.readouterr().out.split())
        assert line in printed
        assert ("NOT READY: network" in printed) == bool(code)

    def test_a_probe_that_measured_nothing_is_none(self, results: Path) -> None:
        record_all(results, ProbeRun("1g-rs", ("n1",)), [])
        assert main(["ready", "1g-rs", "--results", str(results)]) == 1
