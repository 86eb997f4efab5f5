"""A series: the runs that were made with the same arguments, so that one of them can stand for another."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence

SERIES = "CLUSTERLIFT_SERIES"
"""The environment variable that gives a run its series; without it, the run is of none."""


def series_of(arguments: Sequence[str], file_system: str | None = None) -> str:
    """Return a digest of arguments; `--option=value` and `--option value` are the same.

    The URI `file_system` does not matter: a minicluster has another port each time that it starts.
    """
    words = [word for argument in arguments for word in _words(argument)]
    if file_system:
        words = [word.replace(file_system, "") for word in words]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:12]


def current_series() -> str | None:
    """Return the series of the run that this process makes; None if it is of none."""
    return os.environ.get(SERIES) or None


def _words(argument: str) -> list[str]:
    option, equals, value = argument.partition("=")
    return [option, value] if equals and option.startswith("--") else [argument]
