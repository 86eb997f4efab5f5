"""The Spark of this machine: where it is installed, and how to run spark-submit.

Every search goes in this order: `$SPARK_HOME`, the pyspark package of this Python, and the
spark-submit on PATH. So commands also work from a virtual environment that is not activated.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import BadInput, ClusterliftError
from harness.base.failure_reason import failure_reason
from harness.base.own_driver import require_own_driver

ROOT = Path(__file__).resolve().parents[2]
GENERATE, BENCHMARK = "datagen/generate.py", "jobs/benchmark.py"
"""Scripts of the checkout."""
_NO_SPARK = (
    "no Spark: set SPARK_HOME, install pyspark beside clusterlift, or put spark-submit on PATH"
)


def spark_home() -> Path:
    """Return Spark's directory. Raise BadInput if there is none, or if `$SPARK_HOME` is wrong."""
    program = shutil.which("spark-submit")
    on_path = Path(program).resolve().parents[1] if program else None
    for home in (_named_home(), _pyspark_home(), on_path):
        if home is not None and (home / "jars").is_dir():
            return home
    raise BadInput(_NO_SPARK)


def spark_submit_command() -> list[str]:
    """Return the argument vector that starts spark-submit; options and the script follow it.

    Run it with `spark_environment()`. Raise BadInput if this machine has no Spark, or if it
    would be Spark Connect.
    """
    home = _named_home() or _pyspark_home()
    # The program on PATH may be a distribution's wrapper, stored apart from Spark's directory.
    program = str(home / "bin" / "spark-submit") if home else shutil.which("spark-submit")
    if program is None:
        raise BadInput(_NO_SPARK)
    require_own_driver({})
    return [program]


def spark_environment() -> dict[str, str]:
    """Return the environment variables for `spark_submit_command()`.

    The pyspark package runs scripts with the first python3 on PATH. That has to be this Python,
    which may be the only one that can import pyspark.
    """
    home = None if _named_home() else _pyspark_home()
    if home is None:
        return dict(os.environ)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return os.environ | {"SPARK_HOME": str(home), "PATH": path}


def hadoop_version(home: Path) -> str:
    """Return the version of the Hadoop client in a Spark directory. Raise BadInput without one."""
    for jar in sorted((home / "jars").glob("hadoop-client-api-*.jar")):
        if match := re.fullmatch(r"hadoop-client-api-(\d[\w.-]*)\.jar", jar.name):
            return match[1]
    raise BadInput(
        f"{home / 'jars'} has no hadoop-client-api-*.jar; use a Spark that was built with Hadoop"
    )


def spark_submit(script: str, *arguments: str, options: Sequence[str] = ()) -> None:
    """Run `script`, a path relative to the checkout, under spark-submit and wait for its end.

    The output is shown only as part of an error. Raise BadInput if there is no Spark or no checkout;
    if the script fails, raise its own error message as BadInput or ClusterliftError.
    """
    done = run_spark_submit(*options, script_path(script), *arguments)
    if done.returncode:
        raise script_error(done.stdout.splitlines(), script, done.returncode)


def script_path(script: str) -> str:
    """Return the path of an entry script of the checkout. Raise BadInput if there is no checkout."""
    if not (ROOT / script).is_file():
        raise BadInput(f"{ROOT / script} does not exist; run clusterlift from a checkout")
    return str(ROOT / script)


def run_spark_submit(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run spark-submit to its end; `stdout` of the result is all that it printed, to either stream.

    Raise BadInput if there is no Spark.
    """
    return subprocess.run(  # noqa: S603  no shell, and the program is Spark's
        [*spark_submit_command(), *arguments],
        env=spark_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


def script_error(lines: Sequence[str], script: str, code: int) -> ClusterliftError:
    """Return the error that a script printed before it ended with this code, or that of Spark."""
    program = Path(script).name
    kind = BadInput if code == BadInput.exit_code else ClusterliftError
    prefix = f"{program}: "
    if printed := [line for line in lines if line.startswith(prefix)]:
        return kind(printed[-1].removeprefix(prefix).removeprefix("error: "))
    reason = failure_reason("\n".join(lines)) or "it printed nothing"
    return kind(f"spark-submit {program} failed: {reason}")


def _named_home() -> Path | None:
    named = os.environ.get("SPARK_HOME")
    if not named:
        return None
    if not (Path(named) / "jars").is_dir():
        raise BadInput(f"SPARK_HOME is {named}, which has no jars/; name Spark's directory")
    return Path(named).absolute()


def _pyspark_home() -> Path | None:
    """Return the directory of this Python's pyspark package; None if it is not a whole Spark."""
    spec = importlib.util.find_spec("pyspark")
    homes = map(Path, (spec and spec.submodule_search_locations) or ())
    return next((home for home in homes if (home / "jars").is_dir()), None)
