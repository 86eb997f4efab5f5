"""`clusterlift probe` and `gate`: usage errors, what is printed and recorded, excluded hosts, Ctrl-C."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.hosts.preflight import Preflight
from harness.hosts.transports.host import Host, HostError
from harness.model.network_metrics import DISK_WRITE, MESH_GOODPUT
from harness.model.probe import ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.probes.tools.iperf3 import Report
from harness.probes.traffic import Flow, Load, Outcomes, Transfer
from harness.records.lookup import find_probes
from harness.records.writer import record_all
from tests.refusal import refusal
from tests.unit.probe_builders import MBIT, a_link

TWO = ["--hosts", "node[1-2]=10.0.0.[1-2]"]

RunFlows = Callable[[Sequence[Flow], Load], Outcomes]
Install = Callable[[RunFlows], None]


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Replace hosts and network: node9 is down, and a test installs what flows carry."""

    def preflight(hosts: Sequence[Host], _programs: Sequence[str]) -> Preflight:
        return Preflight(
            tuple(host for host in hosts if host.name != "node9"),
            {"node9": HostError("node9: down")}
            if any(host.name == "node9" for host in hosts)
            else {},
        )

    monkeypatch.setattr("harness.probes.plan.preflight", preflight)
    monkeypatch.setattr(
        "harness.probes.plan.read_links", lambda hosts: [a_link(host.name) for host in hosts]
    )
    return lambda run_flows: monkeypatch.setattr("harness.probes.mesh.run_flows", run_flows)


def steady(flows: Sequence[Flow], load: Load) -> Outcomes:
    report = Report(940.0 * MBIT, load.seconds, 0, 1.0, 1.0)
    return dict.fromkeys(flows, Transfer(report, (None, None)))


class TestUsage:
    def test_help_names_no_bound_of_a_number_that_has_none(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["probe", "soak", "--help"]) == 0
        shown = capsys.readouterr().out
        assert "[default: 1; 1<=x<=128]" in " ".join(shown.split())
        assert "None" not in shown

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["mesh"], "name the hosts, such as --hosts node[1-4], or use the lab's: --lab"),
            (["disk", *TWO], "--directory: name directories on the disks, such as /data/1,/data/2"),
            (["disk", *TWO, "--directory", "data"], "--directory: 'data' does not begin with '/'"),
            (["mesh", "--hosts", "-oProxyCommand=x"], "--hosts"),
            (["mesh", "--hosts", "node[1-"], "--hosts 'node[1-' cannot be read"),
            (["mtu", *TWO, "--sizes", "1500,huge"], "--sizes: 'huge' is not from 576 to 9000"),
            (["mtu", *TWO, "--sizes", "\u0663000"], "--sizes: '\u0663000' is not from 576 to 9000"),
            (["mtu", *TWO, "--sizes", "9" * 5000], "--sizes: '999"),
            (["mtu", *TWO, "--bidir"], "--bidir needs sizes of packets: --sizes 1500,9000"),
            (["mtu", *TWO, "--set-mtu"], "--set-mtu needs sizes of packets: --sizes 1500,9000"),
            (["mesh", *TWO, "--rounds", "0"], "'--rounds': 0 is not in the range"),
            (["mesh", *TWO, "--pairs-at-once", "0"], "'--pairs-at-once': 0 is not in the range"),
            (["racks", "--rack", "a=n[1-2]"], "name two racks: --rack a=node[1-20]"),
            (["racks", "--rack", "n[1-2]", "--rack", "b=n3"], "--rack 'n[1-2]' has no name"),
            (["racks", "--rack", "a=n[1-2]", "--rack", "b=n[2-3]"], "n2 cannot be in both racks"),
            (["racks", *TWO, "--rack", "a=n1", "--rack", "b=n2"], "--hosts: name them by --rack"),
            (
                ["link", "--lab", "--via", "local"],
                "--lab reaches its nodes by Docker: leave out --via",
            ),
        ],
    )
    def test_a_mistake_is_one_line_that_names_the_option(
        self, arguments: list[str], message: str
    ) -> None:
        assert message in refusal("probe", *arguments)

    @pytest.mark.parametrize("names", [[], ["a", "b", "c"]])
    def test_a_gate_takes_one_or_two_configurations(self, names: list[str]) -> None:
        assert "[BEFORE] AFTER" in refusal("gate", *names)

    @pytest.mark.parametrize(
        ("option", "rate", "message"),
        [
            ("--expect", "1000", "is not a rate; write for example 100mbit or 2.5gbit"),
            ("--expect", "2000gbit", "is not between 1mbit and 1000gbit"),
            ("--expect-disk", "50MB", "is not the rate of a disk; write for example 50MB/s"),
            ("--expect-disk", "0.5MB/s", "is not between 1MB/s and 100000MB/s"),
        ],
    )
    def test_a_gate_says_which_rate_it_cannot_read(
        self, option: str, rate: str, message: str
    ) -> None:
        assert refusal("gate", "1g", option, rate) == f"{option} {rate!r} {message}"

    def test_a_speed_of_disks_is_bytes_a_second(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        record_all(tmp_path, ProbeRun("hdd", ("a",)), [DISK_WRITE.of("a", 2e8, "/data")])
        gate = ["gate", "hdd", "--results", str(tmp_path), "--expect-disk"]
        assert [main([*gate, rate]) for rate in ("200MB/s", "300MB/s", "200mbit")] == [0, 1, 2]
        printed = capsys.readouterr()
        assert "no fault found: 1 disk\n" in printed.out
        assert "fault: a: /data writes at 67 % of the 300MB/s that are expected\n" in printed.out
        assert "--expect-disk '200mbit' is not the rate of a disk" in printed.err

    def test_a_gate_does_not_take_probes_for_those_of_their_own_upgrade(
        self, tmp_path: Path
    ) -> None:
        record_all(tmp_path, ProbeRun("1g", ("a", "b")), [MESH_GOODPUT.of(("a", "b"), 9.4e8)])
        refused = refusal("gate", "1g", "1g", "--results", str(tmp_path))
        assert "is given twice; name it once" in refused


@pytest.mark.usefixtures("network")
def test_disks_of_this_machine_are_measured_where_spark_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "/no/such/1,/no/such/2")
    recorded = ("--configuration", "hdd", "--results", str(tmp_path))
    assert main(["probe", "disk", "--via", "local", "--hosts", "a=127.0.0.1", *recorded]) == 1
    [probed] = find_probes("hdd", tmp_path)
    assert [each.case for each in probed.measurements] == ["/no/such/1", "/no/such/2"]


class TestProbing:
    def test_measurements_are_printed_and_recorded(
        self, network: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        network(steady)
        recorded = ["--configuration", "1g", "--results", str(tmp_path), "--repeats", "3"]
        assert main(["probe", "mesh", *TWO, *recorded]) == 0
        [probed] = find_probes("1g", tmp_path)
        assert [
            measurement.round
            for measurement in probed.measurements
            if measurement.metric == MESH_GOODPUT.name
        ] == [*(1, 1, 2, 2, 3, 3)]
        assert probed.ending is Ending.COMPLETED
        printed = capsys.readouterr()
        assert "940.0" in printed.out
        assert printed.out.endswith(f"{probed.source}\n")
        assert "[1/6] mesh: node1 -> node2" in printed.err

    @pytest.mark.parametrize(
        ("options", "pairs"),
        [
            (["--hosts", "n[101-112]=10.0.0.[1-12]"], 12 * 11),
            (["--hosts", "n[101-114]=10.0.0.[1-14]", "--rounds", "5"], 14 * 5),
        ],
    )
    def test_all_pairs_are_measured_unless_rounds_are_given(
        self,
        network: Install,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        options: list[str],
        pairs: int,
    ) -> None:
        network(steady)
        recorded = ["--configuration", "1g", "--results", str(tmp_path)]
        assert main(["probe", "mesh", *options, *recorded]) == 0
        [probed] = find_probes("1g", tmp_path)
        goodputs = [m for m in probed.measurements if m.metric == MESH_GOODPUT.name]
        assert len(goodputs) == pairs
        assert "no host and no" in capsys.readouterr().out
        gate = ["gate", "1g", "--expect", "1gbit", "--results", str(tmp_path)]
        assert main(gate) == 1
        shown = capsys.readouterr().out.splitlines()
        assert shown[0] == "no fault found, and 1 thing cannot be judged"
        assert "unknown: no path MTU was measured; run clusterlift probe all" in shown

    def test_more_pairs_at_once_than_files_can_be_open_are_refused(
        self, network: Install, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("resource.getrlimit", lambda _which: (256, 1024))
        refused = refusal("probe", "mesh", "--hosts", "n[101-300]=10.0.0.[1-200]")
        assert "384 commands at once need 1352 open files and the limit is 1024" in refused

    def test_nothing_is_recorded_without_a_configuration(
        self, network: Install, tmp_path: Path
    ) -> None:
        network(steady)
        assert main(["probe", "mesh", *TWO, "--results", str(tmp_path)]) == 0
        assert not list(tmp_path.iterdir())

    def test_a_host_that_is_down_is_excluded_and_the_others_are_measured(
        self, network: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        network(steady)
        recorded = ["--configuration", "1g", "--results", str(tmp_path)]
        assert main(["probe", "mesh", "--hosts", "node[1-2,9]", *recorded]) == 1
        assert "left out: node9: down\n" in capsys.readouterr().err
        [probed] = find_probes("1g", tmp_path)
        assert [host.host for host in probed.excluded_hosts] == ["node9"]
        assert {measurement.subject for measurement in probed.measurements} == {
            "node1 -> node2",
            "node2 -> node1",
        }

    def test_too_few_usable_hosts_are_an_error(
        self, network: Install, capsys: pytest.CaptureFixture[str]
    ) -> None:
        network(steady)
        assert main(["probe", "mesh", "--hosts", "node[1,9]"]) == 2
        assert "1 of 2 hosts can be used; this probe needs 2 or more" in capsys.readouterr().err

    def test_a_pair_that_fails_is_shown_and_the_exit_code_is_1(
        self, network: Install, capsys: pytest.CaptureFixture[str]
    ) -> None:
        network(lambda flows, _: {flow: HostError(f"{flow}: iperf3: no route") for flow in flows})
        assert main(["probe", "mesh", *TWO]) == 1
        printed = capsys.readouterr()
        assert "failed: node1 -> node2: iperf3: no route\n" in printed.err
        assert "fault: node1 -> node2: iperf3: no route\n" in printed.out

    def test_an_interrupt_keeps_what_was_measured_before(
        self, network: Install, tmp_path: Path
    ) -> None:
        calls = itertools.count()

        def run_flows(flows: Sequence[Flow], load: Load) -> Outcomes:
            if next(calls):
                raise KeyboardInterrupt
            return steady(flows, load)

        network(run_flows)
        recorded = ["--configuration", "1g", "--results", str(tmp_path)]
        assert main(["probe", "mesh", *TWO, *recorded]) == 130
        [probed] = find_probes("1g", tmp_path)
        assert probed.ending is Ending.INTERRUPTED
        assert {measurement.subject for measurement in probed.measurements} == {"node1 -> node2"}


def test_a_rack_without_a_host_that_can_be_used_is_refused_and_leaves_no_record(
    network: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All draws were made within the other rack, and showed nothing of what is between the two."""
    network(steady)
    racks = ("--rack", "a=node[1-2]=10.0.0.[1-2]", "--rack", "b=node9=10.0.0.9")
    where = ("--configuration", "1g", "--results", str(tmp_path))
    assert main(["probe", "racks", *racks, *where]) == 2
    assert "--rack b: none of its hosts can be used" in capsys.readouterr().err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_disk_is_compared_with_earlier_probes_of_its_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record_all(tmp_path, ProbeRun("hdd", ("a",)), [DISK_WRITE.of("a", 2e8, "/data")])
    slower = (DISK_WRITE.of("a", 1e8, "/data"),)
    probed = RecordedProbes(ProbeRun("hdd", ("a",)), slower, Ending.COMPLETED)
    monkeypatch.setattr("harness.commands.probe.run_probes", lambda *_: probed)
    given = ("--hosts", "a=127.0.0.1", "--directory", "/data", "--results", str(tmp_path))
    assert main(["probe", "disk", "--via", "local", *given]) == 0
    assert main(["probe", "disk", "--via", "local", *given, "--configuration", "hdd"]) == 1
    fault = "fault: a: /data writes at 50 % of what was measured before"
    assert capsys.readouterr().out.count(fault) == 1
