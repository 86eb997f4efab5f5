"""Which Python and which Java each Spark needs: one table, and what is said of those that do not fit."""

from __future__ import annotations

import platform
import re
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Tuple

Version = Tuple[int, ...]


class Span(NamedTuple):
    """Versions from the oldest to the newest; None where no newest is known."""

    oldest: Version
    newest: Version | None = None

    def __str__(self) -> str:
        """Return the versions for people: `3.8 to 3.10`, `17 or newer`."""
        if self.newest is None:
            return f"{dotted(self.oldest)} or newer"
        return f"{dotted(self.oldest)} to {dotted(self.newest)}"

    def has(self, version: Version) -> bool:
        """Whether a version is one of them."""
        return self.oldest <= version <= (self.newest or version)


class Needs(NamedTuple):
    """The versions of Python and of Java that a Spark can use."""

    spark: Version
    python: Span
    java: Span


NEEDS = (
    # Spark 3.3 cannot send functions to the workers of Python 3.11, and Python 3.13 cannot import Spark 3.4.
    # Java 21 has another constructor of the buffers that Spark before 3.5 allocates. Java 23 refuses what
    # Hadoop before 3.5 calls (Subject.getSubject).
    Needs((3, 3), Span((3, 8), (3, 10)), Span((8,), (20,))),
    Needs((3, 4), Span((3, 8), (3, 12)), Span((8,), (20,))),
    Needs((3, 5), Span((3, 8)), Span((8,), (22,))),
    Needs((4, 0), Span((3, 9)), Span((17,), (22,))),
    Needs((4, 1), Span((3, 10)), Span((17,), (22,))),
    Needs((4, 2), Span((3, 10)), Span((17,))),
    Needs((4, 3), Span((3, 11)), Span((17,))),
)
"""From the oldest Spark to the newest. The last line holds for all that are newer, too."""

_VERSION = re.compile(r"(\d+)\.(\d+)")
_OF_PYSPARK = re.compile(r"__version__[^=\n]*=\s*['\"]([^'\"]+)")


def dotted(version: Version) -> str:
    """Return a version as it is written: `3.10`."""
    return ".".join(map(str, version))


def minor_version(text: str) -> Version | None:
    """Return the first two numbers of a version such as `3.5.1-amzn-0`; None if it has none."""
    found = _VERSION.match(text)
    if found is None:
        return None
    return int(found[1]), int(found[2])


def java_version(text: str) -> Version | None:
    """Return the version by which people know a Java: 8 of `1.8.0_392`, 17 of `17.0.9`; else None."""
    found = re.match(r"(?:1\.)?(\d+)", text)
    if found is None:
        return None
    return (int(found[1]),)


def needs_of(spark: str) -> Needs | None:
    """Return what a Spark of this version needs; None if it is too old, or no version."""
    version = minor_version(spark)
    if version is None:
        return None
    fitting = [each for each in NEEDS if each.spark <= version]
    return fitting[-1] if fitting else None


def spark_fault(spark: str) -> str:
    """Return why clusterlift cannot use this Spark; empty if it can, or if that is not known."""
    version = minor_version(spark)
    if version is None or version >= NEEDS[0].spark:
        return ""
    return f"this is Spark {spark}, and {dotted(NEEDS[0].spark)} or newer is needed: set SPARK_HOME to one"


def python_fault(spark: str, python: str) -> str:
    """Return why this Spark cannot use this Python; empty if it can, or if that is not known."""
    needs = needs_of(spark)
    version = minor_version(python)
    if needs is None or version is None or needs.python.has(version):
        return ""
    return (
        f"Spark {spark} cannot use Python {python}: it needs Python {needs.python}. Set PYSPARK_PYTHON to "
        "one that every node has"
    )


def java_fault(spark: str, java: str) -> str:
    """Return why this Spark cannot use this Java; empty if it can, or if that is not known."""
    needs = needs_of(spark)
    version = java_version(java)
    if needs is None or version is None or needs.java.has(version):
        return ""
    return f"Spark {spark} cannot use Java {java}: it needs Java {needs.java}. Set JAVA_HOME to one"


def fault_of_pyspark() -> str:
    """Return why the pyspark that this Python finds cannot be used; empty if it can, or if that is not known.

    It is not imported, because pyspark cannot be imported by each Python.
    """
    found = find_spec("pyspark")
    if found is None:
        return "this Python finds no pyspark: start the script by spark-submit"
    spark = _version_of_package(found)
    return spark_fault(spark) or python_fault(spark, platform.python_version())


def _version_of_package(found: ModuleSpec) -> str:
    """Return the version that the package says in a file of its own, also in a zip file; empty if unknown."""
    loader: Any = found.loader
    file = Path(found.origin or "pyspark").with_name("version.py")
    try:
        text = loader.get_data(str(file))
    except (AttributeError, OSError):  # another kind of package
        return ""
    version = _OF_PYSPARK.search(text.decode(errors="replace"))
    if version is None:
        return ""
    return version[1]
