"""`clusterlift probe` and `gate`: what is asked for, what is left out, and what becomes of Ctrl-C."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from harness.cli import main
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement
from harness.model.run import Ending
from harness.probes.plan import ProbeStep, listed, repeated, taken
from harness.probes.preflight import Preflight
from harness.probes.tools.iperf3 import Report
from harness.probes.traffic import Flow, Load, Transfer
from harness.probes.transports.host import Host, HostError
from harness.records.lookup import find_probes
from tests.unit.probe_builders import MBIT, a_link

TWO = ["--hosts", "node[1-2]=10.0.0.[1-2]"]

Carry = Callable[[Sequence[Flow], Load], list[Transfer | HostError]]


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Callable[[Carry], None]:
    """Hosts without a network: all but node9 can be used, and carry what a test says."""

    def surveyed(hosts: Sequence[Host], _programs: Sequence[str]) -> Preflight:
        return Preflight(
            tuple(host for host in hosts if host.name != "node9"),
            {"node9": HostError("node9: down")} if "node9" in [one.name for one in hosts] else {},
        )

    monkeypatch.setattr("harness.probes.session.preflight", surveyed)
    monkeypatch.setattr(
        "harness.probes.session.read_links", lambda hosts: [a_link(host.name) for host in hosts]
    )
    return lambda carry: monkeypatch.setattr("harness.probes.mesh.carry", carry)


def steady(flows: Sequence[Flow], load: Load) -> list[Transfer | HostError]:
    return [Transfer(Report(940.0 * MBIT, load.seconds, 0, 1.0, 1.0, ()), 0) for _ in flows]


class TestUsage:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["mesh"], "name the hosts, --hosts node[1-4], or take those of the lab: --lab"),
            (["mesh", "--hosts", "-oProxyCommand=x"], "--hosts"),
            (["mesh", "--hosts", "node[1-"], "--hosts 'node[1-' cannot be read"),
            (["mtu", *TWO, "--sizes", "1500,huge"], "--sizes: 'huge' is not from 576 to 9000"),
            (["racks", "--rack", "a=n[1-2]"], "name two racks: --rack a=node[1-20]"),
            (["racks", "--rack", "n[1-2]", "--rack", "b=n3"], "--rack 'n[1-2]' has no name"),
            (["racks", "--rack", "a=n[1-2]", "--rack", "b=n[2-3]"], "n2 cannot be in both racks"),
        ],
    )
    def test_a_mistake_is_one_line_that_names_the_option(
        self, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
    ) -> None:
        assert main(["probe", *arguments]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert said in line

    @pytest.mark.parametrize("names", [[], ["a", "b", "c"]])
    def test_a_gate_is_between_two_at_most(
        self, capsys: pytest.CaptureFixture[str], names: list[str]
    ) -> None:
        assert main(["gate", *names]) == 2
        assert "[BEFORE] AFTER" in capsys.readouterr().err


class TestProbing:
    def test_what_was_measured_is_printed_and_kept(
        self,
        network: Callable[[Carry], None],
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        network(steady)
        kept = ["--configuration", "1g", "--results", str(tmp_path), "--repeats", "3"]
        assert main(["probe", "mesh", *TWO, *kept]) == 0
        [probed] = find_probes("1g", tmp_path)
        assert [one.round for one in probed.measurements if one.metric == MESH_GOODPUT.name] == [
            *(1, 1, 2, 2, 3, 3)
        ]
        assert probed.ending is Ending.COMPLETED
        printed = capsys.readouterr()
        assert "940.0" in printed.out
        assert printed.out.endswith(f"{probed.source}\n")
        assert "[1/6] mesh: node1 -> node2" in printed.err

    def test_nothing_is_kept_unless_a_configuration_is_named(
        self, network: Callable[[Carry], None], tmp_path: Path
    ) -> None:
        network(steady)
        assert main(["probe", "mesh", *TWO, "--results", str(tmp_path)]) == 0
        assert not list(tmp_path.iterdir())

    def test_a_host_that_is_down_is_left_out_and_the_rest_goes_on(
        self,
        network: Callable[[Carry], None],
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        network(steady)
        kept = ["--configuration", "1g", "--results", str(tmp_path)]
        assert main(["probe", "mesh", "--hosts", "node[1-2,9]", *kept]) == 1
        assert "left out: node9: down\n" in capsys.readouterr().err
        [probed] = find_probes("1g", tmp_path)
        assert [one.host for one in probed.excluded_hosts] == ["node9"]
        assert {one.subject for one in probed.measurements} == {"node1 -> node2", "node2 -> node1"}

    def test_too_few_hosts_that_are_left_are_said_to_be(
        self, network: Callable[[Carry], None], capsys: pytest.CaptureFixture[str]
    ) -> None:
        network(steady)
        assert main(["probe", "mesh", "--hosts", "node[1,9]"]) == 2
        assert "1 of the 2 hosts can be used, and this takes 2 or more" in capsys.readouterr().err

    def test_a_pair_that_fails_is_told_and_the_exit_code_says_so(
        self, network: Callable[[Carry], None], capsys: pytest.CaptureFixture[str]
    ) -> None:
        network(lambda flows, _: [HostError(f"{flow}: iperf3: no route") for flow in flows])
        assert main(["probe", "mesh", *TWO]) == 1
        printed = capsys.readouterr()
        assert "failed: node1 -> node2: iperf3: no route\n" in printed.err
        assert "failed¹" in printed.out

    def test_an_interrupt_keeps_what_was_measured_until_then(
        self, network: Callable[[Carry], None], tmp_path: Path
    ) -> None:
        calls = itertools.count()

        def carry(flows: Sequence[Flow], load: Load) -> list[Transfer | HostError]:
            if next(calls):
                raise KeyboardInterrupt
            return steady(flows, load)

        network(carry)
        kept = ["--configuration", "1g", "--results", str(tmp_path)]
        assert main(["probe", "mesh", *TWO, *kept]) == 130
        [probed] = find_probes("1g", tmp_path)
        assert probed.ending is Ending.INTERRUPTED
        assert {one.subject for one in probed.measurements} == {"node1 -> node2"}

    def test_a_gate_judges_the_newest_probe(
        self,
        network: Callable[[Carry], None],
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        network(steady)
        kept = ["--configuration", "1g", "--results", str(tmp_path)]
        main(["probe", "mesh", *TWO, *kept])
        capsys.readouterr()
        assert main(["gate", "1g", "--expect", "2500mbit", "--results", str(tmp_path)]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert "- node1 eth0: 1gbit, expected 2.5gbit" in lines
        assert "- the path MTU of any pair was not measured: clusterlift probe all" in lines


class TestSteps:
    def test_are_numbered_with_the_time_that_is_left(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clock = iter([0.0, 20.0, 40.0, 60.0])  # each takes twice as long as planned
        steps = [ProbeStep(f"step {name}", 10, list) for name in "abc"]
        assert list(taken(steps, lambda: next(clock))) == []
        assert capsys.readouterr().err.splitlines() == [
            "[1/3] step a; 30 s left",
            "[2/3] step b; 40 s left",
            "[3/3] step c; 20 s left",
        ]

    def test_a_step_that_is_quicker_than_planned_makes_no_hopes_for_the_others(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clock = iter([0.0, 1.0])
        list(taken([ProbeStep("a", 10, list), ProbeStep("b", 10, list)], lambda: next(clock)))
        assert capsys.readouterr().err.splitlines()[1] == "[2/2] b; 10 s left"

    def test_of_many_pairs_name_some(self) -> None:
        assert listed("abcd") == "a, b, c, d"
        assert listed("abcdef") == "a, b, c, d and 2 more"

    def test_that_are_repeated_say_in_which_round(self) -> None:
        def take() -> Iterator[Measurement]:
            yield MESH_GOODPUT.of("a -> b", 1)

        steps = repeated([ProbeStep("x", 1, take), ProbeStep("y", 1, take)], 2)
        assert [step.what for step in steps] == ["x", "y", "x", "y"]
        assert [one.round for step in steps for one in step.take()] == [1, 1, 2, 2]
