"""What is installed from the wheel does, outside the repository, what the checkout does."""

import os
import shutil
import subprocess
import sys
import zipfile
from itertools import chain
from pathlib import Path

import pytest

from harness import __version__
from harness.commands.cli import COMPLETE
from harness.model.run import Ending
from harness.records.document import toml_values
from harness.records.reader import load
from tests.tracked import name_in_repository, tracked

from .benchmarks import FAST
from .conftest import ROOT, SPARK35_PYTHON, Spark, completed

PACKAGES = ("jobs", "datagen", "harness")
PROJECT = toml_values(ROOT / "pyproject.toml")["project"]
SDIST = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
IN_LAB = ("1g-rs", "2.5g-rs", "--results", str(ROOT / "results/ethernet-upgrade"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from the source distribution of the tracked files."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for file in filter(Path.is_file, tracked()):
        place = source / name_in_repository(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    completed([sys.executable, "-c", SDIST, str(built)], source, os.environ)
    [sdist] = built.iterdir()
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(sdist))
    completed([*PIP, "wheel", *options], source, os.environ)
    [found] = built.glob("*.whl")
    return found


def installed(directory: Path, wheel: Path, *options: str, packages_of: Path) -> Spark:
    """Install into a new environment, which also finds the packages of another Python's environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
    [packages] = directory.glob("lib/python*/site-packages")
    [others] = packages_of.parents[1].glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(f"{others}\n")
    python = directory / "bin/python"
    command = [*PIP, f"--python={python}", "install", "--no-compile", *options, str(wheel)]
    completed(command, directory, os.environ)
    return Spark(python)


@pytest.mark.smoke
def test_the_wheel_has_one_package_with_every_file_of_the_packages(wheel: Path) -> None:
    names = [name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")]
    information = f"clusterlift-{__version__}.dist-info/"
    files = sorted(name for name in names if not name.startswith(information))
    inside = [f"clusterlift/{name_in_repository(file)}" for file in tracked(*PACKAGES)]
    own = map(name_in_repository, tracked("clusterlift"))
    assert files == sorted([*inside, *own])


@pytest.mark.smoke
@pytest.mark.parametrize(("versions", "number"), [("locked", 2), ("lowest", 1)])
def test_an_installation_measures_compares_and_reports(
    versions: str, number: int, wheel: Path, tmp_path: Path
) -> None:
    """Spark is not installed again, and the locked packages are those of the development environment."""
    if versions == "locked":
        own = installed(tmp_path / "venv", wheel, "--no-deps", packages_of=Path(sys.executable))
    else:
        if not SPARK35_PYTHON.exists():
            pytest.skip(f"no {SPARK35_PYTHON.relative_to(ROOT)}: make spark35 installs it")
        extras = chain.from_iterable(PROJECT["optional-dependencies"].values())
        promised = [text for text in [*PROJECT["dependencies"], *extras] if "pyspark" not in text]
        lowest = [text.replace(">=", "==") for text in promised]
        own = installed(
            *(tmp_path / "venv", wheel, "--only-binary=:all:", *lowest), packages_of=SPARK35_PYTHON
        )
    empty = tmp_path / "empty"
    empty.mkdir()

    def clusterlift(*arguments: object, **environment: str) -> str:
        command = [str(own.python.with_name("clusterlift")), *map(str, arguments)]
        return completed(command, empty, own.environment(**environment)).stdout

    workloads = "inner-join,calc-pi-arrow-udf"
    printed = clusterlift(
        *("bench", "--runs", number, "--rows", 20_000, "--master", "local[2]"),
        *("--conf", "spark.ui.enabled=false", "--", *FAST, "--workloads", workloads),
    )
    runs = [load(file) for file in (empty / "results").glob("*/*.jsonl")]
    assert [run.ending for run in runs] == [Ending.COMPLETED] * number
    assert all(trial.wall_s for run in runs for trial in run.trials)
    assert "inner-join" in printed
    assert "inner-join" in clusterlift("compare", *IN_LAB)
    clusterlift("report", *IN_LAB, "--output", "report.html")
    assert (empty / "report.html").stat().st_size > 100_000
    words = {"COMP_WORDS": "clusterlift comp", "COMP_CWORD": "1", COMPLETE: "bash_complete"}
    assert clusterlift(**words) == "plain,compare\n"
    assert {path.name for path in empty.iterdir()} == {"data", "report.html", "results"}
