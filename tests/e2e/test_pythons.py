"""The scripts on every Python of this machine, each with a Spark that goes with it.

The table has one line for each Python. One Spark application generates a dataset and runs workloads on it.
"""

from pathlib import Path

import pytest

from harness.base.spark_needs import python_fault

from .benchmarks import FAST, KINDS, check_complete, recorded
from .conftest import NEWEST, Spark, completed, own_lines, python_of_version, spark_for

PAIRS = (
    ("3.8", "3.3"),
    ("3.9", "3.3"),
    ("3.10", "3.3"),
    ("3.11", "3.5"),
    ("3.12", "3.5"),
    ("3.13", NEWEST),
    ("3.14", NEWEST),
)
"""Versions of Python, and the Spark that each of them has here."""
FIRST = {version: python for python, version in reversed(PAIRS)}
"""The oldest Python of each Spark. Here, the Spark runs what has nothing to do with Python, too."""
WITHOUT_PYTHON = frozenset({"supersteps"})
TOO_OLD = ("2.7", "3.6", "3.7")
RECORDING_ROOMS = ("base", "eventlog", "model", "node", "trials", "work")
"""The rooms of `harness` that spark-submit runs."""
FEW = 10
"""Lines that Spark logs before it knows its log level. Without one, they are hundreds."""
GENERATED = ("--generate", "--rows 500 --partitions 2")


@pytest.mark.smoke
@pytest.mark.parametrize(("python", "version"), PAIRS)
def test_a_python_runs_workloads_of_each_kind(
    python: str, version: str, checkout: Path, tmp_path: Path
) -> None:
    spark = spark_for(version, python_of_version(python), tmp_path / "environment")
    workloads = KINDS if FIRST[version] == python else KINDS - WITHOUT_PYTHON
    done = spark.submit(
        *(checkout / "jobs/benchmark.py", "--dataset", tmp_path / "rows", *GENERATED),
        *(*FAST, "--workloads", ",".join(workloads)),
        cwd=tmp_path,
    )
    run = recorded(tmp_path / "results")
    check_complete(run, executors=1, workloads=workloads)
    used = run.run.environment
    assert used["python"].startswith(f"{python}.")
    assert used["spark"].startswith(version) or version == NEWEST
    assert python_fault(used["spark"], used["python"]) == ""
    assert (done.stdout + done.stderr).count(" INFO ") < FEW


IMPORTS = """
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
entries = {"jobs.benchmark", "datagen.generate", "datagen.observe"}
modules = set()
for name in sys.argv[2:]:
    path = importlib.import_module(name).__path__
    modules |= {found.name for found in pkgutil.walk_packages(path, name + ".")}
for name in sorted(modules - entries - {"harness.base.option_types"}):
    importlib.import_module(name)
print(len(modules))
"""
ROOMS = ("jobs", "datagen", *(f"harness.{room}" for room in RECORDING_ROOMS))


@pytest.mark.smoke
def test_the_oldest_python_can_import_every_module(checkout: Path, tmp_path: Path) -> None:
    """A type that is computed, such as an alias, may need a newer Python than vermin says."""
    oldest, version = PAIRS[0]
    spark = spark_for(version, python_of_version(oldest), tmp_path / "environment")
    command = [str(spark.python), "-c", IMPORTS, str(checkout), *ROOMS]
    assert int(completed(command, tmp_path, spark.environment()).stdout) > 100


@pytest.mark.smoke
@pytest.mark.parametrize("python", TOO_OLD)
def test_a_python_that_is_too_old_is_one_line(
    python: str, spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    old = {"PYSPARK_PYTHON": str(python_of_version(python)), "SPARK_HOME": str(spark.home)}
    done = spark.submit(checkout / "datagen/generate.py", "rows", cwd=tmp_path, env=old, code=2)
    [line] = own_lines(done)
    assert line.startswith(f"generate.py: error: this is Python {python}.")
    assert "and 3.8 or newer is needed" in line
    assert not (tmp_path / "rows").exists()
