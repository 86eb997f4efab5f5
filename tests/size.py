"""Hold the lines of the product and of its tests below the limits that pyproject.toml states."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lines_of(patterns: list[str]) -> int:
    """Return the number of lines in the tracked files that match git's patterns."""
    names = subprocess.check_output(["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, text=True)
    files = [ROOT / name for name in names.split("\0") if name]
    return sum(file.read_bytes().count(b"\n") for file in files if file.exists())


def outgrown() -> Iterator[str]:
    """Yield a line for each part of the house that has more lines than its limit."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for part, limit in project["tool"]["clusterlift"]["lines"].items():
        lines, most = lines_of(limit["files"]), limit["most"]
        if lines > most:
            yield (
                f"{part}: {lines:,} lines, and pyproject.toml allows {most:,}: remove something, "
                "or raise the limit and give the reason in the commit that does"
            )


if __name__ == "__main__":
    sys.exit("\n".join(outgrown()) or None)
