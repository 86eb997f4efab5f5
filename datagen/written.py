"""What a run writes beside a dataset `rows`, from the first change to the last.

    rows.written/_generating       the marker: names the process; the first file to come, the last to go
    rows.written/<token>-1/        what the first execution of a run wrote; gone when its trial has ended

The directory goes when the run ends. What a killed run leaves is removed when the dataset is opened next, if
it is certain that its process has ended. Nothing that Spark or we have not written is ever removed.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from datagen.filesystem import Directory
from datagen.marker import MARKER, Marker, clear, writer_of
from harness.model.errors import BadInput
from harness.node.processes import has_ended
from harness.runtime.interrupt import deferred_signals
from harness.terminal import say
from harness.words import last_line

SUFFIX = ".written"
EXECUTION = re.compile(r"(?P<token>[0-9a-f]{16})-\d+")
UNFINISHED_S = 2.0
"""A marker without a text for this long is of a process that was killed before it wrote the text."""


@contextmanager
def reserved(directory: Directory) -> Iterator[Marker]:
    """Mark the directory beside a dataset as that of this run, and remove it at the end.

    Raises BadInput, before anything is changed, if it exists: another run writes there, or it is not ours.
    """
    remove_left(directory)
    if directory.exists():
        raise BadInput(_occupied(directory))
    try:
        marker = Marker.put(directory, take_over=False)
    except BadInput:
        remove_left(directory)
        if directory.exists():
            raise BadInput(_occupied(directory)) from None
        raise
    try:
        if not marker.is_there():  # an object store lets two create it at the same moment
            raise BadInput(_occupied(directory))
        yield marker
    finally:
        with deferred_signals():
            try:
                if marker.is_there():
                    _remove(directory)
            except BadInput as error:
                say(f"{directory.uri} is left, and will be removed with the next run: {error}")


def remove_left(directory: Directory) -> None:
    """Remove what a killed run has left beside a dataset, and say so; what may be in use stays."""
    with suppress(BadInput):  # who only reads may not be allowed to look there
        if not directory.exists():
            return
        names = directory.entries().keys()
        # A run that is killed between its first two changes leaves no marker and nothing else.
        if names and not (MARKER in names and _writer_has_ended(directory)):
            return
        left_by = writer_of(directory) if names else "a killed run"
        try:
            _remove(directory)
        except BadInput as error:
            say(f"{left_by} has left {directory.uri}, which cannot be removed: {error}")
        else:
            say(f"removed {directory.uri}, which {left_by} had left")


def clear_executions(directory: Directory, token: str | None = None) -> None:
    """Delete what executions have written, only those of a run if its token is given.

    Raises BadInput if something else is among it, which stays, or if the file system refuses.
    """
    for name in directory.entries():
        found = EXECUTION.fullmatch(name)
        if found and token in (None, found["token"]):
            below = directory.below(name)
            clear(below)
            below.remove_empty()


def _remove(directory: Directory) -> None:
    clear_executions(directory)
    directory.delete(MARKER)
    directory.remove_empty()


def _writer_has_ended(directory: Directory) -> bool | None:
    """Return whether the process that the marker names has ended; None if that cannot be known here."""
    text = directory.read(MARKER)
    if not text:
        time.sleep(UNFINISHED_S)
        text = directory.read(MARKER)
    return has_ended(last_line(text)) if text else True


def _occupied(directory: Directory) -> str:
    if not directory.has(MARKER):
        return f"{directory.uri} exists, and clusterlift has not made it: move it elsewhere"
    writer = writer_of(directory)
    if _writer_has_ended(directory) is None:
        return (
            f"{writer} writes to {directory.uri}, or was killed: if that process has ended, delete the "
            "directory"
        )
    return f"{writer} writes to {directory.uri}: wait until that run has ended"
