"""Finds the Spark of this machine, and runs spark-submit.

Every search goes in this order: `$SPARK_HOME`, the pyspark package of this Python, and the
spark-submit on PATH. So commands also work from a virtual environment that is not activated.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.own_driver import require_own_driver
from harness.submit.usable_spark import require_usable_spark, spark_version, version_of_jar

_NO_SPARK = (
    "no Spark: set SPARK_HOME, install pyspark beside clusterlift, or put spark-submit on PATH"
)


def spark_home() -> Path:
    """Return Spark's directory. Raise BadInput if there is none, or if `$SPARK_HOME` is wrong."""
    home = _named_home() or _pyspark_home() or _home_on_path()
    if home is None:
        raise BadInput(_NO_SPARK)
    return home


def spark_of_this_machine() -> str:
    """Return the version of the Spark that would be used here; empty if there is none."""
    with suppress(BadInput):
        return spark_version(spark_home())
    return ""


def spark_submit_command() -> list[str]:
    """Return the argument vector that starts spark-submit; options and the script follow it.

    Run it with `spark_environment()`. Raise BadInput if this machine has no Spark, if it would be
    Spark Connect, if it is too old, or if it cannot use the Java of this machine.
    """
    home = _named_home() or _pyspark_home()
    if home is not None:
        program: str | None = str(home / "bin" / "spark-submit")
    else:
        # The program on PATH may be a distribution's wrapper, stored apart from Spark's directory.
        program = shutil.which("spark-submit")
        home = _home_on_path()
    if program is None:
        raise BadInput(_NO_SPARK)
    require_own_driver({})
    if home is not None:
        require_usable_spark(home)
    return [program]


def spark_environment() -> dict[str, str]:
    """Return the environment variables for `spark_submit_command()`.

    The pyspark package runs scripts with the first python3 on PATH. That has to be this Python,
    which may be the only one that can import pyspark.
    """
    environment = dict(os.environ)
    if _named_home():
        return environment
    home = _pyspark_home()
    if home is not None:
        own_python = str(Path(sys.executable).parent)
        environment["SPARK_HOME"] = str(home)
        environment["PATH"] = os.pathsep.join([own_python, environment.get("PATH", os.defpath)])
    return environment


def hadoop_version(home: Path) -> str:
    """Return the version of the Hadoop client in a Spark directory. Raise BadInput without one."""
    version = version_of_jar(home, "hadoop-client-api")
    if not version:
        raise BadInput(
            f"{home / 'jars'} has no hadoop-client-api-*.jar; use a Spark that was built with Hadoop"
        )
    return version


def run_spark_submit(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run spark-submit to its end. `stdout` of the result is all that it printed, to either stream.

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
    if spec is None:
        return None
    for location in spec.submodule_search_locations or ():
        if (Path(location) / "jars").is_dir():
            return Path(location)
    return None


def _home_on_path() -> Path | None:
    """Return the directory of the spark-submit on PATH; None if it is not a whole Spark."""
    program = shutil.which("spark-submit")
    if program is None:
        return None
    home = Path(program).resolve().parents[1]
    if not (home / "jars").is_dir():
        return None
    return home
