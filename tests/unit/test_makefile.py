"""A toolchain that will not do is told in one line, before anything is downloaded."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Under `make test` a make within would take its options, and print its name with a level.
OUTSIDE_MAKE = {name: value for name, value in os.environ.items() if "MAKE" not in name}


def toolchain(*variables: str, **environment: str) -> list[str]:
    done = subprocess.run(
        ["make", "--no-print-directory", "toolchain", *variables],
        cwd=ROOT,
        env=OUTSIDE_MAKE | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert done.returncode == (2 if lines else 0)
    return lines


@pytest.mark.parametrize(
    ("version", "told"),
    [("1.8.0_392", "is version 8"), ("11.0.2", "is version 11"), ("17.0.15", ""), ("21", "")],
)
def test_java_has_to_be_17(tmp_path: Path, version: str, told: str) -> None:
    java = tmp_path / "bin/java"
    java.parent.mkdir()
    java.write_text(f"""#!/bin/sh\necho 'openjdk version "{version}" 2025-04-15' >&2\n""")
    java.chmod(0o755)
    lines = toolchain(JAVA_HOME=str(tmp_path))
    assert len(lines) == bool(told)
    assert told in "".join(lines)


def test_no_java_is_told(tmp_path: Path) -> None:
    [line] = toolchain(JAVA_HOME=str(tmp_path))
    assert line.startswith("clusterlift: Java 17 or newer is needed")
    assert "not there" in line


def test_no_python_is_told() -> None:
    [line] = toolchain("PYTHON=python3.99")
    assert "Python 3.11 or newer is needed, and 'python3.99' is not" in line
