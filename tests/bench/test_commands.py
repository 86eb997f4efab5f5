"""What commands take of a processor: a user waits for nothing but what was asked for."""

import os
import statistics
import subprocess
import sys

import pytest

from tests.tracked import ROOT

TIMES = 5
LIBRARIES = "import click, msgspec, scipy.special, tabulate"
UPGRADE = ("1g-rs", "2.5g-rs", "2.5g-2x", "--results", "results/ethernet-upgrade")
COMMANDS = {
    "--help": ("--help",),
    "show": ("show", "1g-rs", "--results", "results/ethernet-upgrade"),
    "compare": ("compare", *UPGRADE),
    "report": ("report", *UPGRADE, "--output", os.devnull),
}
LIMITS_S = {"--help": 0.3, "show": 0.5, "compare": 0.5, "report": 2.0}
"""Of compare and report beyond the import of their libraries."""


def processor_s(*arguments: str) -> float:
    """Return the median of the processor time that a process of Python takes."""
    took_s = []
    for _ in range(TIMES):
        before = os.times()
        subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, capture_output=True, check=False, text=True
        )
        after = os.times()
        took_s.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    return statistics.median(took_s)


@pytest.fixture(scope="module")
def libraries_s() -> float:
    return processor_s("-c", LIBRARIES)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_answers_at_once(name: str, libraries_s: float) -> None:
    own_s = processor_s("-m", "harness", *COMMANDS[name])
    beyond = ""
    if name in ("compare", "report"):
        own_s -= libraries_s
        beyond = f" beyond the {libraries_s:.2f} s of its libraries"
    print(f"\n{name}: {own_s:.2f} s{beyond}; wanted: {LIMITS_S[name]} s")
