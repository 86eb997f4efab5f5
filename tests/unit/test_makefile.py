"""`make toolchain` reports an unsuitable Java or Python in one line, before any download."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Under `make test`, an inner make would inherit the options and print its level in messages.
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
    ("version", "message"),
    [("1.8.0_392", "is version 8"), ("11.0.2", "is version 11"), ("17.0.15", ""), ("21", "")],
)
def test_java_must_be_17_or_newer(tmp_path: Path, version: str, message: str) -> None:
    java = tmp_path / "bin/java"
    java.parent.mkdir()
    java.write_text(f"""#!/bin/sh\necho 'openjdk version "{version}" 2025-04-15' >&2\n""")
    java.chmod(0o755)
    lines = toolchain(JAVA_HOME=str(tmp_path))
    assert len(lines) == bool(message)
    assert message in "".join(lines)


def test_a_missing_java_is_reported(tmp_path: Path) -> None:
    [line] = toolchain(JAVA_HOME=str(tmp_path))
    assert line.startswith("clusterlift: Java 17 or newer is needed")
    assert "not there" in line


def test_a_missing_python_is_reported() -> None:
    [line] = toolchain("PYTHON=python3.99")
    assert "Python 3.11 or newer is needed, and 'python3.99' is not" in line
