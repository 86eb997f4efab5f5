"""A script that an unsuitable Python starts says so in one line, before anything can fail."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.entry import fault_of_old_python
from tests.tracked import ROOT

PYTHONS = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
SCRIPTS = ("jobs/benchmark.py", "datagen/generate.py", "datagen/observe.py")


def started(python: str | Path, script: str, *packages: Path) -> tuple[int, list[str]]:
    """Start a script without Spark, and return its exit code and the lines that it printed."""
    done = subprocess.run(
        [python, "-B", ROOT / script, "--help"],
        env={"PYTHONPATH": os.pathsep.join(map(str, packages)), "PATH": os.defpath},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7"])
def test_a_python_that_is_too_old_is_told_so(version: str) -> None:
    found = sorted(PYTHONS.glob(f"{version}.*/bin/python"))
    if not found:
        pytest.skip(f"no Python {version} in {PYTHONS}")
    for script in SCRIPTS:
        code, lines = started(found[0], script)
        [line] = lines
        assert code == 2
        assert line.startswith(f"{Path(script).name}: error: this is Python {version}.")
        assert "and 3.8 or newer is needed: set PYSPARK_PYTHON to one that every node has" in line


def test_the_oldest_python_is_no_fault() -> None:
    assert fault_of_old_python((3, 8, 0)) == ""
    assert fault_of_old_python((3, 14, 0)) == ""
    assert fault_of_old_python((3, 7, 16)) != ""


@pytest.fixture
def plain_python(tmp_path: Path) -> Path:
    """A Python of this version, without packages."""
    python = tmp_path / "bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    return python


def test_a_python_without_pyspark_is_told_so(plain_python: Path) -> None:
    for script in SCRIPTS:
        code, [line] = started(plain_python, script)
        assert (code, line) == (
            2,
            f"{Path(script).name}: error: this Python finds no pyspark: start the script by spark-submit",
        )


@pytest.mark.parametrize(
    ("spark", "message"),
    [
        ("3.2.4", "this is Spark 3.2.4, and 3.3 or newer is needed: set SPARK_HOME to one"),
        pytest.param(
            "3.3.4",
            "Spark 3.3.4 cannot use Python 3.",
            marks=pytest.mark.skipif(
                sys.version_info < (3, 11), reason="Spark 3.3 can use this Python"
            ),
        ),
    ],
)
def test_a_spark_that_does_not_fit_is_never_imported(
    spark: str, message: str, plain_python: Path, tmp_path: Path
) -> None:
    package = tmp_path / "packages/pyspark"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    (package / "version.py").write_text(f"__version__: str = '{spark}'\n")
    code, [line] = started(plain_python, SCRIPTS[0], package.parent)
    assert code == 2
    assert line.startswith(f"benchmark.py: error: {message}")
