"""`clusterlift program` and `clusterlift scaling`: every mistake is one line that names the option."""

import pytest

from harness.commands.cli import main
from tests.refusal import refusal
from tests.tracked import ROOT

BEOWULF = ["--results", str(ROOT / "results/beowulf-2009")]
HPCC = ["program", "hpcc", "--configuration", "1g", "--via", "local", "--hosts", "here"]


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--nodes", "4,2"], "'--nodes': '4,2' does not grow; write 1,2,4"),
            (["--memory", "much"], "'--memory': 'much' is not a size; write 64mb or 1.5gb"),
            (["--block", "7"], "'--block': '7' is not a whole number from 8 to 4,096"),
            (["--timeout", "soon"], "'--timeout': 'soon' is not a time"),
            (["--peak", "nan"], "'--peak': 'nan' is not a number"),
            (["--per-host", "0"], "'--per-host': 0 is not in the range"),
            (["--network", "pigeon"], "'--network': 'pigeon' is not one of 'tcp', 'rdma'"),
        ],
    )
    def test_an_option_that_cannot_be_read_is_named(
        self,
        arguments: list[str],
        message: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("harness.commands.program.ready_hosts", lambda *_: ())
        assert message in refusal(*HPCC, *arguments)

    def test_a_wrong_fact_is_refused_before_a_host_is_asked(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[object] = []
        monkeypatch.setattr("harness.commands.program.ready_hosts", lambda *_: asked.append(1))
        assert "--fact 'mtu' has no '='" in refusal(*HPCC, "--fact", "mtu")
        assert not asked

    def test_a_configuration_is_required(self) -> None:
        assert "--configuration" in refusal("program", "hpcc", "--hosts", "n1")

    def test_phold_says_what_to_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ROSS_HOME", raising=False)
        refused = refusal("program", "phold", "--configuration", "1g", "--hosts", "n1")
        assert "ROSS_HOME is not set" in refused


class TestScaling:
    def test_prints_a_table_for_each_workload(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["scaling", "1g", "bonded", *BEOWULF]) == 0
        assert "speed-up" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["2.5g"], "'2.5g' needs results on two numbers of nodes or more, such as 2.5g-n1"),
            (["1g", "1g"], "a configuration is named twice"),
        ],
    )
    def test_a_mistake_is_named(self, names: list[str], message: str) -> None:
        assert message in refusal("scaling", *names, *BEOWULF)
