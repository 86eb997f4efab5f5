"""What a command takes in all, its imports included: a few times what Python takes to import NumPy."""

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UPGRADE = ("1g-rs", "2.5g-rs", "2.5g-2x", "--results", str(ROOT / "results/ethernet-upgrade"))
REPETITIONS = 3


def process_s(arguments: Sequence[str], directory: Path) -> float:
    """Return the processor time of a Python process, at best; modules are compiled before."""
    environment = {
        name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    found = []
    for _ in range(1 + REPETITIONS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments],
            cwd=directory,
            env={**environment, "PYTHONPATH": str(ROOT)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found[1:])


@pytest.mark.parametrize(
    ("command", "max_ratio"),
    [(("compare", *UPGRADE), 8), (("report", *UPGRADE, "--output", "page.html"), 45)],
    ids=["compare", "report"],
)
def test_the_committed_upgrade(command: Sequence[str], max_ratio: float, tmp_path: Path) -> None:
    """The ratios are about 4 and 23."""
    whole_s = process_s(["-m", "harness", *command], tmp_path)
    ratio = whole_s / process_s(["-c", "import numpy"], tmp_path)
    print(f"\n{command[0]}: {whole_s:.2f} s of processor time, {ratio:.0f} x import numpy")
    assert ratio < max_ratio
