"""Experiment files are read strictly; configurations run alternately, and experiments can be resumed."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Literal, get_args, get_origin

import msgspec
import pytest

from datagen.manifest import Format
from harness.base.errors import BadInput, ClusterliftError
from harness.experiments import runs
from harness.experiments.done import ExperimentOutcome
from harness.experiments.experiment import Configuration, DatasetSpec, Experiment
from harness.experiments.experiment_file import read_experiment
from harness.experiments.hosts_spec import HostsSpec
from harness.experiments.runs import run_experiment
from harness.experiments.schedule import planned_runs
from harness.experiments.site import Configured, Site
from harness.experiments.turns import Turns
from harness.hosts.transports.host import Host, HostError, by_local
from harness.lab.storages import LAYOUTS
from harness.model.cache import COLD
from harness.model.probe import PROBED_IN, ProbeRun, RecordedProbes
from harness.model.run import Ending, new_run_id
from harness.present.findings import remarks
from harness.probes.plan import ProbePlan
from harness.programs.hpcc import Hpcc
from harness.programs.planned_program import ProgramRun
from harness.records.directories import probes_directory, results_files
from harness.records.reader import load, load_probes
from harness.records.writer import ProbeRecording, Recording
from harness.settings import simple
from harness.settings.in_force import NotPutBack, Settings
from harness.settings.journal import SET, Journal, JournalEntry, open_journal
from harness.settings.rate import rate
from harness.settings.speed import speed
from harness.trials.hold import DROP_CACHES
from jobs.options import parse
from tests.tracked import ROOT, name_in_repository, tracked
from tests.unit.builders import a_run, failed, ok


@pytest.fixture(autouse=True)
def _the_order_is_that_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.trials.order.shuffled", lambda items, *_: list(items))


def schema_choices(table: type, key: str) -> set[str]:
    """Return the values that a key of a table may have."""
    [field] = [field for field in msgspec.structs.fields(table) if field.name == key]
    choices = [field.type, *get_args(field.type)]
    return {value for each in choices if get_origin(each) is Literal for value in get_args(each)}


TEXT = """
name = "upgrade"
nodes = 3
runs = 2
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


EVERYTHING = """
speed = "1gbit"
disk_rate = "50MB/s"
bond_members_down = ["eth1"]
sysctls = {"net.ipv4.tcp_congestion_control" = "bbr"}
spark = {"spark.shuffle.compress" = "false"}
apply = "a"
revert = "r"
check = "c"
"""
SITE = """
[site]
via = "ssh"
hosts = "node[1-4]"
device = "eth7"
spark = ["--master", "spark://m:7077"]
data = "hdfs://m/data/"
sudo = true
disks = ["/data/1", "/dev/sdb"]
"""
ON_HOSTS = (
    TEXT.replace('rate = "100mbit"', EVERYTHING)
    .replace("nodes = 3", "")
    .replace('layout = "xor:2+1"', "")
) + SITE


def experiment(tmp_path: Path, text: str = TEXT) -> Experiment:
    file = tmp_path / "experiment.toml"
    file.write_text(text)
    return read_experiment(file)


def assert_named(tmp_path: Path, text: str, old: str, new: str, message: str) -> None:
    assert old in text
    with pytest.raises(BadInput, match=rf"experiment\.toml[:,] (?s:.*){re.escape(message)}"):
        experiment(tmp_path, text.replace(old, new, 1))


class TestReading:
    def test_every_value_is_read(self, tmp_path: Path) -> None:
        read = experiment(tmp_path)
        assert str(read.lab) == "3 workers of 0.5 processors, hdfs"
        assert (read.runs, read.work.trials, read.work.warmup) == (2, 4, "auto")
        slow, fast = read.configurations
        assert list(slow.settings("eth0", 1500)) == [rate("eth0", 10**8, 1500)]
        assert list(fast.settings("eth0", 1500)) == [
            simple.mtu("eth0", 9000),
            rate("eth0", 25 * 10**7, 9000),
        ]
        assert [data.name for data in read.datasets] == ["coded"]  # no configuration uses `plain`
        assert read.work.workloads == ("group-by",)
        assert read.work.sink == "noop"

    @pytest.mark.parametrize("file", tracked("docker/experiments/*.toml"), ids=name_in_repository)
    def test_the_experiments_of_this_repository_are_valid(self, file: Path) -> None:
        assert read_experiment(file).name == file.stem

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('name = "upgrade"', "", "missing required field `name`"),
            ('name = "upgrade"', 'name = "../up"', " - at `$.name`"),
            ("nodes = 3", 'nodes = "3"', "Expected `int | null`, got `str` - at `$.nodes`"),
            ("nodes = 3", "cpus = nan", "Expected `float` >= 0.1 - at `$.cpus`"),
            ("nodes = 3", "nodes = ", "Invalid value"),
            ("trials = 4", "trails = 4", "unknown field `trails`"),
            ('["group-by"]', '["group-buy"]', "no workload 'group-buy'; did you mean group-by?"),
            ('["group-by"]', "[]", "workloads: one name or more is expected, or a table"),
            (
                "trials = 4",
                'streams = 2\ncache = "cold"',
                "cache cold contradicts streams 2",
            ),
            ("trials = 4", 'sql = "nowhere"', "sql: nowhere is no directory"),
            ("mtu = 9000", 'tables = {t = "u"}', "configurations.fast: tables need the key sql"),
            ('"xor:2+1"', '"raid:5"', "'raid:5' is not a layout; the forms are"),
            ('"xor:2+1"', '"rs:3+2"', "layout rs:3+2 needs 5 nodes, and the experiment has 3"),
            ('"xor:2+1"', '"rs:2+1"', "layout rs:2+1 does not exist on hdfs, which has"),
            ('"xor:2+1"', '"replicated:2"\nstorage = "qfs"', "qfs is not one of the lab's"),
            ('"100mbit"', '"100gbit"', "rate '100gbit' is not between 1mbit and 40gbit"),
            ('dataset = "coded"\n', 'dataset = "codec"\n', "dataset has to be one of coded, plain"),
        ],
    )
    def test_a_mistake_is_named(self, tmp_path: Path, old: str, new: str, message: str) -> None:
        assert_named(tmp_path, TEXT, old, new, message)

    def test_choices_are_those_of_datasets_and_of_the_lab(self) -> None:
        assert schema_choices(DatasetSpec, "format") == {str(format_) for format_ in Format}
        assert schema_choices(DatasetSpec, "storage") == set(LAYOUTS)

    @pytest.mark.parametrize(
        ("storage", "spec", "uri_storage"),
        [("", ("hdfs",), None), ('storage = "qfs"', ("hdfs", "qfs"), "qfs")],
    )
    def test_a_dataset_is_on_the_storage_that_it_names(
        self, tmp_path: Path, storage: str, spec: tuple[str, ...], uri_storage: str | None
    ) -> None:
        text = TEXT.replace('layout = "xor:2+1"', storage)
        if storage:
            text = text.replace("nodes = 3", 'nodes = 3\nstorage = ["hdfs", "qfs"]')
        read = experiment(tmp_path, text)
        assert read.site is None
        assert read.lab.storages == spec
        assert read.datasets[0].storage == uri_storage

    def test_everything_that_can_be_set_is_read(self, tmp_path: Path) -> None:
        read = experiment(tmp_path, ON_HOSTS)
        slow, _ = read.configurations
        assert list(slow.settings("eth0", 1500)) == [
            speed("eth0", 1000),
            simple.bond_member("eth1"),
            simple.sysctl("net.ipv4.tcp_congestion_control", "bbr"),
            simple.own_command("a", "r", "c"),
        ]
        assert slow.disk_bytes_s == 50 * 10**6
        assert slow.spark == {"spark.shuffle.compress": "false"}
        assert read.site == HostsSpec(
            "node[1-4]",
            via="ssh",
            device="eth7",
            spark=("--master", "spark://m:7077"),
            data="hdfs://m/data/",
            sudo=True,
            disks=("/data/1", "/dev/sdb"),
        )
        site = Site(read.site, "x", tmp_path)
        assert [setting.name for setting in next(iter(site.disk_rates(slow).values()))] == [
            "disk rate of /data/1 in system.slice",
            "disk rate of /dev/sdb in system.slice",
        ]
        assert site.uri(read.datasets[0]) == "hdfs://m/data/x/coded"
        assert " ".join(h.name for h in read.site.named_hosts()) == "node1 node2 node3 node4"

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("node[1-4]", "node[1-", "hosts 'node[1-' cannot be read"),
            ('via = "ssh"', 'via = "docker"', 'sudo needs via = "ssh"'),
            ('disks = ["/data/1", "/dev/sdb"]', "", "slow: disk_rate needs the site's `disks`"),
            ('"/data/1"', '"data"', " - at `$.site.disks[0]`"),
            *(
                ("sudo = true", f'sudo = true\ndisk_group = "{group}"', " - at `$.site.disk_group`")
                for group in (
                    *(
                        "../../../tmp/x",
                        "..",
                        ".",
                        "a/..",
                        "a/../b",
                        "./a",
                        "a/./b",
                        "/a",
                        "a//b",
                        "a/",
                    ),
                    *("", "a b", "$(id)"),
                )
            ),
            ("sudo = true", 'submit_from = "../../proc/1/ns/net"', " - at `$.site.submit_from`"),
            (
                'data = "hdfs://m/data/"',
                'data = "a\\u0000b"',
                "a text has a NUL (\\u0000), which no",
            ),
            ("[configurations.fast]", '[configurations."a\\u0000"]', "a text has a NUL (\\u0000)"),
            ('"50MB/s"', '"50mbit"', "disk_rate '50mbit' is not the rate of a disk; write"),
            ("sudo = true", 'submit_from = "d"', "submit_from is a network namespace"),
            ('device = "eth7"', 'device = "eth0; reboot"', " - at `$.site.device`"),
            ('data = "hdfs://m/data/"', "", "datasets.coded: uri is missing, and the site has no"),
            ('revert = "r"', "", "revert missing: apply, revert and check go together"),
            (
                '"net.ipv4.tcp_congestion_control"',
                '"rm -rf"',
                "`key` in `$.configurations[...].sysctls`",
            ),
            ('"spark.shuffle.compress"', '"shuffle"', "`key` in `$.configurations[...].spark`"),
            ('speed = "1gbit"', 'speed = "1.5mbit"', "speed '1.5mbit' is not a whole number of"),
            ("runs = 2", "runs = 2\nnodes = 3", "nodes, cpus and storage are only for the lab"),
            ("runs = 2", 'runs = 2\nturns = "rounds"', 'turns = "rounds": configurations of'),
        ],
    )
    def test_a_mistake_about_hosts_is_named(
        self, tmp_path: Path, old: str, new: str, message: str
    ) -> None:
        assert_named(tmp_path, ON_HOSTS, old, new, message)

    def test_other_commands_have_another_name(self, tmp_path: Path) -> None:
        """The journal has no more of them than that."""
        text = TEXT.replace(
            "dataset =", 'apply = "a"\nrevert = "r"\ncheck = "c"\napplied = "tuned"\ndataset ='
        )
        experiment(tmp_path, text)
        with pytest.raises(
            BadInput, match=r"configurations\.fast: other commands are called tuned"
        ):
            experiment(tmp_path, text.replace('revert = "r"', 'revert = "other"', 1))

    @pytest.mark.parametrize(
        ("rate", "declared"),
        [
            (None, {"link": "1gbit"}),
            ("500mbit", {"link": "500mbit", "shaped": "by tc", "speed": "1gbit"}),
            ("2gbit", {"link": "1gbit", "shaped": "by tc", "speed": "1gbit"}),
        ],
    )
    def test_a_link_is_as_fast_as_the_slower_of_its_card_and_its_limit(
        self, rate: str | None, declared: dict[str, str]
    ) -> None:
        both = Configuration(rate=rate, speed="1gbit")
        assert both.facts == declared

    def test_what_is_set_is_named_with_its_value_and_a_link_by_its_rate_alone(self) -> None:
        configuration = Configuration(rate="100mbit", bond_members_down=("eth1", "eth2"))
        assert str(configuration) == "100mbit, bond_members_down eth1, eth2"

    def test_a_limited_disk_is_declared_and_leaves_links_as_they_are(self) -> None:
        slow, fast = (Configuration(disk_rate=f"{n}MB/s") for n in (50, 200))
        assert slow.facts == {"disk": "50MB/s", "disk_limited": "by control groups"}
        assert str(slow) == "disk 50MB/s"
        assert slow.links == fast.links
        assert slow.on_hosts != fast.on_hosts

    def test_results_have_the_name_of_own_commands_or_a_digest_and_not_the_commands(
        self, tmp_path: Path
    ) -> None:
        text = TEXT.replace('rate = "100mbit"', EVERYTHING.replace('"a"', '"curl -u me:hunter2"'))
        text = text.replace('speed = "1gbit"\n', "")
        slow, _ = experiment(tmp_path, text).configurations
        assert re.fullmatch("[0-9a-f]{12}", slow.facts["applied"])
        assert "hunter2" not in f"{slow.facts} {slow}"
        named, _ = experiment(
            tmp_path, text.replace("revert =", 'applied = "jumbo"\nrevert =')
        ).configurations
        assert named.facts["applied"] == "jumbo"

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"nowhere.toml: No such file"):
            read_experiment(tmp_path / "nowhere.toml")

    def test_the_digest_depends_on_all_but_the_number_of_repetitions(self, tmp_path: Path) -> None:
        first = experiment(tmp_path)
        longer = experiment(tmp_path, TEXT.replace("runs = 2", "runs = 3"))
        other = experiment(tmp_path, TEXT.replace("rows = 1000", "rows = 1001", 1))
        assert first.id == longer.id != other.id

    @pytest.mark.parametrize(
        "name", ["ethernet-upgrade", "file-systems", "lab-rates", "lost-server"]
    )
    def test_committed_results_are_of_the_experiment_of_their_file(self, name: str) -> None:
        recorded = load(next((ROOT / "results" / name).rglob("*.jsonl")))
        file = ROOT / f"docker/experiments/{name}.toml"
        assert recorded.run.facts["experiment"] == read_experiment(file).id


PROGRAMS = """
name = "scaling"
scaling = [1, 2, 4]
runs = 1
trials = 1
workloads = []
per_host = 2

[programs.hpcc]
memory = "1gb"

[configurations.slow]
rate = "100mbit"

[configurations.fast]
spark = {"spark.executor.cores" = "3"}
"""


class TestPrograms:
    def test_a_program_has_the_options_of_its_table_and_else_the_defaults(
        self, tmp_path: Path
    ) -> None:
        read = experiment(tmp_path, PROGRAMS)
        assert read.programs == (Hpcc(memory=10**9, block=128),)
        assert (read.per_host, read.growing, read.has_spark) == (2, False, False)
        assert read.datasets == []

    def test_every_configuration_is_scaled(self, tmp_path: Path) -> None:
        read = experiment(tmp_path, PROGRAMS)
        assert [(each.name, each.nodes) for each in read.configurations] == [
            *(("slow-n1", 1), ("slow-n2", 2), ("slow-n4", 4)),
            *(("fast-n1", 1), ("fast-n2", 2), ("fast-n4", 4)),
        ]
        assert read.configurations[-1].facts == {"nodes": "4"}
        assert str(read.configurations[0]) == "100mbit"

    def test_executors_have_all_cores_of_a_node(self, tmp_path: Path) -> None:
        slow, *_, fast = experiment(tmp_path, PROGRAMS).configurations
        assert slow.spark == {
            "spark.cores.max": "1",
            "spark.executor.instances": "1",
            "spark.executor.cores": "1",
        }
        assert fast.spark == {
            "spark.cores.max": "12",
            "spark.executor.instances": "4",
            "spark.executor.cores": "3",
        }

    def test_a_run_is_a_run_of_every_program_for_each_configuration(self, tmp_path: Path) -> None:
        planned = list(planned_runs(experiment(tmp_path, PROGRAMS)))
        assert len(planned) == 6
        assert [str(part) for part in planned[0].program_parts] == ["slow-n1, run 1, hpcc"]
        assert planned[0].spark_parts == []

    def test_configurations_take_turns_on_each_number_of_nodes(self, tmp_path: Path) -> None:
        text = PROGRAMS.replace("runs = 1", 'runs = 2\nturns = "rounds"')
        text = text.replace('spark = {"spark.executor.cores" = "3"}', "")
        planned = [
            [each.name for each in run.configurations]
            for run in planned_runs(experiment(tmp_path, text))
        ]
        there = [[f"slow-n{n}", f"fast-n{n}"] for n in (1, 2, 4)]
        assert planned == [*there, *there[::-1]]

    def test_the_order_of_each_two_runs_is_random_and_the_same_for_the_same_experiment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.undo()
        planned = [
            [str(run.configurations[0].name) for run in planned_runs(read)]
            for number in (2, 8)
            if (read := experiment(tmp_path, PROGRAMS.replace("runs = 1", f"runs = {number}")))
        ]
        orders = [planned[1][n : n + 6] for n in range(0, 48, 6)]
        assert planned[0] == orders[0] + orders[1]
        assert orders[1::2] == [order[::-1] for order in orders[::2]]
        assert len(set(map(tuple, orders))) > 4

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("[programs.hpcc]", "[programs.hpl]", "programs.hpl: there are hpcc, phold"),
            ('memory = "1gb"', 'memery = "1gb"', "of hpcc the keys memory, block"),
            ('memory = "1gb"', 'memory = "much"', "programs.hpcc: memory: 'much' is not a size"),
            (
                'memory = "1gb"',
                "block = 2",
                "programs.hpcc: block: '2' is not a whole number from 8",
            ),
            (
                'memory = "1gb"',
                'memory = "64kb"',
                "--memory is too small for 2 processes with blocks of 128: give",
            ),
            (
                "[programs.hpcc]",
                "[programs.phold]\nobjects = 4\n[programs.hpcc]",
                "--objects is 4, which 8 processes cannot divide; give a multiple of 8",
            ),
            ("[1, 2, 4]", "[4, 2]", "scaling: the numbers of nodes have to grow"),
            ("[1, 2, 4]", "[1, 5]", "scaling: the numbers of nodes have to grow to 4 at most"),
            ('"3"', '"three"', "with scaling, spark.executor.cores is the number"),
            ("workloads = []\n", "", "configurations.slow: dataset has to be one of none"),
        ],
    )
    def test_a_mistake_is_named(self, tmp_path: Path, old: str, new: str, message: str) -> None:
        assert old in PROGRAMS
        with pytest.raises(BadInput, match=r"experiment\.toml[:,] ") as failure:
            experiment(tmp_path, PROGRAMS.replace(old, new, 1))
        assert message in str(failure.value)


FAST = "250mbit, mtu 9000"
DONE = ExperimentOutcome(("slow", "fast"), (), failed=False)


PROBING = f"probe_seconds = 1\n{TEXT}"


class FakeSite(Site):
    """Records what an experiment does; writes results as the benchmark would."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(HostsSpec(hosts="n1"), "upgrade", directory / "results")
        self.directory = directory
        self.own_results = self.results / "upgrade"
        self.arguments: Sequence[str] = ()
        self.properties: Sequence[str] = ()
        self.programs: Sequence[str] = ()
        self.calls: list[tuple[str, ...]] = []
        self.recorded_facts: list[dict[str, str]] = []
        self.seeds: list[str] = []
        self.proven: list[str] = []
        self.codes = {"datagen/generate.py": 0, "jobs/benchmark.py": 0}
        self.trials = [ok("group-by", 1.0)]
        self.interrupt_after: int | None = None
        self.unreachable_in: str | None = None
        self.interrupt_probe = False
        self.crashes: set[tuple[str, ...]] = set()
        self.lost_in: str | None = None
        monkeypatch.setattr(runs, "run_probes", self.probe)

    def open(self, programs: Sequence[str] = ()) -> None:
        self.programs = programs
        self.calls.append(("open",))

    def uri(self, data: DatasetSpec) -> str:
        return f"hdfs://m/upgrade/{data.name}"

    def settings(self, configuration: Configuration) -> Settings:
        return {}

    def hosts_to_set(self) -> Sequence[Host]:
        return []

    def drop_caches(self) -> list[str]:
        self.calls.append(("drop",))
        return ["n1: denied"]

    def facts(self, configuration: Configuration) -> dict[str, str]:
        return {"emulated": "yes", "link": configuration.facts["link"]}

    @contextmanager
    def configured(self, configuration: Configuration, journal: Journal) -> Iterator[Configured]:
        del journal
        if configuration.name == self.unreachable_in:
            raise HostError("n1: no answer")
        self.calls.append(("set", str(configuration)))
        lost = "its guard has ended" if configuration.name == self.lost_in else None
        yield Configured((), lambda: lost)
        self.calls.append(("put back", str(configuration)))

    def read(self, text: str = TEXT) -> Experiment:
        return experiment(self.directory, text)

    def run_file(self, text: str = TEXT) -> ExperimentOutcome:
        """Run the experiment that the text defines, and return its outcome; `calls` are of this run."""
        self.calls.clear()
        return run_experiment(self.read(text), self)

    def submit(
        self,
        script: str,
        arguments: Sequence[str],
        properties: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        on_request: Callable[[str], None] | None = None,
    ) -> int:
        if script == "datagen/generate.py":
            self.calls.append(("generate", *arguments))
            return self.codes[script]
        self.arguments, self.properties = arguments, properties
        self.proven.append((environment or {})["CLUSTERLIFT_PROVEN"])
        options = parse(list(arguments))
        self.seeds.append(options.seed)
        sides = options.by_turn()
        if options.cache == COLD:
            assert on_request
            for _ in range(2):
                on_request(DROP_CACHES)
        if on_request is None:
            [side] = sides
            return self.benchmark(side.configuration, dict(side.facts))
        try:
            for side in (*sides, *sides[::-1]):
                on_request(side.configuration)
                self.calls.append(("turn", side.configuration))
        finally:
            codes = [self.benchmark(s.configuration, dict(s.facts)) for s in sides]
        return max(codes)

    def benchmark(self, configuration: str, facts: dict[str, str]) -> int:
        self.recorded_facts.append(facts)
        round_ = facts["round"]
        self.calls.append(("run", configuration, round_))
        if (configuration, round_) in self.crashes:
            return 1
        interrupted = self.interrupt_after == len(self.benchmarks())
        proven = {"content_checked": True} if configuration == "slow" else {}
        dataset = {"uri": "d", "layout": {}, "fingerprint": f"of-{configuration}"}
        run = a_run(configuration, new_run_id(), facts=facts, dataset=dataset, parameters=proven)
        with Recording(self.own_results, run) as recording:
            for trial in self.trials:
                recording.trial(trial)
            recording.end(Ending.INTERRUPTED if interrupted else Ending.COMPLETED)
        if interrupted:
            raise KeyboardInterrupt
        return self.codes["jobs/benchmark.py"]

    def probe(self, _: ProbePlan, run: ProbeRun, results: Path) -> RecordedProbes:
        self.calls.append(("probe", run.configuration, run.facts["round"]))
        with ProbeRecording(run, results) as recording:
            recording.end(Ending.INTERRUPTED if self.interrupt_probe else Ending.COMPLETED)
            return recording.probed

    def suffixes(self, configuration: str) -> list[str]:
        """Return the suffixes of the results files of a configuration."""
        return sorted(file.suffix for file in (self.own_results / configuration).glob("[!.]*"))

    def benchmarks(self) -> list[tuple[str, ...]]:
        """Return configuration and round of each benchmark that was submitted."""
        return [call[1:] for call in self.calls if call[0] == "run"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSite:
    return FakeSite(tmp_path, monkeypatch)


class TestRunExperiment:
    def test_every_second_round_is_reversed(self, site: FakeSite) -> None:
        assert site.run_file() == DONE
        assert site.calls == [
            ("open",),
            (
                *("generate", "hdfs://m/upgrade/coded", "--rows", "1000", "--format", "parquet"),
                *("--reuse", "--layout", "xor:2+1"),
            ),
            *(("set", "100mbit"), ("run", "slow", "1"), ("put back", "100mbit")),
            *(("set", FAST), ("run", "fast", "1"), ("put back", FAST)),
            *(("set", FAST), ("run", "fast", "2"), ("put back", FAST)),
            *(("set", "100mbit"), ("run", "slow", "2"), ("put back", "100mbit")),
        ]
        assert site.seeds == [f"{site.read().id}-{number}" for number in (1, 1, 2, 2)]

    def test_rows_that_a_run_proved_are_not_read_again(self, site: FakeSite) -> None:
        site.run_file()
        assert site.proven == ["", "of-slow", "of-slow", "of-slow"]

    @pytest.mark.parametrize("turns", ["runs", "rounds"])
    def test_hosts_drop_their_caches_when_a_trial_asks_and_say_once_who_cannot(
        self, site: FakeSite, turns: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert site.run_file(f'cache = "cold"\nturns = "{turns}"\n{TEXT}') == DONE
        applications = {"runs": 4, "rounds": 2}[turns]
        assert site.calls.count(("drop",)) == 2 * applications
        assert capsys.readouterr().err.count("n1: denied: what it stores stays in its memory") == 1
        assert len(site.benchmarks()) == 4

    def test_configurations_can_take_turns_after_each_round_of_a_run(self, site: FakeSite) -> None:
        assert site.run_file(f'turns = "rounds"\n{TEXT}') == DONE
        assert site.calls[2:9] == [
            *(("set", "100mbit"), ("turn", "slow"), ("put back", "100mbit")),
            *(("set", FAST), ("turn", "fast"), ("turn", "fast"), ("put back", FAST)),
        ]
        assert site.benchmarks() == [("slow", "1"), ("fast", "1"), ("slow", "2"), ("fast", "2")]
        assert site.run_file(f'turns = "rounds"\n{TEXT}') == DONE
        assert site.calls == []

    def test_properties_of_spark_are_passed_on(self, site: FakeSite) -> None:
        text = TEXT.replace('rate = "100mbit"', 'rate = "100mbit"\nspark = {"spark.x.y" = "1"}')
        site.run_file(text)
        assert site.properties == ["spark.x.y=1"]

    @pytest.mark.parametrize("turns", ["runs", "rounds"])
    def test_queries_are_passed_on_with_the_tables_of_each_configuration(
        self, site: FakeSite, tmp_path: Path, turns: str
    ) -> None:
        query = tmp_path / "q1.sql"
        query.write_text("SELECT 1")
        tables = 'tables = {t = "hdfs:/t", rows = "orc:{dataset}"}'
        text = f'turns = "{turns}"\nsql = "{tmp_path}"\n{TEXT}'.replace("mtu = 9000", tables)
        text = text.replace('workloads = ["group-by"]', 'workloads = ["q1"]')
        site.run_file(text.replace("runs = 2", "runs = 1"))
        *_, fast = parse(list(site.arguments)).by_turn()
        assert {name: text.query for name, text in fast.queries.items()} == {"q1": "SELECT 1"}
        assert fast.tables == {"t": "hdfs:/t", "rows": "orc:hdfs://m/upgrade/coded"}
        before = site.read(text).id
        query.write_text("SELECT 2")
        assert site.read(text).id != before

    def test_a_run_whose_settings_were_lost_is_set_aside_and_repeated(
        self, site: FakeSite, capsys: pytest.CaptureFixture[str]
    ) -> None:
        site.lost_in = "fast"
        outcome = site.run_file()
        assert list(map(str, outcome.undone)) == ["fast, run 1", "fast, run 2"]
        assert len(list((site.own_results / "fast").glob("*.lost"))) == 2
        assert "fast, run 1: its guard has ended; so " in capsys.readouterr().err
        site.lost_in = None
        assert site.run_file() == DONE
        assert site.benchmarks() == [("fast", "1"), ("fast", "2")]

    def test_so_is_one_that_was_interrupted_after_its_settings_were_lost(
        self, site: FakeSite
    ) -> None:
        site.lost_in = "slow"
        site.interrupt_after = 1
        with pytest.raises(KeyboardInterrupt):
            site.run_file()
        assert site.suffixes("slow") == [".lost"]

    def test_so_is_one_whose_next_turn_could_not_begin(self, site: FakeSite) -> None:
        site.lost_in = "slow"
        site.unreachable_in = "fast"
        with pytest.raises(HostError, match="n1: no answer"):
            site.run_file(f'turns = "rounds"\n{TEXT}')
        assert site.suffixes("slow") == site.suffixes("fast") == [".lost"]

    def test_a_turn_that_ended_as_it_began_lost_nothing_although_it_cannot_be_put_back(
        self, site: FakeSite, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        is_set = True

        @contextmanager
        def configured(*_: object) -> Iterator[Configured]:
            nonlocal is_set
            yield Configured((), lambda: None if is_set else "rate is unlimited")
            is_set = False
            raise NotPutBack("it is stuck")

        monkeypatch.setattr(site, "configured", configured)
        slow, fast = site.read().configurations
        turns = Turns(site, Journal(site.directory / "journal"))
        turns.take(slow)
        with pytest.raises(NotPutBack):
            turns.begin(fast)
        assert turns.lost() is None

    def test_a_complete_run_stays_if_its_repetition_beside_another_one_lost_its_settings(
        self, site: FakeSite
    ) -> None:
        text = f'turns = "rounds"\n{TEXT}'.replace("runs = 2", "runs = 1")
        site.crashes = {("fast", "1")}
        site.run_file(text)
        [complete] = results_files(site.own_results / "slow")
        site.crashes.clear()
        site.lost_in = "fast"
        site.run_file(text)
        assert results_files(site.own_results / "slow") == [complete]
        assert site.suffixes("slow") == [".jsonl", ".lost"]
        assert site.suffixes("fast") == [".lost"]

    def test_after_a_program_lost_its_settings_the_next_one_has_them_set_anew(
        self, site: FakeSite, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made: list[str] = []

        def make(planned: ProgramRun, _: Path) -> SimpleNamespace:
            made.append(planned.program.name)
            return SimpleNamespace(ending=Ending.COMPLETED)

        monkeypatch.setenv("ROSS_HOME", "/opt/ross")
        monkeypatch.setattr(runs, "ready_hosts", lambda *_: ())
        monkeypatch.setattr(runs, "run_program", make)
        site.lost_in = "slow"
        site.run_file(
            'name = "programs"\nruns = 1\nworkloads = []\n[programs.hpcc]\n[programs.phold]\n'
            "[datasets.rows]\nrows = 1000\n"
            '[configurations.slow]\nrate = "100mbit"\ndataset = "rows"\n'
        )
        assert len(made) == site.calls.count(("set", "100mbit")) == 2

    def test_a_probe_whose_settings_were_lost_is_set_aside_and_repeated(
        self, site: FakeSite, capsys: pytest.CaptureFixture[str]
    ) -> None:
        site.lost_in = "fast"
        site.run_file(PROBING)
        probes = site.own_results / "fast" / "probes"
        assert [file.suffix for file in probes.iterdir()] == [".lost", ".lost"]
        assert "the probe of fast, run 1: its guard has ended; so " in capsys.readouterr().err
        site.lost_in = None
        assert site.run_file(PROBING) == DONE
        assert [call for call in site.calls if call[0] == "probe"] == [
            ("probe", "fast", "1"),
            ("probe", "fast", "2"),
        ]

    def test_runs_record_site_layout_experiment_and_round(self, site: FakeSite) -> None:
        text = TEXT.replace('"coded"\n\n[', '"plain"\n\n[')
        site.run_file(text)
        slow, fast, *_ = site.recorded_facts
        always = {"emulated": "yes", "experiment": site.read(text).id, "round": "1"}
        assert slow == always | {"link": "100mbit"}
        assert fast == always | {"link": "250mbit", "layout": "xor:2+1"}

    def test_completed_runs_are_not_repeated(self, site: FakeSite) -> None:
        site.interrupt_after = 2
        with pytest.raises(KeyboardInterrupt):
            site.run_file()
        site.interrupt_after = None
        assert site.run_file() == DONE
        assert site.benchmarks() == [("fast", "1"), ("fast", "2"), ("slow", "2")]
        assert site.run_file() == DONE
        assert site.calls == []

    def test_what_an_earlier_command_left_is_put_back_also_if_no_run_is_left(
        self, site: FakeSite
    ) -> None:
        assert site.run_file() == DONE
        left = JournalEntry("n1", "MTU of eth0", "9000", "1500")
        with open_journal(site.own_results / runs.JOURNAL) as journal:
            journal.record(SET, [left])
        with pytest.raises(NotPutBack, match="n1: MTU of eth0"):
            site.run_file()

    def test_results_of_another_experiment_are_refused(self, site: FakeSite) -> None:
        site.run_file()
        with pytest.raises(BadInput, match="is not of this experiment as it is now; move"):
            site.run_file(TEXT.replace("100mbit", "50mbit"))

    @pytest.mark.parametrize("facts", [{}, {"round": "x"}, {"round": "0"}, {"round": "9" * 5000}])
    def test_a_run_without_its_number_is_refused(
        self, site: FakeSite, facts: dict[str, str]
    ) -> None:
        run = a_run("slow", "r", facts={"experiment": site.read().id, **facts})
        with Recording(site.own_results, run) as recording:
            recording.trial(ok("group-by", 1.0))
            recording.end(Ending.COMPLETED)
        with pytest.raises(BadInput, match="is of this experiment, but its fact 'round' is"):
            site.run_file()

    def test_optional_values_become_options(self, site: FakeSite) -> None:
        site.run_file(
            f'sink = "rdd-count"\nrepartition = 16\nstreams = 4\nprofile = 2\nwarmup = 0\n{TEXT}'
        )
        given = parse(list(site.arguments))
        assert (given.sink, given.repartition, given.streams) == ("rdd-count", 16, 4)
        assert (given.profile, given.warmup, given.trials) == (2, 0, 4)
        assert not any(word.startswith("--pi-samples") for word in site.arguments)

    def test_with_probe_seconds_the_network_is_probed_before_each_run(self, site: FakeSite) -> None:
        assert site.run_file(PROBING) == DONE
        calls = [call for call in site.calls if call[0] in {"probe", "run"}]
        assert calls[:2] == [("probe", "slow", "1"), ("run", "slow", "1")]
        assert len(calls) == 8
        assert site.run_file(PROBING) == DONE
        assert site.calls == []

    def test_completed_runs_without_probes_are_probed_and_not_repeated(
        self, site: FakeSite
    ) -> None:
        site.run_file()
        site.run_file(PROBING)
        assert site.benchmarks() == []
        assert [call[1:] for call in site.calls if call[0] == "probe"] == [
            *(("slow", "1"), ("fast", "1"), ("fast", "2"), ("slow", "2"))
        ]

    @pytest.mark.parametrize("turns", ["runs", "rounds"])
    def test_configurations_with_the_same_links_are_probed_once_and_both_have_the_record(
        self, site: FakeSite, turns: str
    ) -> None:
        text = (
            f'turns = "{turns}"\n{PROBING}\n[configurations.copied]\nrate = "100mbit"\n'
            'dataset = "plain"\n'
        )
        site.run_file(text)
        probed = [call[1:] for call in site.calls if call[0] == "probe"]
        assert sorted(number for _, number in probed) == ["1", "1", "2", "2"]
        slow, copied = (
            sorted(
                map(load_probes, results_files(probes_directory(site.own_results, name))),
                key=lambda probed: probed.run.facts["round"],
            )
            for name in ("slow", "copied")
        )
        assert len({each.run.id for each in (*slow, *copied)}) == 4
        for one, other in zip(slow, copied, strict=True):
            assert one.run.started_at == other.run.started_at
            assert one.events == other.events
            [copy] = (each for each in (one, other) if PROBED_IN in each.run.facts)
            first = ({"slow", "copied"} - {copy.run.configuration}).pop()
            assert f"measured in {first}, whose links are the same" in remarks(copy)
            assert one.run.facts["round"] == other.run.facts["round"]
        site.run_file(text)
        assert site.calls == []

    def test_programs_that_hosts_need_are_known_before_data_is_generated(
        self, site: FakeSite
    ) -> None:
        site.run_file(PROBING)
        assert {"iperf3", "sockperf"} <= set(site.programs)
        assert site.calls.index(("open",)) == 0
        site.run_file("pi_samples = 1000\n" + TEXT.replace("upgrade", "other"))
        assert site.programs == []

    def test_what_cannot_be_set_is_known_before_data_is_generated(
        self, site: FakeSite, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wanted = {by_local("here"): [simple.mtu("nosuch0", 9000)]}
        monkeypatch.setattr(site, "settings", lambda _: wanted)
        with pytest.raises(HostError, match=r"here: MTU of nosuch0: .*No such file"):
            site.run_file()
        assert site.calls == [("open",)]

    def test_interrupted_probes_are_repeated(self, site: FakeSite) -> None:
        site.interrupt_probe = True
        with pytest.raises(KeyboardInterrupt):
            site.run_file(PROBING)
        assert site.benchmarks() == []
        site.interrupt_probe = False
        assert site.run_file(PROBING) == DONE

    def test_a_dataset_that_cannot_be_generated_is_an_error(self, site: FakeSite) -> None:
        site.codes["datagen/generate.py"] = 1
        with pytest.raises(ClusterliftError, match="data coded was not generated"):
            site.run_file()
        assert site.benchmarks() == []

    def test_a_failed_trial_is_reported_in_the_outcome(self, site: FakeSite) -> None:
        site.codes["jobs/benchmark.py"] = 1
        site.trials = [ok("group-by", 1.0), failed("calc-pi")]
        for benchmarks in (4, 0):
            assert site.run_file() == replace(DONE, failed=True)
            assert len(site.benchmarks()) == benchmarks

    def test_a_benchmark_whose_trials_all_failed_is_repeated_next_time(
        self, site: FakeSite
    ) -> None:
        site.codes["jobs/benchmark.py"] = 1
        site.trials = [failed("group-by")]
        outcome = site.run_file()
        assert outcome.measured == ()
        assert len(outcome.undone) == len(site.benchmarks()) == 4
        site.trials = [ok("group-by", 1.0)]
        assert site.run_file() == DONE
        assert len(site.benchmarks()) == 4

    def test_a_benchmark_that_died_is_repeated_next_time(self, site: FakeSite) -> None:
        site.crashes = {("slow", "1"), ("fast", "2")}
        outcome = site.run_file()
        assert outcome.measured == ("slow", "fast")
        assert list(map(str, outcome.undone)) == ["slow, run 1", "fast, run 2"]
        assert len(site.benchmarks()) == 4
        site.crashes.clear()
        assert site.run_file() == DONE
        assert site.benchmarks() == [("slow", "1"), ("fast", "2")]

    def test_a_refused_benchmark_is_an_error(self, site: FakeSite) -> None:
        site.codes["jobs/benchmark.py"] = 2
        with pytest.raises(ClusterliftError, match=r"slow, run 1: benchmark.py refused"):
            site.run_file()
