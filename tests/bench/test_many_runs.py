"""Commands on very many runs take a limited multiple of the time and memory that their lines take."""

import json
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest

from harness.commands.cli import main
from harness.model.run import Phase
from harness.records.writer import record_all
from tests.bench.scale import IS_SMOKE, scaled
from tests.unit.builders import a_run, ok, write_lines
from tests.unit.report_data import tasks

TRIALS, WORKLOADS = 6, 8
MAX_PAGE_BYTES = 3_000_000


def processor_s(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


def run(arguments: list[str]) -> None:
    assert main(arguments) == 0


@pytest.mark.parametrize(
    ("command", "runs", "configurations", "max_ratio"),
    [
        ("compare", scaled(1000, smoke=4), 2, 8),  # it is about 2.3
        ("compare", scaled(1000, smoke=40), 20, 8),
        ("report", scaled(100, smoke=4), 2, 80),  # it is about 25
        ("report", scaled(100, smoke=20), 10, 80),
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
    whole_s = processor_s(lambda: run(arguments))
    parsed_s = min(processor_s(lambda: [json.loads(line) for line in lines]) for _ in range(5))
    size = page.stat().st_size if page.exists() else 0
    print(
        f"\n{runs} runs: {whole_s:.2f} s, {whole_s / parsed_s:.1f} x parsing, {size / 1e6:.2f} MB"
    )
    assert IS_SMOKE or whole_s < max_ratio * parsed_s
    assert size < MAX_PAGE_BYTES


REAL_RUN = Path(__file__).parents[2] / "results" / "profiled-rates" / "100mbit-2x"
COPIES = scaled(200, smoke=2)
MAX_MEMORY_RATIO = 1.0


def copies_of(file: Path, number: int, results: Path) -> int:
    """Write copies of a run of two configurations, under other ids, and return their bytes."""
    first, *others = file.read_text().splitlines()
    values = json.loads(first)
    size = 0
    for n in range(number):
        configuration = "ab"[n % 2]
        values |= {"id": f"run-{n:05}", "configuration": configuration}
        path = results / configuration / f"run-{n:05}.jsonl"
        path.parent.mkdir(exist_ok=True)
        size += write_lines(path, [json.dumps(values), *others]).stat().st_size
    return size


@pytest.mark.parametrize("command", [["compare", "a", "b"], ["show", "a"]], ids=" ".join)
def test_copies_of_a_real_run_take_time_by_their_number_and_less_memory_than_their_size(
    command: list[str], tmp_path: Path
) -> None:
    """Twice the runs take about twice as long; what was sampled in their trials is not kept."""
    largest = max(REAL_RUN.glob("*.jsonl"), key=lambda file: file.stat().st_size)
    took_s: list[float] = []
    for number in (COPIES, 2 * COPIES):
        results = tmp_path / str(number)
        results.mkdir()
        size = copies_of(largest, number, results)
        arguments = [*command, "--results", str(results)]
        run(arguments)  # imports what it needs
        took_s.append(processor_s(partial(run, arguments)))
    tracemalloc.start()
    run(arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    each_ms = [
        1e3 * seconds / runs for seconds, runs in zip(took_s, (COPIES, 2 * COPIES), strict=True)
    ]
    print(
        f"\n{command[0]}: {each_ms[0]:.1f} and {each_ms[1]:.1f} ms a run, "
        f"{took_s[1] / took_s[0]:.2f} x the time for twice the runs, "
        f"{peak / size:.2f} bytes of memory for a byte of file"
    )
    assert IS_SMOKE or peak < MAX_MEMORY_RATIO * size
