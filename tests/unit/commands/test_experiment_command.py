"""`clusterlift experiment --dry-run` says what would be done, a line each."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.experiments.done import ExperimentOutcome
from harness.records.writer import record_all
from tests.refusal import refusal
from tests.unit.builders import a_run, ok

FILE = """
name = "rates"

[datasets.small]
rows = 1_000
layout = "replicated:2"

[configurations.slow]
dataset = "small"
rate = "100mbit"
disk_rate = "4MB/s"

[configurations.fast]
dataset = "small"
rate = "250mbit"
"""


def ended(monkeypatch: pytest.MonkeyPatch, names: Sequence[str], results: Path) -> None:
    """Let an experiment have measured these configurations."""
    outcome = ExperimentOutcome(tuple(names), (), failed=False)
    for function, result in (("run_to_the_end", outcome), ("results_of", results)):
        monkeypatch.setattr(f"harness.commands.experiment.{function}", lambda *_, it=result: it)


def test_a_dry_run_in_the_lab(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(FILE)
    assert main(["experiment", str(file), "--dry-run"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert (
        "6 runs: fast, run 1; slow, run 1; slow, run 2; fast, run 2; fast, run 3; slow, run 3"
        in lines
    )
    at = lines.index("slow:")
    assert lines[at + 1] == "  every node of the lab: 100mbit"
    assert lines[at + 2] == "  every worker of the lab: disk 4MB/s"


def test_its_table_is_that_of_compare_of_its_own_results_whatever_is_beside_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory where the command runs that is called like a configuration hid them."""
    monkeypatch.chdir(tmp_path)
    for results, workload in ((Path(), "other"), (Path("own"), "pi")):
        for name in ("slow", "fast"):
            run = a_run(name, f"{workload}-{name}", workloads=(workload,))
            record_all(results, run, [ok(workload, 1.0)])
    ended(monkeypatch, ("slow", "fast"), Path("own"))
    Path("experiment.toml").write_text(FILE)
    assert main(["experiment", "experiment.toml"]) == 0
    printed = capfd.readouterr().out
    assert main(["compare", "own/slow", "own/fast"]) == 0
    table = capfd.readouterr().out
    assert printed.startswith(table)
    assert "pi " in table
    assert "other" not in table


def test_what_cannot_be_compared_is_there_to_look_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("slow", "fast"):
        record_all(tmp_path / "own", a_run(name, name, workloads=(name,)), [ok(name, 1.0)])
    ended(monkeypatch, ("slow", "fast"), tmp_path / "own")
    file = tmp_path / "experiment.toml"
    file.write_text(FILE)
    refused = refusal("experiment", str(file))
    assert refused.endswith(f"; the results are in --results {tmp_path}/own")


def test_one_configuration_is_no_experiment(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(FILE.partition("[configurations.fast]")[0])
    reason = "an experiment needs two tables or more: [configurations.NAME]"
    assert refusal("experiment", str(file)).endswith(reason)
