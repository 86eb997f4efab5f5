"""Whether the Spark and the Java of this machine can be used, known from files before either is started."""

import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.spark_needs import java_fault, needs_of, spark_fault

_JAVA_TIMEOUT_S = 30.0


def spark_version(home: Path) -> str:
    """Return the version of the Spark in a directory; empty if it does not show it."""
    return version_of_jar(home, r"spark-core_[\d.]+")


def version_of_jar(home: Path, name_pattern: str) -> str:
    """Return the version of a jar in Spark's directory; empty without one.

    `name_pattern` is a regular expression.
    """
    for jar in sorted((home / "jars").glob("*.jar")):
        found = re.fullmatch(rf"{name_pattern}-(\d[\w.-]*)\.jar", jar.name)
        if found:
            return found[1]
    return ""


def require_usable_spark(home: Path) -> None:
    """Raise BadInput if this Spark is too old, or cannot use the Java that it would start with."""
    spark = spark_version(home)
    fault = spark_fault(spark)
    if not fault and not _may_choose_java(home):
        fault = _fault_of_java(spark)
    if fault:
        raise BadInput(fault)


def _may_choose_java(home: Path) -> bool:
    """Whether Spark's configuration may choose another Java than this environment."""
    directory = os.environ.get("SPARK_CONF_DIR") or home / "conf"
    try:
        return b"JAVA_HOME" in Path(directory, "spark-env.sh").read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _fault_of_java(spark: str) -> str:
    """Return why this Spark cannot start with the Java of this environment; empty if it can."""
    needs = needs_of(spark)
    if needs is None:
        return ""
    java = "java"
    place = "the PATH"
    if os.environ.get("JAVA_HOME"):
        place = f"{os.environ['JAVA_HOME']}/bin"
        java = f"{place}/java"
    program = shutil.which(java)
    if program is None:
        return f"no Java in {place}: install one ({needs.java}) for Spark {spark}, or set JAVA_HOME to one"
    return java_fault(spark, _version_of_java(Path(program)))


def _version_of_java(program: Path) -> str:
    """Return the version of a Java; empty if it does not say it."""
    directory = program.resolve().parent
    # The Java of a JDK 8 is in jre/bin.
    for release in (directory.parent / "release", directory.parents[1] / "release"):
        with suppress(OSError):
            found = re.search(r'^JAVA_VERSION="(.*)"', release.read_text(), re.MULTILINE)
            if found:
                return found[1]
    try:
        done = subprocess.run(  # noqa: S603  no shell, and it is the program that Spark starts
            [program, "-version"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_JAVA_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    printed = re.search(r'version "([^"]+)"', done.stdout)
    if printed is None:
        return ""
    return printed[1]
