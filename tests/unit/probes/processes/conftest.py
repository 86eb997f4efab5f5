"""Programs that come before the installed ones on the PATH."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.programs import shell_program

Programs = Callable[..., None]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Install shell scripts, by name, in front of the system's programs on the PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def install(**scripts: str) -> None:
        for name, script in scripts.items():
            shell_program(tmp_path / name, script)

    return install
