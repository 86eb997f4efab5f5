"""The files of the repository. A checkout also holds what its user measured, which no test may read."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def tracked(*patterns: str) -> list[Path]:
    """Return the files that git tracks and that match a pattern, such as `results/*.jsonl`, sorted."""
    command = ["git", "ls-files", "-z", "--", *patterns]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.split("\0") if name]


def name_in_repository(file: Path) -> str:
    """Return the name of a file from the top of the repository."""
    return str(file.relative_to(ROOT))
