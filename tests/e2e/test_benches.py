"""Every benchmark still runs, with little work. What its figures are, `make microbench` says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT

pytestmark = pytest.mark.slow

BENCHES = ROOT / "tests/bench"
UPGRADE = ("1g-rs", "2.5g-rs", "--results", "results/ethernet-upgrade")
ARGUMENTS = {
    "backtest": UPGRADE,
    "generation": ("1000",),
    "identical_runs": ("results/slower-by-5-percent",),
}
"""Of those that are scripts."""


def run(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=os.environ | {"BENCH": "smoke"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", sorted(BENCHES.glob("test_*.py")), ids=lambda file: file.stem)
def test_a_benchmark_runs(file: Path) -> None:
    run("pytest", "-p", "no:cacheprovider", str(file))


@pytest.mark.parametrize("script", ARGUMENTS)
def test_a_script_runs(script: str) -> None:
    run(f"tests.bench.{script}", *ARGUMENTS[script])


def test_every_script_has_arguments() -> None:
    scripts = {file.stem for file in BENCHES.glob("*.py") if "\nif __name__" in file.read_text()}
    assert scripts == set(ARGUMENTS)
