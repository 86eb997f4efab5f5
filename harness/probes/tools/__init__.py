"""The programs that probes run: their command lines, and what they print."""

from harness.errors import ClusterliftError


class ToolFailed(ClusterliftError):
    """A program said that it failed, or printed what cannot be understood."""
