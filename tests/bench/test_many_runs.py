"""A comparison and a report of very many runs take a limited multiple of parsing their lines."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from harness.cli import main
from harness.model.run import Phase
from harness.records.writer import record_all
from tests.unit.builders import a_run, ok
from tests.unit.report_data import tasks

TRIALS, WORKLOADS = 6, 8
MAX_PAGE_BYTES = 3_000_000


def processor_s(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


@pytest.mark.parametrize(
    ("command", "runs", "configurations", "max_ratio"),
    [
        ("compare", 1000, 2, 8),  # it is about 2.3
        ("compare", 1000, 20, 8),
        ("report", 100, 2, 80),  # it is about 25
        ("report", 100, 10, 80),
    ],
)
def test_the_time_is_a_multiple_of_parsing(
    command: str, runs: int, configurations: int, max_ratio: float, tmp_path: Path
) -> None:
    random = Random(9)  # noqa: S311  noise, not a secret
    names = [f"configuration-{number}" for number in range(configurations)]
    rounds = [(Phase.WARM_UP, 1), *((Phase.MEASURED, n) for n in range(1, TRIALS + 1))]
    for number in range(runs):
        trials = [
            ok(f"workload-{workload}", wall_s, round_, phase, tasks=tasks(wall_s))
            for phase, round_ in rounds
            for workload in range(WORKLOADS)
            for wall_s in [random.lognormvariate(2, 0.02)]
        ]
        record_all(tmp_path, a_run(names[number % configurations], f"run-{number:04}"), trials)
    lines = [line for file in tmp_path.rglob("*.jsonl") for line in file.read_text().splitlines()]
    page = tmp_path / "report.html"
    arguments = [command, *names, "--results", str(tmp_path)]
    arguments += ["--output", str(page)] if command == "report" else []
    whole_s = processor_s(lambda: main(arguments))
    parsed_s = min(processor_s(lambda: [json.loads(line) for line in lines]) for _ in range(5))
    size = page.stat().st_size if page.exists() else 0
    print(
        f"\n{runs} runs: {whole_s:.2f} s, {whole_s / parsed_s:.1f} x parsing, {size / 1e6:.2f} MB"
    )
    assert whole_s < max_ratio * parsed_s
    assert size < MAX_PAGE_BYTES
