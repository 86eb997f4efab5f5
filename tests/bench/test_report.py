"""A report of very many runs stays small, and takes a limited multiple of parsing their lines."""

from pathlib import Path
from random import Random

import pytest

from harness.cli import main
from harness.model.run import Ending, Phase
from harness.records.writer import Recording
from tests.bench.yardstick import parsing_s, processor_s
from tests.unit.builders import a_run, ok
from tests.unit.report_data import tasks

RUNS, TRIALS, WORKLOADS = 100, 6, 8
MAX_RATIO = 200
"""It is about 70."""
MAX_BYTES = 3_000_000


@pytest.mark.parametrize("configurations", [2, 10])
def test_a_hundred_runs(tmp_path: Path, configurations: int) -> None:
    random = Random(9)  # noqa: S311  noise, not a secret
    workloads = [f"workload-{number}" for number in range(WORKLOADS)]
    runs_each = RUNS // configurations
    rounds = [(Phase.WARM_UP, 1), *((Phase.MEASURED, n) for n in range(1, TRIALS + 1))]
    for number in range(RUNS):
        run = a_run(f"configuration-{number // runs_each}", f"run-{number:04}")
        with Recording(tmp_path, run) as recording:
            for phase, round_ in rounds:
                for name in workloads:
                    wall_s = random.lognormvariate(2, 0.02)
                    recording.trial(ok(name, wall_s, round_, phase, tasks=tasks(wall_s)))
            recording.end(Ending.COMPLETED)

    names = [f"configuration-{number}" for number in range(configurations)]
    page = tmp_path / "report.html"

    def report() -> None:
        assert main(["report", *names, "--results", str(tmp_path), "--output", str(page)]) == 0

    whole_s, parsed_s = processor_s(report), parsing_s(tmp_path)
    ratio, size = whole_s / parsed_s, page.stat().st_size
    print(
        f"\n{RUNS} runs of {configurations} configurations: {whole_s:.1f} s, "
        f"{ratio:.0f} x parsing, {size / 1e6:.2f} MB"
    )
    assert ratio < MAX_RATIO
    assert size < MAX_BYTES
