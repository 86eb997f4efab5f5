"""Libraries that only some commands need: without them there is a line, not a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.errors import BadInput


@contextmanager
def needs_extra(command: str, extra: str) -> Iterator[None]:
    """While imports are tried. Raises BadInput that says what is missing, and how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "harness").startswith("harness"):
            raise
        raise BadInput(
            f"clusterlift {command} needs {error.name}, which is not installed: "
            f"in the checkout, pip install '.[{extra}]'"
        ) from error
