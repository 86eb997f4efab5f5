"""How long a report of very many runs takes, and how large it gets."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from harness.cli import main
from harness.model.run import Ending, Phase
from harness.records.writer import Recording
from tests.unit.builders import a_run, ok
from tests.unit.report_data import tasks

pytestmark = pytest.mark.bench

RUNS, TRIALS, WORKLOADS = 100, 6, 8
MOST_S, MOST_BYTES = 10.0, 3_000_000


@pytest.mark.parametrize("configurations", [2, 10])
def test_a_hundred_runs_make_a_report_in_seconds(tmp_path: Path, configurations: int) -> None:
    random = Random(9)  # noqa: S311  noise, not a secret
    names = [f"workload-{number}" for number in range(WORKLOADS)]
    each = RUNS // configurations
    for number in range(RUNS):
        run = a_run(f"configuration-{number // each}", f"run-{number:04}")
        rounds = [(Phase.WARM_UP, 1), *((Phase.MEASURED, n) for n in range(1, TRIALS + 1))]
        with Recording(tmp_path, run) as recording:
            for phase, round_ in rounds:
                for name in names:
                    wall_s = random.lognormvariate(2, 0.02)
                    recording.trial(ok(name, wall_s, round_, phase, tasks=tasks(wall_s)))
            recording.end(Ending.COMPLETED)

    columns = [f"configuration-{number}" for number in range(configurations)]
    page = tmp_path / "report.html"
    started, started_cpu = time.perf_counter(), time.process_time()
    assert main(["report", *columns, "--results", str(tmp_path), "--output", str(page)]) == 0
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - started_cpu
    size = page.stat().st_size
    print(
        f"\n{RUNS} runs of {configurations} configurations: {wall_s:.1f} s, {cpu_s:.1f} s of "
        f"processor time, {size / 1e6:.2f} MB"
    )
    assert cpu_s < MOST_S
    assert size < MOST_BYTES
