"""What a run writes beside a dataset `rows`, from the first change to the last.

    rows.written/_generating       the marker: names the process; the first file to come, the last to go
    rows.written/<token>-1/        what the first execution of a run wrote; gone when its trial has ended

The directory goes when the run ends. The next run that writes there removes what a killed one has left, if
the marker is whole and of this user, and if it is certain that its process has ended. Reading a dataset
removes nothing.
"""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from datagen.filesystem import Directory
from datagen.marker import MARKER, Marker, is_from_spark, writer_of
from datagen.removal import IsOurs, Path, opened, remove
from harness.base.errors import BadInput
from harness.base.interrupt import deferred_signals
from harness.base.terminal import say
from harness.base.words import first_line
from harness.node.processes import has_ended

SUFFIX = ".written"
PURPOSE = "written beside"


@contextmanager
def reserved(directory: Directory, writing_has_ended: Callable[[], bool]) -> Iterator[Marker]:
    """Mark the directory beside a dataset as this run's, and remove it at the end.

    The directory stays if a task may still write there. The next run removes it.
    Raises BadInput, before anything is changed, if another run writes there, or if something is there that
    clusterlift has not written. An empty directory is used, and stays.
    """
    is_new = not directory.exists()
    if not is_new:
        is_new = _remove_left(directory)
        _check_free(directory)
    try:
        marker = Marker.put(directory, PURPOSE)
    except BadInput:
        _check_free(directory)
        raise
    try:
        if not marker.is_there():  # an object store lets two create it at the same moment
            raise BadInput(_occupied(directory))
        yield marker
    finally:
        with deferred_signals():
            try:
                if writing_has_ended():
                    _remove(marker, with_directory=is_new)
                else:
                    clear_executions(marker)
                    say(
                        f"{directory.uri} is left, as tasks may still write there; the next run removes it"
                    )
            except BadInput as error:
                say(f"{directory.uri} is left: {error}")


def clear_executions(marker: Marker) -> None:
    """Delete what the executions of a run have written.

    Raises BadInput if something else is among it, which stays, or if the file system refuses.
    """
    executions = tuple(f"{token}-" for token in marker.tokens)
    for path in _clear(marker):
        if path.startswith(executions):
            raise _foreign(marker, path)


def _clear(marker: Marker) -> list[str]:
    """Delete what the executions have written. Return the paths of what else is there."""
    if not marker.directory.exists():  # somebody else has deleted it
        return []
    with opened(marker.directory, follow_link=False) as place:
        stays = remove(place, marker.writes(_executions_of(marker)), marker.aside)
    return [path for path in stays if path != MARKER]


def _foreign(marker: Marker, path: str) -> BadInput:
    return BadInput(
        f"{marker.directory.uri}/{path} is not of clusterlift, and stays: move it elsewhere"
    )


def _executions_of(marker: Marker) -> IsOurs:
    """Return which paths are of the executions of a run: those in a directory with its token."""
    execution = re.compile(rf"({'|'.join(marker.tokens)})-\d+")

    def is_ours(path: Path, is_directory: bool) -> bool:  # noqa: FBT001  of IsOurs
        if not execution.fullmatch(path[0]):
            return False
        if len(path) == 1:
            return is_directory
        return is_from_spark(path[-1], is_directory)

    return is_ours


def _remove_left(directory: Directory) -> bool:
    """Remove what a killed run has left, and say so; what may be in use stays.

    Return whether the directory is gone. Raises BadInput if something foreign is among it.
    """
    with opened(directory, follow_link=False) as place:
        marker = Marker.read(place, directory, PURPOSE)
    if marker is None or not has_ended(marker.identity):
        return False
    _remove(marker, with_directory=True)
    say(f"removed {directory.uri}, which {first_line(marker.text)} had left")
    return True


def _remove(marker: Marker, *, with_directory: bool) -> None:
    """Remove what the executions have written, the marker, and the directory.

    Raises BadInput if something else is there, which stays. A marker that is not the same any more belongs to
    another process, and stays.
    """
    stays = _clear(marker)
    if not marker.directory.exists():
        return
    with opened(marker.directory, follow_link=False) as place:
        if not marker.is_in(place):
            return
        if stays:
            raise _foreign(marker, stays[0])
        marker.withdraw(place)
    if with_directory:
        marker.directory.remove_empty()


def _check_free(directory: Directory) -> None:
    """Raise BadInput if there is something in the directory, or if it is a link."""
    if not directory.exists():
        return
    with opened(directory, follow_link=False) as place:
        if place.found():
            raise BadInput(_occupied(directory))


def _occupied(directory: Directory) -> str:
    with opened(directory, follow_link=False) as place:
        marker = Marker.read(place, directory, PURPOSE)
        first = min((each.name for each in place.found()), default=MARKER)
    if marker is None:
        return f"{directory.uri} exists, and clusterlift has not made it: move it elsewhere (first: {first})"
    writer = writer_of(directory)
    if has_ended(marker.identity) is None:
        return (
            f"{writer} writes to {directory.uri}, or was killed: if that process has ended, delete the "
            "directory"
        )
    return f"{writer} writes to {directory.uri}: wait until that run has ended"
