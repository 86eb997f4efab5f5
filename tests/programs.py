"""Programs that tests put in the place of real ones."""

from pathlib import Path


def shell_program(path: Path, script: str) -> Path:
    """Write a program, which is a script of the shell, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path
