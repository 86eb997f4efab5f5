"""How long it takes to compare very many runs, against merely parsing their lines."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random

import pytest

from harness.analysis.comparison import compare
from harness.analysis.configuration import find_configuration
from harness.model.run import Ending
from harness.present import text
from harness.records.writer import Recording
from tests.unit.builders import a_run, ok

pytestmark = pytest.mark.bench

RUNS, TRIALS, WORKLOADS = 1000, 10, 8
MOST_S = 3.0


@pytest.mark.parametrize("configurations", [2, 20])
def test_a_thousand_runs_compare_in_seconds(tmp_path: Path, configurations: int) -> None:
    random = Random(9)  # noqa: S311  noise, not a secret
    names = [f"workload-{number}" for number in range(WORKLOADS)]
    each = RUNS // configurations
    for number in range(RUNS):
        run = a_run(f"configuration-{number // each}", f"run-{number:04}")
        with Recording(tmp_path, run) as recording:
            for round_ in range(1, TRIALS + 1):
                for name in names:
                    recording.trial(ok(name, random.lognormvariate(2, 0.02), round_))
            recording.end(Ending.COMPLETED)

    started = time.process_time()
    for file in tmp_path.rglob("*.jsonl"):
        for line in file.read_text().splitlines():
            json.loads(line)
    parsed_s = time.process_time() - started

    started = time.process_time()
    columns = [find_configuration(f"configuration-{n}", tmp_path) for n in range(configurations)]
    loaded_s = time.process_time() - started
    table = text.render(compare(columns))
    whole_s = time.process_time() - started
    assert table.count(f"configuration-{configurations - 1}") >= 1
    print(
        f"\n{RUNS} runs of {configurations} configurations: {whole_s:.2f} s of processor time, "
        f"{loaded_s:.2f} s of them loading; {whole_s / parsed_s:.1f} times as long as parsing"
    )
    assert whole_s < MOST_S
