"""Every command of README.md and docs/ works, and every table there is what its command prints.

Commands in fenced `sh` blocks run in a fresh clone, with little data. Indented commands need a cluster: their
names and options are checked.
"""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from datagen import generating
from harness.commands.cli import clusterlift
from jobs import options
from tests.tracked import name_in_repository, tracked

from .conftest import ROOT

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
LITTLE_DATA = {"ROWS": "2000", "TRIALS": "1", "RUNS": "1"}
README_BYTES = 8192
IN_LAB = ["--results", "results/ethernet-upgrade"]
COMPARED = ["compare", "1g-rs", "2.5g-rs", "2.5g-2x", *IN_LAB]
WRITTEN = [
    *("compare", "100m-qfs-rs", "250m-qfs-rs", "250m-qfs-2x"),
    *("--results", "results/file-systems-warm"),
]
LOGGED = ["compare", "--event-logs"]
LOGGED += [f"results/nightly-event-logs/{side}" for side in ("before", "after")]
EXPLAINED = ["explain", "1g-rs", "2.5g-rs", "--details", *IN_LAB]


def fenced_commands(page: Path) -> str:
    return "".join(re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE))


def indented_commands(program: str) -> list[list[str]]:
    """The arguments that follow the program, for each of its indented commands."""
    text = "".join(page.read_text() for page in PAGES).replace("\\\n", "")
    lines = re.findall(rf"^    (?:\$ )?({program} .*)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files that git tracks here, as they are now, with the environment that is set up here."""
    copy = tmp_path / "clone"
    for file in filter(Path.is_file, tracked()):
        place = copy / name_in_repository(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    for name in ("requirements-bench.lock", "requirements.lock", "pyproject.toml", "setup.py"):
        os.utime(copy / name, (0, 0))  # older than the environment, so that make keeps that
    (copy / ".venv").symlink_to(ROOT / ".venv")
    return copy


@pytest.mark.slow
def test_every_fenced_command_works(clone: Path) -> None:
    script = "set -euo pipefail\n" + "".join(map(fenced_commands, PAGES))
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=clone,
        env=os.environ | LITTLE_DATA,
        capture_output=True,
        text=True,
        timeout=1800,  # a machine with other work takes long
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (clone / "results").iterdir()} >= {
        *("before", "after", "1g", "profiled")
    }
    assert "setting up" not in done.stdout
    assert "before" in done.stdout.partition("results: results/after")[2]


@pytest.mark.parametrize("arguments", indented_commands("clusterlift"), ids=" ".join)
def test_every_indented_command_parses(arguments: list[str], tmp_path: Path) -> None:
    own = tmp_path / "own.conf"  # in place of the file that a user wrote
    own.touch()
    arguments = [str(own) if each.endswith(".conf") else each for each in arguments]
    command: click.Command = clusterlift
    context = click.Context(command)
    while isinstance(command, click.Group):
        name, found, arguments = command.resolve_command(context, arguments)
        assert found is not None, name
        command, context = found, click.Context(found, parent=context)
    command.make_context(command.name, list(arguments))


@pytest.mark.parametrize("arguments", indented_commands("spark-submit"), ids=" ".join)
def test_every_indented_script_parses(arguments: list[str]) -> None:
    [script] = [argument for argument in arguments if argument.endswith(".py")]
    parse = {"jobs/benchmark.py": options.parse, "datagen/generate.py": generating.parse}[script]
    parse(arguments[arguments.index(script) + 1 :])


def paragraphs(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["clusterlift", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n\n")


def indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def test_the_tables_are_those_of_the_committed_results() -> None:
    pages = "".join(page.read_text() for page in PAGES)
    [divided] = [each for each in paragraphs(*EXPLAINED) if "unattr." in each]
    tables = [*paragraphs(*COMPARED)[:2], divided]
    for table in tables:
        assert indented(table).strip("\n") in pages


@pytest.mark.parametrize(
    ("page", "table", "arguments"),
    [
        ("README.md", 0, LOGGED),
        ("README.md", 1, WRITTEN),
        ("docs/event-logs.md", 0, LOGGED),
        ("docs/results.md", 0, COMPARED),
        ("docs/timeline.md", 0, EXPLAINED),
    ],
)
def test_a_table_of_a_page_has_rows_of_the_committed_results(
    page: str, table: int, arguments: list[str]
) -> None:
    text = (ROOT / page).read_text()
    shown = re.findall(r"^    .*-----.*\n(?:    .*\n)+", text, re.MULTILINE)[table]
    printed = "\n\n".join(map(indented, paragraphs(*arguments))).splitlines()
    assert set(shown.splitlines()) <= set(printed)


def test_the_readme_is_short() -> None:
    assert README.stat().st_size <= README_BYTES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
