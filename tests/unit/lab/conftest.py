"""A fake docker with two workers, whose CPU limit is a file."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FAKE_DOCKER = """\
import os, pathlib, subprocess, sys

state = pathlib.Path({state!r})
limit = state / "limit"
arguments = sys.argv[1:]
with (state / "log").open("a") as log:
    print(*arguments, file=log)
if arguments[0] == "info":
    print(8)
elif arguments[0] == "inspect":
    for _ in arguments[3:]:
        print(limit.read_text(), "of 20000 us")
elif arguments[0] == "update":
    {update}
elif arguments[:2] == ["exec", "--user"]:
    if arguments[4:6] == ["rm", "-f"]:
        pathlib.Path(arguments[6]).unlink(missing_ok=True)
elif arguments[0] == "exec":
    name, _, value = next(a for a in arguments if "HOLD_FILE" in a).partition("=")
    shell = arguments.index("sh")
    program = [sys.executable, state / "script.py", *arguments[shell + 5 :]]
    environment = {{**os.environ, name: value, "PYTHONPATH": {root!r}}}
    command = [*arguments[shell : shell + 4], *program]
    sys.exit(subprocess.run(command, env=environment, start_new_session=True).returncode)
"""
UPDATE = "limit.write_text(arguments[4])"
SCRIPT = """\
import pathlib, sys
from harness.runtime.trials import wait_for_release

limit = pathlib.Path({limit!r})
print("starts with", limit.read_text(), flush=True)
{hold}
print("runs trials with", limit.read_text(), flush=True)
sys.exit({code})
"""
Install = Callable[..., Path]


@pytest.fixture
def fake_docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs a docker of two workers, which runs a script on this machine."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")

    def install(
        *, hold: str = "wait_for_release('slow')", code: int = 0, update: str = UPDATE
    ) -> Path:
        (tmp_path / "limit").write_text("10000")
        script = SCRIPT.format(limit=str(tmp_path / "limit"), hold=hold, code=code)
        (tmp_path / "script.py").write_text(script)
        program = tmp_path / "bin/docker"
        text = FAKE_DOCKER.format(state=str(tmp_path), update=update, root=str(ROOT))
        program.write_text(f"#!{sys.executable}\n{text}")
        program.chmod(0o755)
        return tmp_path

    return install


def limit_of(state: Path) -> float:
    """Return the fake workers' CPU limit, in processors."""
    return int((state / "limit").read_text()) / 20_000
