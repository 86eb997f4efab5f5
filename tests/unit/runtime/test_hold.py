"""A benchmark that is held before its first trial."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from harness.model.errors import BadInput
from harness.runtime.trials import wait_while_held
from tests.waiting import eventually


def test_nobody_waits_unless_the_variable_is_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CLUSTERLIFT_HOLD_FILE", raising=False)
    wait_while_held()
    assert capsys.readouterr().out == ""


def test_the_wait_ends_when_the_file_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hold"
    monkeypatch.setenv("CLUSTERLIFT_HOLD_FILE", str(file))
    waiting = threading.Thread(target=wait_while_held)
    waiting.start()
    eventually(file.exists)
    assert waiting.is_alive()
    file.unlink()
    waiting.join(timeout=60)
    assert not waiting.is_alive()
    line = f"ready for the first trial; waiting until {file} is removed\n"
    assert capsys.readouterr().out == line


def test_a_file_that_cannot_be_created_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLUSTERLIFT_HOLD_FILE", "/no/such/file")
    with pytest.raises(BadInput, match=r"^CLUSTERLIFT_HOLD_FILE is /no/such/file: No such file"):
        wait_while_held()
