"""Comparing very many runs takes a few times as long as parsing their lines."""

from pathlib import Path
from random import Random

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.observed.configuration import find_configuration
from harness.model.run import Ending
from harness.present import text
from harness.records.writer import Recording
from tests.bench.yardstick import parsing_s, processor_s
from tests.unit.builders import a_run, ok

RUNS, TRIALS, WORKLOADS = 1000, 10, 8
MAX_RATIO = 15
"""It is about 5."""


@pytest.mark.parametrize("configurations", [2, 20])
def test_a_thousand_runs(tmp_path: Path, configurations: int) -> None:
    random = Random(9)  # noqa: S311  noise, not a secret
    workloads = [f"workload-{number}" for number in range(WORKLOADS)]
    runs_each = RUNS // configurations
    for number in range(RUNS):
        run = a_run(f"configuration-{number // runs_each}", f"run-{number:04}")
        with Recording(tmp_path, run) as recording:
            for round_ in range(1, TRIALS + 1):
                for name in workloads:
                    recording.trial(ok(name, random.lognormvariate(2, 0.02), round_))
            recording.end(Ending.COMPLETED)

    def render() -> None:
        columns = [
            find_configuration(f"configuration-{n}", tmp_path) for n in range(configurations)
        ]
        assert f"configuration-{configurations - 1}" in text.render(compare(columns))

    whole_s, parsed_s = processor_s(render), parsing_s(tmp_path)
    ratio = whole_s / parsed_s
    print(
        f"\n{RUNS} runs of {configurations} configurations: {whole_s:.2f} s, {ratio:.1f} x parsing"
    )
    assert ratio < MAX_RATIO
