"""Runs an entry script of this checkout under spark-submit, as a process of its own."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.model.errors import BadInput, ClusterliftError

ROOT = Path(__file__).resolve().parents[1]


def spark_submit(script: str, *arguments: str, options: Sequence[str] = ()) -> None:
    """Run `script`, named relative to the checkout.

    Raises BadInput if there is no spark-submit, or no checkout, and what the script complained of if
    it failed. Spark's own log is only shown where nothing else is.
    """
    # Beside this Python, if that environment has one; a user's own is on PATH.
    beside = str(Path(sys.executable).parent)
    program = shutil.which("spark-submit", path=beside) or shutil.which("spark-submit")
    if program is None:
        raise BadInput("spark-submit is not on PATH; install pyspark, or add Spark's bin to PATH")
    if not (ROOT / script).is_file():
        raise BadInput(f"{ROOT / script} is not there; run clusterlift from a checkout")
    command = [program, *options, str(ROOT / script), *arguments]
    done = subprocess.run(  # noqa: S603  an argument vector of ours
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise _complaint(done, Path(script).name)


def _complaint(done: subprocess.CompletedProcess[str], prog: str) -> ClusterliftError:
    """What a script of ours said in one line, with its exit code; or the last that Spark said."""
    kind = BadInput if done.returncode == BadInput.exit_code else ClusterliftError
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith(f"{prog}: ")]
    if ours:
        return kind(ours[-1].removeprefix(f"{prog}: ").removeprefix("error: "))
    return kind(f"spark-submit {prog} failed: {lines[-1] if lines else 'without a word'}")


# MERGED from harness.loopback.spark: 'The Spark of this machine, found without importing it.'
def spark_home() -> Path:
    """`$SPARK_HOME`, or the pyspark package of this Python. Raises BadInput if there is neither."""
    if named := os.environ.get("SPARK_HOME"):
        if not (Path(named) / "jars").is_dir():
            raise BadInput(f"SPARK_HOME is {named}, which has no jars/; name Spark's directory")
        return Path(named).absolute()
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise BadInput("no Spark: set SPARK_HOME, or install pyspark beside clusterlift")
    return Path(spec.submodule_search_locations[0])


def hadoop_version(home: Path) -> str:
    """The version of the Hadoop client that a Spark brings. Raises BadInput if it brings none."""
    for jar in sorted((home / "jars").glob("hadoop-client-api-*.jar")):
        if match := re.fullmatch(r"hadoop-client-api-(\d[\w.-]*)\.jar", jar.name):
            return match[1]
    raise BadInput(
        f"{home / 'jars'} has no hadoop-client-api-*.jar; use a Spark that was built with Hadoop"
    )
