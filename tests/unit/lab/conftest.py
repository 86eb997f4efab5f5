"""A fake docker with two workers, which runs a script of ours in place of spark-submit."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tracked import ROOT

FAKE_DOCKER = """\
import os, subprocess, sys

arguments = sys.argv[1:]
if arguments[:2] == ["exec", "--interactive"]:
    given = dict(a.removeprefix("--env=").partition("=")[::2] for a in arguments if "HOLD_FILE=" in a)
    given = {{name: value.replace("/opt/clusterlift/results", {results!r}) for name, value in given.items()}}
    shell = arguments.index("sh")
    command = [*arguments[shell : shell + 4], sys.executable, {script!r}, *arguments[shell + 5 :]]
    environment = {{**os.environ, **given, "PYTHONPATH": {root!r}}}
    sys.exit(subprocess.run(command, env=environment, start_new_session=True).returncode)
"""
Install = Callable[[str], Path]


@pytest.fixture
def fake_docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs a docker which runs these lines of Python; it returns the results."""
    (tmp_path / "bin").mkdir()
    results = tmp_path / "results"
    results.mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")

    def install(lines: str) -> Path:
        script = tmp_path / "script.py"
        script.write_text(lines)
        program = tmp_path / "bin/docker"
        text = FAKE_DOCKER.format(results=str(results), script=str(script), root=str(ROOT))
        program.write_text(f"#!{sys.executable}\n{text}")
        program.chmod(0o755)
        return results

    return install
