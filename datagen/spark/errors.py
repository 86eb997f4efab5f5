"""The errors of Spark and Hadoop, reduced to the one line that a user needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from harness.model.errors import ClusterliftError
from harness.terminal import first_line

ENDED = "Spark has ended"
NO_REASON = "no reason given"


@contextmanager
def spark_errors_as_one_line(
    context: str, error_type: type[ClusterliftError] = ClusterliftError
) -> Iterator[None]:
    """Turn an error of Spark into an `error_type` with the message `context: root cause`."""
    try:
        yield
    except (Py4JError, PySparkException, ValueError) as error:
        raise error_type(f"{context}: {root_cause(error)}") from error


def root_cause(error: Exception) -> str:
    """Return the first line of the message of the innermost cause."""
    if isinstance(error, Py4JNetworkError):
        return ENDED
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        return first_line(str(error), NO_REASON)
    try:
        while cause := java.getCause():
            java = cause
        # Some messages are a mere name, such as that of an unknown host: then the class explains it.
        message = java.getMessage() or ""
        return first_line(message if " " in message else java.toString(), NO_REASON)
    except (Py4JError, OSError):
        return ENDED  # the JVM, which has the message, is gone
