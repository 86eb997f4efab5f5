"""Programs that come before the installed ones on the PATH."""

from collections.abc import Callable
from pathlib import Path

import pytest

Programs = Callable[..., None]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Install shell scripts, by name, in front of the system's programs on the PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def install(**scripts: str) -> None:
        for name, script in scripts.items():
            program = tmp_path / name
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)

    return install
