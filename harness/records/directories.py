"""Where results lie: a directory a configuration, a file a run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from urllib.parse import quote

from harness.model.errors import BadInput

SUFFIX = ".jsonl"


def configuration_directory(results: Path, configuration: str) -> Path:
    """Where a configuration's runs lie: its name, with what a file system dislikes escaped."""
    name = quote(configuration, safe=" +,()=@", errors="backslashreplace")
    return results / (name.replace(".", "%2E") if set(name) == {"."} else name)


def check_writable(results: Path, configuration: str) -> None:
    """Raise BadInput unless a run of this configuration could be recorded now."""
    directory = configuration_directory(results, configuration)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise _unwritable(directory, error) from error


def _unwritable(directory: Path, error: OSError) -> BadInput:
    return BadInput(
        f"--results: cannot write to {directory}: {error.strerror}; "
        "choose a directory that you may write to"
    )


def _taken(path: Path) -> BadInput:
    return BadInput(f"{path} belongs to another run; run again to get a name of its own")
