"""The errors that a user can cause, or must be told of, in one line each."""

from __future__ import annotations


class ClusterliftError(Exception):
    """Base of the family. The message is one line: what is wrong, where, what to do."""

    exit_code = 1


class BadInput(ClusterliftError):
    """An option, a file or a host is not what it has to be. Nothing was changed."""

    exit_code = 2


class WrongAnswer(ClusterliftError):
    """A workload ran to its end and its answer is not the right one."""


class SparkLost(ClusterliftError):
    """The Spark application ended under the run."""


class ToolError(ClusterliftError):
    """A program said that it failed, or printed what cannot be understood."""
