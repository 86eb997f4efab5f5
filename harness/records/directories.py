"""Where results and caches are stored, and locks on them.

Results have one directory for each configuration, and one file for each run:
`results/1g/<run id>.jsonl` is a run of configuration `1g`. `results/1g/probes/<id>.jsonl` is what was
measured of its network.
"""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

from harness.base.errors import BadInput
from harness.base.words import shorten
from harness.records.files import locked_file

SUFFIX = ".jsonl"
PROBES = "probes"
PREDICTIONS = "predictions"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_LEAST_BYTES = 2**16
"""A file system without room for these has none for a run, either."""


def configuration_directory(results: Path, configuration: str) -> Path:
    """Return the directory of a configuration's runs.

    It is named like the configuration; characters that file systems refuse are percent-encoded.
    """
    name = quote(configuration, safe=" +,()=@", errors="backslashreplace")
    return results / (name.replace(".", "%2E") if set(name) == {"."} else name)


def probes_directory(results: Path, configuration: str) -> Path:
    """Return the directory of a configuration's probes."""
    return configuration_directory(results, configuration) / PROBES


def results_files(directory: Path, suffix: str = SUFFIX) -> list[Path]:
    """Return the files of a directory with this suffix, sorted by name; none if there is no such directory.

    Hidden files are skipped: some systems put `._name.jsonl` beside a file that they copy. Raises
    BadInput if the directory cannot be read.
    """
    try:
        files = list(directory.iterdir()) if directory.is_dir() else []
    except OSError as error:
        raise BadInput(
            f"cannot read {directory}: {error.strerror}; correct its permissions"
        ) from error
    return sorted(file for file in files if file.suffix == suffix and not file.name.startswith("."))


def check_writable(results: Path, configuration: str) -> None:
    """Raise BadInput unless a run of this configuration could be recorded now."""
    directory = configuration_directory(results, configuration)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(bytes(_LEAST_BYTES))
    except OSError as error:
        raise not_writable(directory, error) from error


def not_writable(directory: Path, error: OSError) -> BadInput:
    """Return the error to raise where results cannot be written."""
    if error.errno == errno.ENAMETOOLONG:
        return BadInput(
            f"--results or --configuration: {shorten(str(directory), 100)} is too long a name for this file "
            "system; choose a shorter one"
        )
    advice = "choose a directory that you may write to"
    if error.errno in _FULL:
        advice = "make room there, or choose another directory"
    return BadInput(f"--results: cannot write to {directory}: {error.strerror}; {advice}")


def cache_directory() -> Path:
    """Return `$XDG_CACHE_HOME/clusterlift` if that path is absolute, else `~/.cache/clusterlift`.

    Raises BadInput if the user has no home directory, either.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (base if base.is_absolute() else Path.home() / ".cache") / "clusterlift"
    except RuntimeError as error:
        raise BadInput("you have no home directory; set HOME or XDG_CACHE_HOME") from error


_CACHE_ADVICE = "set XDG_CACHE_HOME to a directory that you can write to"


@contextmanager
def kept_in(directory: Path, what: str, advice: str = _CACHE_ADVICE) -> Iterator[None]:
    """Create the directory in which the block keeps `what`, by default one of the cache.

    Raise BadInput with the advice if there is an OSError.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise BadInput(
            f"{what} cannot be kept in {directory}: {error.strerror}; {advice}"
        ) from error


@contextmanager
def locked(
    file: Path, what: str, busy: str | None = None, advice: str = _CACHE_ADVICE
) -> Iterator[None]:
    """Lock `file` in the block, for this process alone; the system unlocks it if the process is killed.

    While another process has it, raise BadInput with the message `busy`, or else wait. `what` is locked, and
    is what an error names, as in `kept_in`.
    """

    def lock(descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
        except BlockingIOError as error:
            raise BadInput(str(busy)) from error

    with ExitStack() as opened:
        with kept_in(file.parent, what, advice):
            opened.enter_context(locked_file(file, lock))
        yield
