"""Every command of the README, in a fresh clone, with little data; and every file that it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import ROOT

README = (ROOT / "README.md").read_text()
SMALL = {"ROWS": "2000", "TRIALS": "1"}


def commands() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What git tracks here, as it is now, over the environment that is set up here."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    copy = tmp_path / "clone"
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    for name in ("requirements.lock", "pyproject.toml"):
        os.utime(copy / name, (0, 0))  # older than the environment, which is not made again
    (copy / ".venv").symlink_to(ROOT / ".venv")
    return copy


@pytest.mark.slow
def test_every_command_works(clone: Path) -> None:
    script = "set -euo pipefail\n" + "".join(commands())
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=clone,
        env=os.environ | SMALL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (clone / "results").iterdir()} >= {"before", "after", "1g"}
    assert "setting up" not in done.stdout


def printed(*arguments: str) -> list[str]:
    """What clusterlift says, by its paragraphs."""
    done = subprocess.run(
        ["clusterlift", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n\n")


def test_the_tables_are_those_of_the_committed_results() -> None:
    for arguments in (
        ["csv", "parquet"],
        ["1g-rs", "2.5g-rs", "2.5g-2x", "--results", "results/ethernet-upgrade"],
        ["1g-rs", "2.5g-rs", "2.5g-2x", "--results", "results/published-2020"],
    ):
        assert indented(printed("compare", *arguments)[0]) in README


def test_the_division_is_that_of_the_committed_results() -> None:
    division = printed("explain", "1g-rs", "2.5g-rs", "--results", "results/ethernet-upgrade")[1]
    assert indented(division) in README


def test_every_file_it_names_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
