"""The real Docker client without an engine that this user can use."""

import os
import shutil
from pathlib import Path

import pytest

from harness.cli import main

NOBODY = 65534


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("command", ["up", "down", "status"])
@pytest.mark.parametrize("host", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:1"])
def test_an_engine_that_does_not_answer_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], host: str, command: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    assert main(["lab", command]) == 2
    assert "no Docker engine answers: start it" in capsys.readouterr().err


@pytest.mark.usefixtures("engine")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_without_access_to_the_engine_gets_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    client = tmp_path / "docker"
    as_nobody = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"
    client.write_text(f'#!/bin/sh\nexec {as_nobody} {shutil.which("docker")} "$@"\n')
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert main(["lab", "up"]) == 2
    assert "join the group 'docker', or use sudo" in capsys.readouterr().err
