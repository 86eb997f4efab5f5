"""`clusterlift doctor`: what is wrong with machines, and what it does before runs."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from harness.commands.cli import main
from harness.commands.own_machine import warn_of_faults
from harness.hosts.transports.host import Host, HostError
from harness.node.state import NodeState
from tests.refusal import refusal
from tests.unit.analysis.ready.test_health import QUIET, node
from tests.unit.commands.fake_spark import FakeSpark

SAVING = node(governor="powersave", turbo="on")
Answer = NodeState | HostError


def answers(monkeypatch: pytest.MonkeyPatch, *states: Answer) -> list[Host]:
    """Let the hosts answer with these states; return the hosts that were asked."""
    asked: list[Host] = []

    def read_states(hosts: Sequence[Host]) -> list[Answer]:
        asked.extend(hosts)
        return list(states)

    for module in ("doctor", "own_machine"):
        monkeypatch.setattr(f"harness.commands.{module}.read_states", read_states)
    return asked


def test_faults_come_first_and_are_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, QUIET, replace(SAVING, host="n2"))
    assert main(["doctor", "--hosts", "n[1-2]"]) == 1
    first, second, *_, last = capfd.readouterr().out.splitlines()
    assert first.startswith("fault: n2: governor powersave: ")
    assert second.startswith("note: n2: turbo on: ")
    assert last == "looked at n1, n2 for 0.5 s: 1 fault"


def test_notes_alone_are_no_failure(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = answers(monkeypatch, node(turbo="on"))
    assert main(["doctor"]) == 0
    note, last = capfd.readouterr().out.splitlines()
    assert note.startswith("note: n1: turbo on: ")
    assert last == "looked at n1 for 0.5 s: no fault"
    assert asked[0].prefix == ()


def test_disks_are_listed_with_their_nodes_where_they_differ(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    alike = {"disks": "2 x SSD 980 (1,000 GB)", "local_dirs_disk": "SSD 980 (1,000 GB)"}
    other = replace(node(**alike, disk_scheduler="none"), host="n2")
    answers(monkeypatch, node(**alike, disk_scheduler="bfq"), other)
    assert main(["doctor", "--hosts", "n[1-2]"]) == 0
    assert capfd.readouterr().out.splitlines()[1:-1] == [
        "disks: 2 x SSD 980 (1,000 GB)",
        "I/O scheduler of the disks: bfq (n1), none (n2)",
        "disk of Spark's local directories: SSD 980 (1,000 GB)",
    ]


@pytest.mark.parametrize("via", ["docker", "netns"])
def test_a_way_to_hosts_without_their_names_does_not_lead_to_this_machine(
    via: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answers(monkeypatch, QUIET)
    reason = "--via reaches hosts that are named, such as --hosts node[1-4]"
    assert refusal("doctor", "--via", via).endswith(reason)
    assert asked == []


def test_a_host_that_does_not_answer_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    answers(monkeypatch, QUIET, HostError("n2: no answer within 30 s"))
    assert main(["doctor", "--hosts", "n1,n2"]) == 1
    assert capfd.readouterr().out.splitlines() == [
        "fault: n2: no answer within 30 s",
        "looked at n1 for 0.5 s: 1 fault",
    ]


def test_this_machine_is_looked_at_in_truth(capfd: pytest.CaptureFixture[str]) -> None:
    """What it finds is what other work does here."""
    assert main(["doctor"]) in {0, 1}
    printed = capfd.readouterr()
    assert " for 0.5 s: " in printed.out.splitlines()[-1]
    assert printed.err == ""


class TestBeforeRuns:
    @pytest.fixture(autouse=True)
    def _as_users_have_it(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("harness.commands.run.warn_of_faults", warn_of_faults)

    @pytest.mark.parametrize("command", ["run --runs 1", "run --minutes 1"])
    def test_faults_alone_are_named_and_refuse_nothing(
        self,
        command: str,
        spark: FakeSpark,
        take: Callable[[float], None],
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        take(30)
        answers(monkeypatch, SAVING)
        assert main(command.split()) == 0
        errors = capfd.readouterr().err
        assert errors.count("fault: n1: governor powersave: ") == 1
        assert "note: " not in errors
        assert spark.calls()

    def test_runs_that_are_complete_are_not_begun(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        answers(monkeypatch, SAVING)
        for _ in range(2):
            assert main(["run", "--runs", "1"]) == 0
        assert capfd.readouterr().err.count("fault: ") == 1
