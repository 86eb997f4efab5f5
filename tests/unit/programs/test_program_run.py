"""A run of a program: each execution is a trial of each of its workloads, and a failure is kept."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import BadInput, ToolError
from harness.commands.program import program_runs
from harness.experiments.making import make_runs
from harness.hosts.transports.host import Host, HostError
from harness.model.interface import HostLink
from harness.model.run import Ending, Phase, RecordedRun, Status
from harness.model.work import Work
from harness.node.machine import facts_by_node
from harness.node.node_links import node_facts
from harness.node.snapshot import NodeReading
from harness.programs import program_run as module
from harness.programs.hosts import Machines
from harness.programs.mpi import MpiJob, Placement
from harness.programs.planned_program import ProgramRun, on_first_hosts, series_of
from harness.programs.program import Achieved, Outcomes, Problem, Program
from harness.programs.program_run import run_program
from harness.records.reader import load
from tests.unit.builders import known
from tests.unit.probe_builders import a_link

HOSTS = tuple(Host(f"n{number}", f"10.0.0.{number}") for number in range(1, 5))


@dataclass(frozen=True)
class Solver(Program):
    """A program that solves something, beside a control, and is asked for its answer once."""

    size: int = 100

    name = "solver"
    about = "A solver."
    workloads = ("solve", "copy")
    controls = ("copy",)

    @property
    def executables(self) -> tuple[str, ...]:
        return ("solver",)

    def problem(self, placement: Placement, *, growing: bool) -> Problem:
        return {"size": self.size * (len(placement.hosts) if growing else 1)}

    def reference(self, problem: Problem, placement: Placement) -> MpiJob:
        return MpiJob(("solver", "alone"), Placement(placement.hosts[:1]))

    def job(self, problem: Problem, placement: Placement) -> MpiJob:
        return MpiJob(("solver",), placement)

    def outcomes(
        self, output: str, problem: Problem, processes: int, reference: str | None
    ) -> Outcomes:
        solved = Achieved(float(output), Work(1e9, "flop", {"dgemm": 1e10}))
        return {"solve": solved if reference == "right" else "wrong", "copy": Achieved(1.0)}


class Cluster:
    """Answers in place of hosts: `outputs` has the jobs' outputs, in order, or errors to raise."""

    def __init__(self) -> None:
        self.outputs: list[str | Exception | type[BaseException]] = []
        self.jobs: list[MpiJob] = []
        self.exchanged = 10**6
        self.stolen_s = 0.0
        self._readings = 0

    def run_mpi(self, job: MpiJob, timeout_s: float) -> str:
        assert timeout_s > 0
        self.jobs.append(job)
        if job.command == ("solver", "alone"):
            return "right"
        output = self.outputs.pop(0) if self.outputs else "0.5"
        if isinstance(output, str):
            return output
        raise output

    def read_counters(self, hosts: tuple[Host, ...]) -> dict[str, NodeReading]:
        self._readings += 1
        n = self._readings
        counters = {
            "clock_s": n * 10.0, "processors": 2, "busy_s": n * 5.0, "stolen_s": n * self.stolen_s
        }  # fmt: skip
        traffic = {"eth0": (n * self.exchanged, n * self.exchanged)}
        return {h.name: NodeReading(h.name, h.name, counters, traffic) for h in hosts}


FACTS = {"n1": {"kernel": "Linux 6.1"}, "n2": {"kernel": "Linux 6.1"}}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    monkeypatch.setattr(module, "run_mpi", found.run_mpi)
    monkeypatch.setattr(module, "read_counters", found.read_counters)
    monkeypatch.setattr(module, "read_links", lambda hosts: [a_link(host.name) for host in hosts])
    monkeypatch.setattr(
        module, "describe_hosts", lambda _: Machines(FACTS, "4", {"x": ["n1"]}, {"x": 2})
    )
    return found


def planned(hosts: int = 2, **fields: Any) -> ProgramRun:
    return ProgramRun(Solver(), Placement(HOSTS[:hosts]), "1g", **fields)


def made(tmp_path: Path, **fields: Any) -> RecordedRun:
    """Make a run, and return what its file says, which is what was returned."""
    returned = run_program(planned(**fields), tmp_path)
    assert returned == load(Path(returned.source))
    return returned


@pytest.mark.usefixtures("cluster")
class TestRun:
    def test_each_execution_is_a_trial_of_each_workload(self, tmp_path: Path) -> None:
        recorded = made(tmp_path, trials=2, warmup=1)
        assert [(t.workload, t.phase, t.round) for t in recorded.trials] == [
            (workload, phase, number)
            for phase, number in ((Phase.WARM_UP, 1), (Phase.MEASURED, 1), (Phase.MEASURED, 2))
            for workload in ("solve", "copy")
        ]
        assert recorded.ending is Ending.COMPLETED

    def test_the_run_describes_program_problem_hosts_and_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            "sys.argv", ["/bin/clusterlift", "program", "solver", "--fact=mtu=9000"]
        )
        run = made(tmp_path, facts={"mtu": "9000"}).run
        assert run.parameters["command"] == "clusterlift program solver --fact=mtu=9000"
        assert run.parameters["program"] == "solver"
        assert run.parameters["problem"] == {"size": 100}
        assert run.parameters["hosts"] == ["n1", "n2"]
        assert run.parameters["controls"] == ["copy"]
        assert run.facts == {"mtu": "9000", "nodes": "2"}
        links = {name: {"eth0": a_link(name)} for name in ("n1", "n2")}
        assert run.environment["nodes"] == node_facts(links)
        assert run.environment["mpi"] == "4"
        assert facts_by_node(run.environment) == FACTS

    def test_a_declared_peak_is_that_of_all_hosts_beside_the_measured_one(
        self, tmp_path: Path
    ) -> None:
        trial = made(tmp_path, host_peak=2e10).trials[0]
        assert known(trial.work).peaks == {"declared": 4e10, "dgemm": 1e10}

    def test_what_the_links_lost_meanwhile_is_known_at_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dropped = iter((3, 7))

        def read_links(hosts: tuple[Host, ...]) -> list[HostLink]:
            counters = {"rx_errors": 0, "rx_drops": next(dropped)}
            return [a_link(host.name, counters=counters) for host in hosts]

        monkeypatch.setattr(module, "read_links", read_links)
        assert made(tmp_path, hosts=1).link_errors == {"n1 eth0": {"errors": 0, "drops": 4}}


class TestFailure:
    @pytest.mark.parametrize("error", [ToolError("solver: no memory"), HostError("n2: gone")])
    def test_a_failed_trial_is_kept_and_the_next_one_follows(
        self, tmp_path: Path, cluster: Cluster, error: Exception
    ) -> None:
        cluster.outputs = [error, "0.25"]
        recorded = made(tmp_path, trials=2, warmup=0)
        line = f"{type(error).__name__}: {error}"
        assert [(t.workload, t.status, t.error) for t in recorded.trials] == [
            ("solve", Status.FAILED, line),
            ("copy", Status.FAILED, line),
            ("solve", Status.OK, None),
            ("copy", Status.OK, None),
        ]

    @pytest.mark.parametrize(
        ("exchanged", "error"),
        [
            (
                1000,
                "ToolError: n1 exchanged only 2,000 bytes over eth0: the messages took another network; ",
            ),
            (
                -1,
                "ToolError: n1: the counters of eth0 cannot be read, so nothing shows that the messages ",
            ),
        ],
    )
    def test_messages_over_another_network_are_a_failure(
        self, tmp_path: Path, cluster: Cluster, exchanged: int, error: str
    ) -> None:
        cluster.exchanged = exchanged
        [first, *_] = made(tmp_path, warmup=0).trials
        assert (first.error or "").startswith(error)

    @pytest.mark.usefixtures("cluster")
    def test_what_the_program_does_not_report_is_a_failure(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Solver, "outcomes", lambda *_: {"solve": Achieved(1.0)})
        trials = made(tmp_path, trials=1, warmup=0).trials
        assert [(t.workload, t.error) for t in trials] == [
            ("solve", None),
            ("copy", "solver did not report it"),
        ]

    @pytest.mark.usefixtures("cluster")
    def test_one_host_has_nobody_to_exchange_messages_with(
        self, tmp_path: Path, cluster: Cluster
    ) -> None:
        cluster.exchanged = 0
        assert all(t.status is Status.OK for t in made(tmp_path, hosts=1).trials)

    def test_a_hypervisor_that_takes_the_processors_disturbs_the_trial(
        self, tmp_path: Path, cluster: Cluster
    ) -> None:
        cluster.stolen_s = 5
        first, *_ = made(tmp_path).trials
        assert first.disturbed == "n2: the hypervisor took processor time (50 %, limit 5 %)"

    def test_a_wrong_answer_does_not_show_what_is_usual(
        self,
        tmp_path: Path,
        cluster: Cluster,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        cluster.stolen_s = 5
        answers = iter([*["wrong"] * 5, Achieved(1.0)])
        monkeypatch.setattr(
            Solver, "outcomes", lambda *_: dict.fromkeys(("solve", "copy"), next(answers))
        )
        made(tmp_path, trials=6, warmup=0)
        assert (
            "measured 6      1.000 s   disturbed (n2: the hypervisor took" in capfd.readouterr().err
        )

    def test_an_interrupt_keeps_what_was_measured(self, tmp_path: Path, cluster: Cluster) -> None:
        cluster.outputs = ["0.5", KeyboardInterrupt]
        recorded = made(tmp_path, trials=3, warmup=0)
        assert recorded.ending is Ending.INTERRUPTED
        assert len(recorded.trials) == 2


def make(every: Iterable[ProgramRun], runs: int, results: Path) -> list[RecordedRun]:
    """Make runs as `clusterlift program` does; return all that are recorded."""
    makers = {}
    for each in every:
        series = series_of(each, results)
        makers[series] = program_runs(series, each)
    with suppress(KeyboardInterrupt):
        make_runs(makers, runs)
    return [recorded for series in makers for recorded in series.recorded()]


class TestSeries:
    def test_numbers_of_hosts_take_turns_there_and_back(
        self, tmp_path: Path, cluster: Cluster
    ) -> None:
        every = on_first_hosts(planned(4, trials=1, warmup=0), (1, 2, 4))
        runs = make(every, 2, tmp_path)
        computed = [len(job.placement.hosts) for job in cluster.jobs if job.command == ("solver",)]
        assert sorted(computed[:3]) == [1, 2, 4]
        assert computed == computed[::-1]
        assert [each.run.configuration for each in runs] == [
            *("1g-n1", "1g-n1", "1g-n2", "1g-n2", "1g-n4", "1g-n4")
        ]

    def test_complete_runs_are_not_repeated_unless_something_else_is_asked_for(
        self, tmp_path: Path, cluster: Cluster
    ) -> None:
        make([planned(trials=1)], 2, tmp_path)
        before = len(cluster.jobs)
        make([planned(trials=1)], 2, tmp_path)
        assert len(cluster.jobs) == before
        make([planned(trials=2)], 1, tmp_path)
        assert len(cluster.jobs) > before

    def test_another_problem_under_the_same_name_is_refused_before_any_run(
        self, tmp_path: Path, cluster: Cluster
    ) -> None:
        """No table can pool them: only `compare` said so, after all runs."""
        make([planned(trials=1)], 1, tmp_path)
        before = len(cluster.jobs)
        with pytest.raises(BadInput, match=r"has problem size 100, .* have size 200, "):
            make([planned(trials=1, growing=True)], 1, tmp_path)
        assert len(cluster.jobs) == before

    def test_runs_beyond_those_that_are_wanted_stand_for_no_others(
        self, tmp_path: Path, cluster: Cluster, capsys: pytest.CaptureFixture[str]
    ) -> None:
        one, both = on_first_hosts(planned(trials=1, warmup=0), (1, 2))
        make([one], 3, tmp_path)
        assert "complete" not in capsys.readouterr().out
        make([one, both], 1, tmp_path)
        assert "1g-n1 has 3 complete runs with these arguments" in capsys.readouterr().out

    def test_an_interrupted_run_ends_the_series_and_is_made_again(
        self, tmp_path: Path, cluster: Cluster
    ) -> None:
        cluster.outputs = [KeyboardInterrupt]
        every = [planned(trials=1, warmup=0)]
        assert [each.ending for each in make(every, 2, tmp_path)] == [Ending.INTERRUPTED]
        endings = [each.ending for each in make(every, 2, tmp_path)]
        assert sorted(map(str, endings)) == ["completed", "completed", "interrupted"]

    def test_the_digest_depends_on_what_is_computed_and_where(self, tmp_path: Path) -> None:
        digests = {
            series_of(each, tmp_path).id
            for each in (planned(), planned(1), planned(growing=True), planned(trials=9))
        }
        assert len(digests) == 4
