"""What Spark and Hadoop say, in the one line of it that a user needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from harness.model.errors import ClusterliftError

ENDED = "Spark has ended"


@contextmanager
def spark_errors_as_one_line(
    what: str, kind: type[ClusterliftError] = ClusterliftError
) -> Iterator[None]:
    """While entered, an error of Spark becomes a `kind`: `what`, and the innermost cause."""
    try:
        yield
    except (Py4JError, PySparkException, ValueError) as error:
        raise kind(f"{what}: {root_cause(error)}") from error


def root_cause(error: Exception) -> str:
    """The first line of what the innermost cause says."""
    if isinstance(error, Py4JNetworkError):
        return ENDED
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        return _first_line(str(error))
    try:
        while cause := java.getCause():
            java = cause
        # Some give but a name for a message, such as that of the host that is not known.
        message = java.getMessage() or ""
        return _first_line(message if " " in message else java.toString())
    except (Py4JError, OSError):
        # The JVM that knew has gone.
        return ENDED


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")
