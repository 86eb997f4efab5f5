"""The errors that users see, each as one line."""

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


class ClusterliftError(Exception):
    """The base class. The message is one line: what is wrong, where, and what to do."""

    exit_code = 1


class BadInput(ClusterliftError):
    """An option, a file or a host is not as it has to be. Nothing was changed."""

    exit_code = 2


class WrongAnswer(ClusterliftError):
    """A workload ran to its end, and its answer is wrong."""


class SparkLost(ClusterliftError):
    """The Spark application ended before the run did."""


class ToolError(ClusterliftError):
    """A program reported a failure, or its output cannot be parsed."""


UNEXPECTED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""Errors of reading an unexpected answer of a host, a program or a server."""
