"""`clusterlift predict`, on the committed results of the upgrade in the lab."""

import json
import re
import shutil
from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.records.writer import record_all
from tests.e2e.conftest import ROOT
from tests.refusal import refusal
from tests.unit.analysis.predict import test_disks
from tests.unit.builders import change_line

RESULTS = ROOT / "results/ethernet-upgrade"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RESULTS, tmp_path / "results"))


@pytest.fixture
def ledger(results: Path) -> Path:
    return results / "1g-rs/predictions"


def predict(results: Path, *arguments: str) -> int:
    return main(["predict", "1g-rs", "--results", str(results), *arguments])


def test_it_is_frozen_under_the_digest_of_what_it_says(
    results: Path, ledger: Path, capfd: Capture
) -> None:
    assert predict(results, "--link", "250mbit") == 0
    [file] = ledger.iterdir()
    out = capfd.readouterr().out
    assert f"{file.stem}.json" in out
    saved = json.loads(file.read_text())
    assert saved["target"]["link_bit_s"] == 250_000_000
    assert {time["workload"] for time in saved["times"]} >= {"sha-512", "inner-join"}
    assert predict(results, "--link", "250mbit") == 0
    assert list(ledger.iterdir()) == [file], "the same prediction is the earlier one"


def test_each_link_is_a_prediction(results: Path, ledger: Path, capfd: Capture) -> None:
    assert predict(results, "--link", "250mbit", "--link", "1gbit") == 0
    assert len(list(ledger.iterdir())) == 2
    out = capfd.readouterr().out
    assert "1g-rs over 250mbit, MTU 1500" in out
    assert "1g-rs over 1gbit, MTU 1500" in out


def test_links_are_ranked_by_their_cost_before_anything_is_bought(
    results: Path, capfd: Capture
) -> None:
    costs = ("--cost", "0.25gbit=350USD", "--cost", "1gbit=1400USD")
    assert predict(results, "--link", "1gbit", "--link", "250mbit", *costs) == 0
    lines = capfd.readouterr().out.splitlines()
    [table] = [number for number, line in enumerate(lines) if line.startswith("upgrade ")]
    best, second = (re.split(r" {2,}", line) for line in lines[table + 2 : table + 4])
    assert (best[0], second[0]) == ("250mbit", "1gbit")
    saved_s, per_second = float(best[2].split()[0]), float(best[3].split()[0])
    assert saved_s * per_second == pytest.approx(350, rel=0.01)


RATE = ("--link", "250mbit")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (*RATE, "--cost", "5gbit=3USD"),
            "--cost: '5gbit' is not asked about; name one of: 1g-rs, 250mbit",
        ),
        ((*RATE, "--cost", "fast=3USD"), "--cost 'fast' is not a rate; write for example 100mbit"),
        ((), "predict needs what is to change: --link, --mtu or --disk"),
        ((*RATE, "--disk", "2x"), "--disk predicts disks alone: leave out --link and --mtu"),
        (("--disk", "2x"), "it has no profile, and how busy disks were is not known"),
        (("--score", "2.5g-rs", "--link", "1gbit"), "--score compares what was predicted"),
        (("--score", "2.5g-rs"), "'1g-rs' has no prediction for the link and layout of '2.5g-rs'"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...], message: str, results: Path, ledger: Path
) -> None:
    assert message in refusal("predict", "1g-rs", "--results", str(results), *arguments)
    assert not ledger.exists()


def test_a_prediction_that_was_made_afterwards_is_not_judged(results: Path) -> None:
    predict(results, "--link", "250mbit")
    refused = refusal("predict", "1g-rs", "--score", "2.5g-rs", "--results", str(results))
    assert "from before its first run" in refused


@pytest.fixture
def frozen_in_time(results: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> Path:
    """The results, with a prediction that was made before anything was measured."""
    monkeypatch.setattr(
        "harness.analysis.predict.prediction.timestamp", lambda: "2026-01-01T00:00:00.000Z"
    )
    assert predict(results, "--link", "250mbit") == 0
    capfd.readouterr()
    return results


def test_a_prediction_whose_conditions_held_is_judged(frozen_in_time: Path, capfd: Capture) -> None:
    assert predict(frozen_in_time, "--score", "2.5g-rs") == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "VOID" not in out
    assert "6 predicted times, controls not counted: median error" in out
    assert predict(frozen_in_time, "--score", "2.5g-2x") == 2  # it has another layout


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"environment.spark": "9.9.9"}, "Spark version: 9.9.9 now, 4.3.0 was the condition"),
        (
            {"dataset.digest": "0123456789abcdef"},
            "dataset: 1,000,000 rows of digest 0123456789abcdef",
        ),
        ({"environment.executors": ["172.18.0.2"] * 3}, "executors: 3 on 1 node now, 4 on 4 nodes"),
        (
            {"environment.spark_conf": {"spark.sql.adaptive.enabled": "false"}},
            "spark.sql.adaptive.enabled: false now, and it was not set for the baseline",
        ),
    ],
)
def test_a_condition_that_changed_makes_it_void(
    change: dict[str, object], reason: str, frozen_in_time: Path, capfd: Capture
) -> None:
    for file in (frozen_in_time / "2.5g-rs").glob("*.jsonl"):
        change_line(file, 1, change)
    assert main(["predict", "1g-rs", "--score", "2.5g-rs", "--results", str(frozen_in_time)]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert f"VOID, so this proves nothing: {reason}" in out
    assert "median error" not in out


def test_faster_disks_are_predicted_and_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    monkeypatch.setattr(
        "harness.analysis.predict.prediction.timestamp", lambda: "2020-01-01T00:00:00.000Z"
    )
    slow = test_disks.configuration(test_disks.WAITING, facts={"disk": "50MB/s"})
    fast = test_disks.configuration(name="ssd", facts={"disk": "100MB/s"}, wall_s=8.5)
    for found in (*slow.runs, *fast.runs):
        record_all(tmp_path, found.run, found.trials)
    options = ("--results", str(tmp_path))
    costs = ("--cost", "2x=350USD", "--cost", "4.0x=900USD")
    assert main(["predict", "hdd", "--disk", "2x", "--disk", "4x", *costs, *options]) == 0
    out = capfd.readouterr().out
    assert "hdd with disks 2x as fast, and all else as it is" in out
    assert re.search(r"sort +10\.0 s +8\.25 s +-17\.5%", out)
    assert re.search(r"2x +350 USD +1\.75 s .* 200 USD", out), out
    assert main(["predict", "hdd", "--score", "ssd", *options]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "for disks 2x as fast, and what ssd measured" in out
    assert re.search(r"sort 10\.0 s 8\.25 s .* 8\.50 s -2\.9% 95 %", out)
    assert "no probe verified that the disks of ssd are as fast as its fact `disk` says" in out
    assert "VOID" not in out
