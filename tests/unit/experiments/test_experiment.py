"""An experiment file is read strictly; the experiment is run in turns, and goes on where it was cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.experiments import runs as conducting
from harness.experiments.experiment import SINKS, Experiment, read_experiment
from harness.experiments.runs import ExperimentOutcome, run_experiment, steps, steps_done
from harness.lab.cluster import Node
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import Link
from harness.model.probe import ProbeRun, RecordedProbes
from harness.model.run import Ending, new_run_id
from harness.probes.session import ProbePlan
from harness.records.writer import ProbeRecording, Recording
from jobs import sinks
from tests.unit.builders import a_run, failed, ok

ROOT = Path(__file__).parents[3]
TEXT = """
name = "upgrade"
nodes = 3
rounds = 2
trials = 4
workloads = ["group-by"]

[datasets.coded]
rows = 1000
layout = "xor:2+1"

[datasets.plain]
rows = 1000

[configurations.slow]
rate = "100mbit"
dataset = "coded"

[configurations.fast]
rate = "250mbit"
mtu = 9000
dataset = "coded"
"""


def experiment(tmp_path: Path, text: str = TEXT) -> Experiment:
    file = tmp_path / "experiment.toml"
    file.write_text(text)
    return read_experiment(file)


class TestReading:
    def test_what_it_says(self, tmp_path: Path) -> None:
        read = experiment(tmp_path)
        assert str(read.shape) == "3 workers of 0.5 processors, hdfs"
        assert (read.rounds, read.trials, read.warmup) == (2, 4, 1)
        slow, fast = read.configurations
        assert (slow.link, fast.link) == (Link(10**8, 1500), Link(25 * 10**7, 9000))
        assert [data.name for data in read.datasets] == ["coded"]  # nobody uses the other
        assert read.workloads == ("group-by",)
        assert read.sink is None

    @pytest.mark.parametrize("file", sorted((ROOT / "docker/experiments").glob("*.toml")), ids=str)
    def test_those_that_come_along(self, file: Path) -> None:
        assert read_experiment(file).name == file.stem

    @pytest.mark.parametrize(
        ("old", "new", "told"),
        [
            ('name = "upgrade"', "", "name is missing"),
            ('name = "upgrade"', 'name = "../up"', "name has letters"),
            ('name = "upgrade"', "name = 3", "name: Expected `str`, got `int`"),
            ("nodes = 3", 'nodes = "3"', "nodes: Expected `int`, got `str`"),
            ("nodes = 3", "nodes = 0", "nodes is 1 or more"),
            ("nodes = 3", 'sink = "drain"', "sink is noop or rdd-count"),
            ('["group-by"]', "[1]", "workloads: Expected `str`, got `int`"),
            ("rounds = 2", "rounds = 0", "rounds is 1 or more"),
            ("trials = 4", "trails = 4", "unknown key trails"),
            ("rows = 1000\nlayout", "layout", "datasets.coded: rows is missing"),
            ('"100mbit"', '"fast"', "rate 'fast' is not a rate"),
            ("mtu = 9000", "mtu = 9001", "mtu is from 576 to 9000"),
            ("mtu = 9000", "mtoo = 9000", "configurations.fast: unknown key mtoo"),
            ('dataset = "coded"\n', 'dataset = "codec"\n', "dataset is one of coded, plain"),
            ("nodes = 3", 'storage = "s3"', "storage is hdfs or qfs"),
            (
                "[configurations.fast]",
                "[configurations.slow.x]",
                "configurations has to have 2 tables or more",
            ),
            ("nodes = 3", "nodes = ", "Invalid value"),
        ],
    )
    def test_a_mistake_is_named(self, tmp_path: Path, old: str, new: str, told: str) -> None:
        assert old in TEXT
        with pytest.raises(BadInput, match=r"experiment\.toml[:,] ") as failure:
            experiment(tmp_path, TEXT.replace(old, new, 1))
        assert told in str(failure.value)

    def test_the_sinks_are_the_benchmark_s(self) -> None:
        assert set(SINKS) == set(sinks.SINKS)

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"nowhere.toml: No such file"):
            read_experiment(tmp_path / "nowhere.toml")

    def test_more_of_the_same_is_the_same_experiment(self, tmp_path: Path) -> None:
        one = experiment(tmp_path)
        more = experiment(tmp_path, TEXT.replace("rounds = 2", "rounds = 3"))
        other = experiment(tmp_path, TEXT.replace("rows = 1000", "rows = 1001", 1))
        assert one.digest == more.digest != other.digest


DONE = ExperimentOutcome(("slow", "fast"), (), failed=False)


class FakeLab:
    """Takes links and submissions; writes results as the benchmark would."""

    linked: Sequence[str] = ()
    workers: Sequence[Node] = ()
    storage = "hdfs"

    def __init__(self, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.results = results
        self.done: list[tuple[str, ...]] = []
        self.facts: list[dict[str, str]] = []
        self.codes = {"datagen/generate.py": 0, "jobs/benchmark.py": 0}
        self.trial = ok("group-by", 1.0)
        self.interrupt_after: int | None = None
        self.interrupt_probe = False
        self.crashes: set[tuple[str, ...]] = set()
        for name, fake in {
            "up": lambda shape, _bytes=0: self.done.append(("up", str(shape))),
            "running_lab": lambda: self,
            "set_links": lambda _, change: self.done.append(("link", str(change(Link(1, 1500))))),
            "spark_submit": self.submit,
            "run_probes": self.probe,
            "status": SimpleNamespace(
                facts=lambda _: {"emulated": "yes"}, uri=lambda _: "hdfs://m"
            ),
        }.items():
            monkeypatch.setattr(conducting, name, fake)

    def submit(self, _: object, script: str, arguments: Sequence[str]) -> int:
        if script == "datagen/generate.py":
            self.done.append(("generate", *arguments))
            return self.codes[script]
        options = dict(zip(arguments[::2], arguments[1::2], strict=False))
        facts = dict(one.removeprefix("--fact=").split("=", 1) for one in arguments if "=" in one)
        self.facts.append(facts)
        turn = (options["--configuration"], facts["round"])
        self.done.append(("run", *turn))
        if turn in self.crashes:
            return 1
        interrupted = self.interrupt_after == len(self.ran())
        with Recording(self.results, a_run(turn[0], new_run_id(), facts=facts)) as recording:
            recording.trial(self.trial)
            recording.end(Ending.INTERRUPTED if interrupted else Ending.COMPLETED)
        return 130 if interrupted else self.codes[script]

    def probe(self, _: ProbePlan, run: ProbeRun, results: Path) -> RecordedProbes:
        self.done.append(("probe", run.configuration, run.facts["round"]))
        with ProbeRecording(run, results) as recording:
            recording.end(Ending.INTERRUPTED if self.interrupt_probe else Ending.COMPLETED)
            return recording.probed

    def ran(self) -> list[tuple[str, ...]]:
        return [what[1:] for what in self.done if what[0] == "run"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results/upgrade"


@pytest.fixture
def lab(results: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLab:
    return FakeLab(results, monkeypatch)


class TestConduct:
    def test_there_and_back_again(self, tmp_path: Path, lab: FakeLab, results: Path) -> None:
        assert run_experiment(experiment(tmp_path), results) == DONE
        whole = [("up", "3 workers of 0.5 processors, hdfs")]
        assert lab.done == [
            *whole,
            ("link", "unshaped, MTU 1500"),
            (
                *("generate", "hdfs://m/upgrade/coded", "--rows", "1000", "--format", "csv"),
                *("--reuse", "--layout", "xor:2+1"),
            ),
            *whole,
            ("link", "100mbit, MTU 1500"),
            ("run", "slow", "1"),
            *whole,
            ("link", "250mbit, MTU 9000"),
            ("run", "fast", "1"),
            *whole,
            ("link", "250mbit, MTU 9000"),
            ("run", "fast", "2"),
            *whole,
            ("link", "100mbit, MTU 1500"),
            ("run", "slow", "2"),
        ]

    def test_a_run_says_what_it_is_of(self, tmp_path: Path, lab: FakeLab, results: Path) -> None:
        read = experiment(tmp_path, TEXT.replace('"coded"\n\n[', '"plain"\n\n['))
        run_experiment(read, results)
        slow, fast, *_ = lab.facts
        assert slow == {"emulated": "yes", "experiment": read.digest, "round": "1"}
        assert fast == slow | {"layout": "xor:2+1"}

    def test_what_is_done_is_not_done_again(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        lab.interrupt_after = 2
        with pytest.raises(KeyboardInterrupt):
            run_experiment(experiment(tmp_path), results)
        lab.interrupt_after = None
        lab.done.clear()
        assert run_experiment(experiment(tmp_path), results) == DONE
        assert lab.ran() == [("fast", "1"), ("fast", "2"), ("slow", "2")]
        lab.done.clear()
        assert run_experiment(experiment(tmp_path), results) == DONE
        assert lab.done == []

    def test_more_rounds_add_to_what_is_there(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        run_experiment(experiment(tmp_path), results)
        lab.done.clear()
        run_experiment(experiment(tmp_path, TEXT.replace("rounds = 2", "rounds = 3")), results)
        assert lab.ran() == [("slow", "3"), ("fast", "3")]

    def test_results_of_another_experiment_are_left_alone(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        run_experiment(experiment(tmp_path), results)
        with pytest.raises(BadInput, match="is not of this experiment as it is now; move"):
            run_experiment(experiment(tmp_path, TEXT.replace("100mbit", "50mbit")), results)

    def test_the_optional_options_are_passed_on(
        self, tmp_path: Path, lab: FakeLab, results: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        submitted: list[Sequence[str]] = []

        def submit(lab_: object, script: str, arguments: Sequence[str]) -> int:
            submitted.append(arguments)
            return lab.submit(lab_, script, arguments)

        monkeypatch.setattr(conducting, "spark_submit", submit)
        run_experiment(
            experiment(tmp_path, f'sink = "rdd-count"\nrepartition = 16\n{TEXT}'), results
        )
        assert {"--sink", "rdd-count", "--repartition", "16"} < set(submitted[-1])
        assert "--pi-samples" not in submitted[-1]

    def test_the_network_is_probed_before_each_run_if_that_is_asked_for(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        probing = experiment(tmp_path, f"probe_seconds = 1\n{TEXT}")
        assert run_experiment(probing, results) == DONE
        turns = [what for what in lab.done if what[0] in {"probe", "run"}]
        assert turns[:2] == [("probe", "slow", "1"), ("run", "slow", "1")]
        assert len(turns) == 8
        lab.done.clear()
        assert run_experiment(probing, results) == DONE
        assert lab.done == []

    def test_runs_that_are_there_already_are_not_run_again_for_want_of_probes(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        run_experiment(experiment(tmp_path), results)
        lab.done.clear()
        run_experiment(experiment(tmp_path, f"probe_seconds = 1\n{TEXT}"), results)
        assert lab.ran() == []
        assert [what[1:] for what in lab.done if what[0] == "probe"] == [
            *(("slow", "1"), ("fast", "1"), ("fast", "2"), ("slow", "2"))
        ]

    def test_interrupted_probes_are_made_again(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        probing = experiment(tmp_path, f"probe_seconds = 1\n{TEXT}")
        lab.interrupt_probe = True
        with pytest.raises(KeyboardInterrupt):
            run_experiment(probing, results)
        assert lab.ran() == []
        lab.interrupt_probe = False
        assert run_experiment(probing, results) == DONE

    def test_data_that_is_not_proven_stops_it(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        lab.codes["datagen/generate.py"] = 1
        with pytest.raises(ClusterliftError, match="data coded was not made"):
            run_experiment(experiment(tmp_path), results)
        assert lab.ran() == []

    def test_a_failed_trial_does_not_stop_it_and_is_told(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        lab.codes["jobs/benchmark.py"] = 1
        lab.trial = failed("group-by")
        assert run_experiment(experiment(tmp_path), results) == replace(DONE, failed=True)
        assert len(lab.ran()) == 4
        assert run_experiment(experiment(tmp_path), results) == replace(DONE, failed=True)
        assert len(lab.ran()) == 4

    def test_a_benchmark_that_died_is_not_taken_for_done(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        lab.crashes = {("slow", "1"), ("fast", "2")}
        outcome = run_experiment(experiment(tmp_path), results)
        assert outcome.measured == ("slow", "fast")
        assert list(map(str, outcome.undone)) == ["slow, round 1", "fast, round 2"]
        assert len(lab.ran()) == 4
        lab.crashes.clear()
        lab.done.clear()
        assert run_experiment(experiment(tmp_path), results) == DONE
        assert lab.ran() == [("slow", "1"), ("fast", "2")]

    def test_a_refused_benchmark_stops_it(
        self, tmp_path: Path, lab: FakeLab, results: Path
    ) -> None:
        lab.codes["jobs/benchmark.py"] = 2
        with pytest.raises(ClusterliftError, match=r"slow, round 1: benchmark.py refused"):
            run_experiment(experiment(tmp_path), results)

    def test_nothing_is_done_before_it_starts(self, tmp_path: Path, results: Path) -> None:
        read = experiment(tmp_path)
        assert steps_done(read, results) == {}
        assert len(list(steps(read))) == 4
