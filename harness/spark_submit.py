"""Runs an entry script of this checkout under spark-submit, as a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.errors import BadInput

ROOT = Path(__file__).resolve().parents[1]


def spark_submit(script: str, *arguments: str, options: Sequence[str] = ()) -> int:
    """Run `script`, named relative to the checkout, and return its exit code.

    What it prints for people goes where ours goes. Raises BadInput if there is no spark-submit, or
    no checkout.
    """
    # Beside this Python, if that environment has one; a user's own is on PATH.
    beside = str(Path(sys.executable).parent)
    program = shutil.which("spark-submit", path=beside) or shutil.which("spark-submit")
    if program is None:
        raise BadInput("spark-submit is not on PATH; install pyspark, or add Spark's bin to PATH")
    if not (ROOT / script).is_file():
        raise BadInput(f"{ROOT / script} is not there; run clusterlift from a checkout")
    command = [program, *options, str(ROOT / script), *arguments]
    return subprocess.run(command, check=False).returncode  # noqa: S603  an argument vector of ours
