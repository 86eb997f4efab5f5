"""What an installation has that is no checkout."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_it_has_every_file_of_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    installed = {
        file
        for package, names in project["tool"]["setuptools"]["package-data"].items()
        for name in names
        for file in (ROOT / package.replace(".", "/")).glob(name)
    }
    files = {
        file
        for package in ("datagen", "harness", "jobs")
        for file in (ROOT / package).rglob("*")
        if file.is_file() and file.suffix not in {".py", ".pyc"}
    }
    assert installed == files
