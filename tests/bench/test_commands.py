"""What commands take of a processor: a user waits for nothing but what was asked for."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.scale import scaled
from tests.tracked import ROOT

TIMES = scaled(5, smoke=1)
LIBRARIES = {
    "--help": "",
    "show": "",
    "compare": "import click, msgspec, scipy.special",
    "report": "import click, jinja2, msgspec, scipy.special, vl_convert",
}
UPGRADE = ("1g-rs", "2.5g-rs", "2.5g-2x", "--results", "results/ethernet-upgrade")
COMMANDS = {
    "--help": ("--help",),
    "show": ("show", "1g-rs", "--results", "results/ethernet-upgrade"),
    "compare": ("compare", *UPGRADE),
    "report": ("report", *UPGRADE),
}
LIMITS_S = {"--help": 0.3, "show": 0.5, "compare": 0.5, "report": 2.0}
"""Of compare and report beyond the import of their libraries."""


def processor_s(*arguments: str) -> float:
    """Return the median of the processor time that a process of Python takes."""
    took_s = []
    for _ in range(TIMES):
        before = os.times()
        subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, capture_output=True, check=True, text=True
        )
        after = os.times()
        took_s.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    return statistics.median(took_s)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_answers_at_once(name: str, tmp_path: Path) -> None:
    arguments = [*COMMANDS[name]]
    if name == "report":
        arguments += ["--output", str(tmp_path / "report.html")]
    libraries_s = 0.0
    if LIBRARIES[name]:
        libraries_s = processor_s("-c", LIBRARIES[name])
    own_s = processor_s("-m", "harness", *arguments) - libraries_s
    print(
        f"\n{name}: {own_s:.2f} s beyond the {libraries_s:.2f} s of its libraries; wanted: {LIMITS_S[name]} s"
    )
