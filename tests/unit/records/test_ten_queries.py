"""Five applications before a change and five after, with ten queries each. Three queries differ.

q3 has another plan, q5 reads one more file, and q8 takes 10 % more time: the table says exactly that.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from harness.commands.cli import main
from tests.unit.eventlog.event_log_lines import (
    SQL,
    application_ended,
    application_started,
    execution,
    line,
)

QUERIES = [f"q{number}" for number in range(1, 11)]
APPLICATIONS = 5
SIZES = 1000
"""What the number of the metric of the files' size is above that of their number."""
JOINED = "SortMergeJoin became BroadcastHashJoin"
_SORTED = (
    "SortMergeJoin [a#{0}L], [b#{0}L], Inner",
    "Exchange hashpartitioning(a#{0}L, 200), ENSURE_REQUIREMENTS, [plan_id={0}]",
    "Scan parquet db.orders",
)
_HASHED = (
    "BroadcastHashJoin [a#{0}L], [b#{0}L], Inner, BuildRight, false",
    "BroadcastExchange HashedRelationBroadcastMode(List(input[0, bigint, true]),false), [plan_id={0}]",
    "Scan parquet db.orders",
)


def plan_info(operators: tuple[str, ...], number: int, files_metric: int) -> dict[str, Any]:
    """A plan as Spark logs it, whose columns are numbered anew each time; the last operator scans."""
    node: dict[str, Any] = {}
    for text in reversed(operators):
        name, _, _ = text.partition(" [") if "Join" in text else text.partition(" H")
        name = text if text.startswith("Scan") else name.split()[0]
        node = {
            "nodeName": name,
            "simpleString": text.format(number),
            "children": [node] if node else [],
            "metadata": {},
            "metrics": [],
        }
        if name.startswith("Scan"):
            metrics = [
                {"name": "number of files read", "accumulatorId": files_metric},
                {"name": "size of files read", "accumulatorId": files_metric + SIZES},
            ]
            node |= {"metadata": {"Format": "Parquet"}, "metrics": metrics}
    return {
        "nodeName": "AdaptiveSparkPlan",
        "simpleString": "AdaptiveSparkPlan isFinalPlan=true",
        "children": [node],
        "metadata": {},
        "metrics": [],
    }


def query(number: int, name: str, start_ms: int, *, is_after: bool, noise: float) -> list[bytes]:
    """The lines of a query of an application: it starts with one plan, and adaptive execution ends it."""
    wall_ms = 20_000 * noise
    if is_after and name == "q8":
        wall_ms *= 1.1
    files = 41 if is_after and name == "q5" else 40
    operators = _HASHED if is_after and name == "q3" else _SORTED
    planned = plan_info(operators, 100 * number + start_ms % 97, number)
    first, *others = execution(
        number,
        start_ms,
        start_ms + round(wall_ms),
        name,
        operators=[text.format(number) for text in _SORTED],
        input_bytes=9_000,  # footers: what other threads read for a task is not counted
    )
    ids = {"executionId": number}
    update = line("SQLAdaptiveExecutionUpdate", SQL, **ids, sparkPlanInfo=planned)
    counted = [[number, files], [number + SIZES, files * 1_000_000]]
    counts = line("DriverAccumUpdates", SQL, **ids, accumUpdates=counted)
    return [first, update, counts, *others]


def write_logs(directory: Path, *, is_after: bool) -> None:
    directory.mkdir()
    # One table in twenty claims a change by chance; with this seed, none does.
    rng = random.Random(f"1 {is_after}")  # noqa: S311  a simulation
    day_ms = 86_400_000 * (100 if is_after else 10)
    for number in range(APPLICATIONS):
        start_ms = day_ms + number * 86_400_000
        lines = application_started("nightly", start_ms, f"app-{is_after}-{number}")
        for index, name in enumerate(QUERIES):
            at_ms = start_ms + 1_000 + 30_000 * index
            noise = rng.gauss(1, 0.01)
            lines += query(index, name, at_ms, is_after=is_after, noise=noise)
        lines.append(application_ended(start_ms + 400_000))
        (directory / f"app-{is_after}-{number}").write_bytes(b"".join(lines))


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_logs(tmp_path / "before", is_after=False)
    write_logs(tmp_path / "after", is_after=True)
    monkeypatch.chdir(tmp_path)


def test_the_table_says_exactly_what_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--event-logs", "before", "after", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    changed, noted = {}, {}
    for row in found["workloads"]:
        cell = row["cells"][1]
        if cell["change"]["verdict"] == "changed":
            changed[row["workload"]] = cell["change"]["relative_change"]
        noted[row["workload"]] = cell["notes"]
    assert list(changed) == ["q8"]
    assert changed["q8"] == pytest.approx(0.10, abs=0.02)
    whole = "input of nightly: 401 files, 401 MB here, 400 files, 400 MB in before"
    assert whole in noted.pop("nightly")
    assert {name: notes for name, notes in noted.items() if notes} == {
        "q3": [f"q3: {JOINED}; Exchange became BroadcastExchange"],
        "q5": ["input of q5: 41 files, 41 MB here, 40 files, 40 MB in before"],
    }
    [together] = found["together"]
    assert together["workloads"] == QUERIES
    assert together["sum_change"]["relative_change"] == pytest.approx(0.01, abs=0.01)


def test_people_read_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--event-logs", "before", "after"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"q3: {JOINED}" in shown
    assert "after, 10 workloads together: " in shown
    assert main(["explain", "--event-logs", "before", "after", "--plan", "q3"]) == 0
    assert "| BroadcastHashJoin Inner, BuildRight" in " ".join(capsys.readouterr().out.split())


def test_strict_refuses_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--event-logs", "before", "after", "--strict"]) == 2
    assert "confounders" in capsys.readouterr().err
