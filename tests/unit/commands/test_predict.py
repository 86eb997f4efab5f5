"""`clusterlift predict` and `score`, on the committed results of the upgrade in the lab."""

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from tests.e2e.conftest import ROOT
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


def error(capfd: Capture) -> str:
    [line] = capfd.readouterr().err.splitlines()
    return line


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


def test_a_prediction_that_was_changed_is_refused(
    results: Path, ledger: Path, capfd: Capture
) -> None:
    predict(results, "--link", "250mbit")
    [file] = ledger.iterdir()
    file.chmod(0o644)
    file.write_text(file.read_text().replace("250000000", "250000001"))
    capfd.readouterr()
    assert main(["score", "1g-rs", "2.5g-rs", "--results", str(results)]) == 2
    assert f"{file} was changed after it was written" in error(capfd)


def test_several_links_are_one_table(results: Path, ledger: Path, capfd: Capture) -> None:
    assert predict(results, "--link", "250mbit", "--link", "1gbit") == 0
    assert len(list(ledger.iterdir())) == 2
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert ["workload", "now", "250mbit", "95", "%", "1gbit", "95", "%"] in lines


def test_links_are_ranked_by_their_cost_before_anything_is_bought(
    results: Path, capfd: Capture
) -> None:
    costs = ("--cost", "0.25gbit=350USD", "--cost", "1gbit=1400USD", "--hour", "20USD")
    assert predict(results, "--link", "1gbit", "--link", "250mbit", *costs) == 0
    lines = capfd.readouterr().out.splitlines()
    [table] = [number for number, line in enumerate(lines) if line.startswith("links ")]
    best, second = (re.split(r" {2,}", line) for line in lines[table + 2 : table + 4])
    assert (best[0], second[0]) == ("250mbit", "1gbit")
    saved_s, per_second = float(best[2].split()[0]), float(best[3].split()[0])
    assert saved_s * per_second == pytest.approx(350, rel=0.01)
    hours_paid = float(best[4].split()[0].replace(",", "")) * saved_s / 3600
    assert 20 * hours_paid == pytest.approx(350, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--cost", "5gbit=3USD"),
            "--cost: '5gbit' is not asked about; name one of: 1g-rs, 250mbit",
        ),
        (("--cost", "fast=3USD"), "--cost 'fast' is not a rate; write for example 100mbit"),
        (("--cost", "cheap"), "--cost 'cheap' is not an amount of money"),
        (("--hour", "3USD"), "--hour needs the cost of the change"),
    ],
)
def test_a_mistake_in_costs_is_one_line(
    arguments: tuple[str, ...], message: str, results: Path, ledger: Path, capfd: Capture
) -> None:
    assert predict(results, "--link", "250mbit", *arguments) == 2
    assert message in error(capfd)
    assert not ledger.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "predict needs what is to change: --link RATE, --mtu BYTES or --layout LAYOUT"),
        (("--link", "fast"), "--link 'fast' is not a rate; write for example 100mbit or 2.5gbit"),
        (
            ("--link", "50mbit"),
            "links of 50mbit, MTU 1500, would carry 47.0 Mbit/s, less than those of '1g-rs'",
        ),
        (("--learn", "x"), "No such option"),
        (("--layout", "replicated:2", "--copy", "x"), "'x' is neither a results file"),
        (("--layout", "replicated:2", "--copy", "1g-rs"), "given twice; name it once"),
        (("--copy", "2.5g-2x", "--link", "1gbit"), "--copy needs --layout"),
        (("--layout", "2x"), "'2x' is not a layout"),
        (
            ("--layout", "replicated:2", "--copy", "2.5g-2x"),
            "--copy 2.5g-2x: its links carry 235.1 Mbit/s, and those of '1g-rs' 94.0 Mbit/s",
        ),
        (("--layout", "xor:2+1"), "name it: --copy"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...], message: str, results: Path, ledger: Path, capfd: Capture
) -> None:
    assert predict(results, *arguments) == 2
    assert message in error(capfd)
    assert not ledger.exists()


def test_without_the_bytes_of_the_links_nothing_is_predicted(capfd: Capture) -> None:
    published = ["--results", str(ROOT / "results/published-2020")]
    assert main(["predict", "1g-rs", *published, "--link", "2.5gbit"]) == 2
    assert "the bytes on the nodes' links were not recorded" in error(capfd)


def test_a_prediction_that_was_made_afterwards_is_void(results: Path, capfd: Capture) -> None:
    predict(results, "--link", "250mbit")
    capfd.readouterr()
    assert main(["score", "1g-rs", "2.5g-rs", "--results", str(results)]) == 0
    out = capfd.readouterr().out
    assert "VOID, so this proves nothing: it was made at" in out
    assert "median error" not in out


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
    assert main(["score", "--all", "--results", str(frozen_in_time)]) == 0
    out = capfd.readouterr().out
    [line] = [line for line in out.splitlines() if "250mbit" in line]
    assert not line.endswith("void")
    assert "6 predicted times, controls not counted: median error" in out


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_table_says_how_good_the_prediction_was(
    form: str, frozen_in_time: Path, capfd: Capture
) -> None:
    names = ("1g-rs", "2.5g-rs", "2.5g-2x")
    assert main(["compare", *names, "--results", str(frozen_in_time), "--format", form]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "2.5g-rs was predicted on 2026-01-01" in out
    assert "of 6 times inside their 95 % interval." in out
    assert "2.5g-2x was predicted" not in out, "it has another layout"


def test_a_report_has_the_prediction_beside_the_outcome(
    frozen_in_time: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    where = ["--results", str(frozen_in_time), "--output", str(page)]
    assert main(["report", "1g-rs", "2.5g-rs", *where]) == 0
    assert "Predicted before it was measured" in page.read_text()


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
    assert main(["score", "1g-rs", "2.5g-rs", "--results", str(frozen_in_time)]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert f"VOID, so this proves nothing: {reason}" in out
    assert "median error" not in out


@pytest.mark.parametrize("change", [{"facts.link": "300mbit"}, {"facts.mtu": "9000"}])
def test_another_link_is_not_the_outcome(
    change: dict[str, object], frozen_in_time: Path, capfd: Capture
) -> None:
    for file in (frozen_in_time / "2.5g-rs").glob("*.jsonl"):
        change_line(file, 1, change)
    assert main(["score", "1g-rs", "2.5g-rs", "--results", str(frozen_in_time)]) == 2
    assert "'1g-rs' has no prediction for the link and layout of '2.5g-rs'" in error(capfd)


def test_a_damaged_ledger_does_not_keep_a_table_back(frozen_in_time: Path, capfd: Capture) -> None:
    (frozen_in_time / "1g-rs/predictions/mine.json").write_text("{}")
    assert main(["compare", "1g-rs", "2.5g-rs", "--results", str(frozen_in_time)]) == 0
    printed = capfd.readouterr()
    assert "group-by" in printed.out
    assert "predictions for 1g-rs are left out" in printed.err


def rewrite(ledger: Path, change: Callable[[bytes], bytes]) -> Path:
    """Change the only prediction of a ledger, and name it by the digest of what it says now."""
    [file] = ledger.iterdir()
    data = change(file.read_bytes())
    file.unlink()
    edited = ledger / f"{hashlib.sha256(data).hexdigest()[:16]}.json"
    edited.write_bytes(data)
    return edited


def test_an_id_that_several_predictions_begin_with_is_refused(
    results: Path, ledger: Path, capfd: Capture
) -> None:
    links = [
        f"--link={rate}mbit" for rate in range(200, 370, 10)
    ]  # 17: two have the same first digit
    predict(results, *links)
    first = Counter(file.name[0] for file in ledger.iterdir())
    [(digit, number)] = first.most_common(1)
    capfd.readouterr()
    arguments = ("score", "1g-rs", "2.5g-rs", "--prediction", digit, "--results", str(results))
    assert main(arguments) == 2
    message = error(capfd)
    assert f"--prediction {digit}: the IDs of several of '1g-rs' begin with it" in message
    assert sum(file.stem in message for file in ledger.iterdir()) == number


def test_a_prediction_that_cannot_be_read_is_one_line(
    results: Path, ledger: Path, capfd: Capture
) -> None:
    predict(results, "--link", "250mbit")
    file = rewrite(ledger, lambda data: data.replace(b"network waits", b"network wait\xe9s"))
    capfd.readouterr()
    where = ("--results", str(results))
    for arguments in (("score", "1g-rs", "2.5g-rs"), ("score", "--all")):
        assert main([*arguments, *where]) == 2
        assert f"{file} is no prediction of this version of clusterlift" in error(capfd)


def test_all_leaves_probes_out_without_a_word(frozen_in_time: Path, capfd: Capture) -> None:
    assert main(["score", "--all", "--results", str(frozen_in_time)]) == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_all_needs_a_directory(name: str, tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "file").touch()
    assert main(["score", "--all", "--results", str(tmp_path / name)]) == 2
    assert f"--results: {tmp_path / name} is not a directory" in error(capfd)


def test_all_is_every_directory(
    results: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    monkeypatch.setattr(
        "harness.analysis.predict.prediction.timestamp", lambda: "2026-01-01T00:00:00.000Z"
    )
    below = results / "below"
    below.mkdir()
    (results / "1g-rs").rename(below / "1g-rs")
    predict(below, "--link", "250mbit")
    (results / "mixed").mkdir()
    for name in ("below/1g-rs", "2.5g-rs"):
        file = next((results / name).glob("*.jsonl"))
        shutil.copy(file, results / "mixed" / f"{name[:2]}.jsonl")
    capfd.readouterr()
    assert main(["score", "--all", "--results", str(results)]) == 0
    printed = capfd.readouterr()
    assert "mixed is left out" in printed.err
    assert "6 predicted times, controls not counted: median error" in printed.out


def test_nothing_is_scored_without_a_prediction(results: Path, capfd: Capture) -> None:
    assert main(["score", "1g-rs", "2.5g-rs", "--results", str(results)]) == 2
    assert error(capfd).endswith(
        "'1g-rs' has no prediction; make one before the upgrade: clusterlift predict 1g-rs --link RATE"
    )


def test_a_prediction_of_an_earlier_version_is_scored_as_it_is(
    tmp_path: Path, capfd: Capture
) -> None:
    results = Path(shutil.copytree(ROOT / "results/rates", tmp_path / "rates"))
    shutil.copytree(ROOT / "tests/golden/predictions", results / "100mbit/predictions")
    assert main(["score", "100mbit", "250mbit", "--results", str(results)]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "prediction f6cc18261f63689c of 2026-01-01" in out, "it learnt from 60mbit, too"
    assert "VOID" not in out
    assert "5 predicted times, controls not counted: median error 5.0 %, worst 14.8 %" in out


def test_all_predictions_are_scored_together(results: Path, capfd: Capture) -> None:
    assert main(["score", "--all", "--results", str(results)]) == 0
    assert capfd.readouterr().out == "there is no prediction\n"
    predict(results, "--link", "250mbit")
    capfd.readouterr()
    assert main(["score", "--all", "--results", str(results)]) == 0
    out = capfd.readouterr().out
    assert "nothing since" in out, "what was measured before is no outcome"
    assert "No prediction can be judged yet." in out


@pytest.mark.parametrize("arguments", [(), ("1g-rs",), ("--all", "1g-rs")])
def test_score_needs_two_configurations_or_all(
    arguments: tuple[str, ...], results: Path, capfd: Capture
) -> None:
    assert main(["score", *arguments, "--results", str(results)]) == 2
    assert "--all" in error(capfd)
