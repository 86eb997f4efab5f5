"""A lab serves one command at a time."""

from pathlib import Path

import pytest

from harness.lab.cluster import lab_lock
from tests.refusal import refusal


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("command", [["generate", "/x"], ["benchmark"], ["up"]])
def test_a_second_command_is_refused_in_one_line(command: list[str]) -> None:
    with lab_lock():
        assert refusal("lab", *command) == (
            "another command is using the lab: wait until it has finished, or set "
            "COMPOSE_PROJECT_NAME for a second lab"
        )


def test_so_is_a_second_experiment() -> None:
    small = Path(__file__).parents[3] / "docker/experiments/small.toml"
    with lab_lock():
        assert "another command is using the lab" in refusal("experiment", str(small))


def test_another_lab_is_another_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    with lab_lock():
        monkeypatch.setenv("COMPOSE_PROJECT_NAME", "../second")
        with lab_lock():
            pass
