"""A directory in which generate.py writes a dataset, from the first change to the last.

    _generating                 the marker: names the process; the first file to come, the last to go
    part-<token>-...            the data; Spark before 4.1 leaves the marker's token out of the names
    _incomplete._dataset.json   the manifest before it is complete: it names the data that is there
    _dataset.json               the manifest: a directory with it is a dataset; written last, retired first

Wherever generate.py is killed, it leaves a whole dataset or none, and a marker by which the next generate.py
knows what it may delete. If the first one still runs, it finds another marker than its own, and stops.

Only files that a marker or a manifest names are ours. The part files that another program has added are not,
nor is another program's `_temporary`.
"""

from __future__ import annotations  # for Python 3.8

import hashlib
import os
import re
import secrets
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from datagen.filesystem import TEMPORARY_PREFIX, Directory
from datagen.manifest import FILE_NAME, named_files
from datagen.removal import IsOurs, Path, Place, foreign, opened, remove
from harness.base.errors import BadInput, ClusterliftError
from harness.base.interrupt import deferred_signals
from harness.base.words import first_line, join_names, shorten
from harness.model.run import timestamp
from harness.node.processes import own_identity

MARKER = "_generating"
DRAFT = f"{TEMPORARY_PREFIX}{FILE_NAME}"
UNCOMMITTED = "_temporary"
"""The directory in which Spark writes uncommitted files."""
SUCCESS = "_SUCCESS"

PART = re.compile(
    r"part-((?P<token>[0-9a-f]{16})-)?\d{5,}-(?P<job>[0-9a-f-]{36})-c\d{3,}\.[a-z0-9_.]+"
)
_COMMITTER_DIRECTORY = re.compile(rf"{UNCOMMITTED}|\d+|(attempt|task)_\d+_\d+_[a-z]+_\d+(_\d+)?")
_MARKER_TEXT = re.compile(
    r"process \d+ on .*, since .*, (?P<token>[0-9a-f]{16})\n"
    r"(?P<identity>.*)\n"
    r"(?P<purpose>[a-z ]+) (?P<uri>\S.*)\n"
    r"(?P<former>(after [0-9a-f]{16}\n)*)"
)
DATASET = "dataset"
MAX_TAKEN_OVER = 100


@dataclass(frozen=True)
class Marker:
    """The marker that a process puts into a directory. `token` is its own and no other's.

    `former` are the tokens of the processes that it took the directory over from.
    """

    directory: Directory
    text: str
    identity: str
    token: str
    former: tuple[str, ...] = ()

    @classmethod
    def put(cls, directory: Directory, purpose: str, *, taken_over: Marker | None = None) -> Marker:
        """Create the directory and the marker. Raise BadInput if there is a marker but that taken over."""
        token = secrets.token_hex(8)
        identity = own_identity()
        former: tuple[str, ...] = ()
        if taken_over is not None:
            former = taken_over.tokens[:MAX_TAKEN_OVER]
        content = (
            f"process {os.getpid()} on {socket.gethostname()}, since {timestamp()}, {token}\n"
            f"{identity}\n"
            f"{purpose} {directory.uri}\n"
        )
        for each in former:
            content += f"after {each}\n"
        text = _with_digest(content)
        directory.create()
        directory.create_file(MARKER, text, overwrite=taken_over is not None)
        return cls(directory, text, identity, token, former)

    @classmethod
    def read(cls, place: Place, directory: Directory, purpose: str) -> Marker | None:
        """Return the marker in a directory, whoever is writing there.

        None if there is none that is whole, was written for this directory and purpose, and is in a
        directory of this user as a file of this user.
        """
        text = place.text(MARKER)
        if text is None or not place.is_own() or not place.is_own(MARKER):
            return None
        content = text.rpartition("whole ")[0]
        found = _MARKER_TEXT.fullmatch(content)
        if found is None or text != _with_digest(content):
            return None
        if found["purpose"] != purpose or found["uri"] != directory.uri:
            return None
        former = tuple(re.findall(r"[0-9a-f]{16}", found["former"]))
        return Marker(directory, text, found["identity"], found["token"], former)

    @property
    def tokens(self) -> tuple[str, ...]:
        return (self.token, *self.former)

    @property
    def aside(self) -> str:
        """The directory to which things are moved before they are deleted."""
        return _aside(self.token)

    def is_in(self, place: Place) -> bool:
        """Return whether it is in an open directory, where no other process has replaced it."""
        return place.text(MARKER) == self.text

    def is_there(self) -> bool:
        """Return whether it is in its directory."""
        if not self.directory.exists():
            return False
        with opened(self.directory, follow_link=True) as place:
            return self.is_in(place)

    def check(self) -> None:
        """Raise ClusterliftError unless it is in its directory."""
        if not self.is_there():
            raise self.replaced()

    def replaced(self) -> ClusterliftError:
        """Return the error of a process that finds another marker than its own."""
        return ClusterliftError(
            f"another process took over writing {self.directory.uri}, and this one stopped; wait until "
            "that one has finished"
        )

    def writes(self, is_ours: IsOurs) -> IsOurs:
        """Return the same question also for what an interrupted removal has moved aside."""
        asides = {_aside(token) for token in self.tokens}

        def is_ours_or_aside(path: Path, is_directory: bool) -> bool:  # noqa: FBT001  of IsOurs
            if path[0] not in asides:
                return is_ours(path, is_directory)
            if len(path) == 1:
                return is_directory
            return is_ours_or_aside(path[1:], is_directory)

        return is_ours_or_aside

    def withdraw(self, place: Place) -> None:
        """Delete the marker, if it is still the same."""
        if self.is_in(place):
            place.unlink(MARKER)


def _with_digest(text: str) -> str:
    return f"{text}whole {hashlib.sha256(text.encode()).hexdigest()[:16]}\n"


def _aside(token: str) -> str:
    return f"_removed.{token}"


def writer_of(directory: Directory) -> str:
    """Return what the marker says about the process that writes."""
    return shorten(first_line(directory.read(MARKER), "an unknown process"), 200)


def is_from_spark(name: str, is_directory: bool) -> bool:  # noqa: FBT001  as in IsOurs
    """Return whether Spark or Hadoop gives this name to something that it writes for us."""
    if is_directory:
        return bool(_COMMITTER_DIRECTORY.fullmatch(name))
    plain = _without_checksum(name)
    return plain == SUCCESS or bool(PART.fullmatch(plain))


def _without_checksum(name: str) -> str:
    """Return the name of the file that a companion of Hadoop's is the checksum of."""
    if name.startswith(".") and name.endswith(".crc"):
        return name[1:-4]
    return name


def _dataset_files(directory: Directory, marker: Marker | None) -> IsOurs:
    """Return which files in the directory of a dataset are ours: those that its manifest or marker names."""
    manifests = []
    tokens: tuple[str, ...] = ()
    if directory.has(FILE_NAME):
        manifests.append(FILE_NAME)
    if marker:  # without one, neither a draft nor uncommitted files of ours can be there
        tokens = marker.tokens
        manifests.append(DRAFT)
    files = {SUCCESS}
    for name in manifests:
        if directory.has(name):
            files |= {file for file in named_files(directory.read(name)) if PART.fullmatch(file)}
    attempts = [str(attempt_of(token)) for token in tokens]

    def is_ours(path: Path, is_directory: bool) -> bool:  # noqa: FBT001  of IsOurs
        if marker and path[0] == UNCOMMITTED:
            return _is_uncommitted(path[1:], is_directory, attempts)
        if is_directory or len(path) > 1:
            return False
        if path[0] in manifests:
            return True
        name = _without_checksum(path[0])
        part = PART.fullmatch(name)
        return name in files or (part is not None and part["token"] in tokens)

    if marker:
        return marker.writes(is_ours)
    return is_ours


def _is_uncommitted(path: Path, is_directory: bool, attempts: Collection[str]) -> bool:  # noqa: FBT001  of IsOurs
    """Return whether a path below `_temporary`, or that itself, is of one of our attempts."""
    if not path:
        return is_directory
    if path[0] not in attempts:
        return False
    if len(path) == 1:
        return is_directory
    return is_from_spark(path[-1], is_directory)


def attempt_of(token: str) -> int:
    """Return the number under which a process with this token has its uncommitted files."""
    return int(token[:7], 16)


def own_names(token: str) -> dict[str, str]:
    """Return the properties with which Spark gives what it writes names by which it is known as ours."""
    return {
        "mapreduce.job.application.attempt.id": str(attempt_of(token)),
        "mapreduce.output.basename": f"part-{token}",
    }


def check_replaceable(directory: Directory, *, overwrite: bool, reuse: bool) -> Marker | None:
    """Return the marker of an unfinished dataset; None if there is none.

    Raises BadInput if no dataset may be written into the directory: what is not ours is never replaced, a
    dataset only with `overwrite`, an unfinished one also with `reuse`.
    """
    if not directory.exists():
        return None
    entries = directory.entries()
    with opened(directory, follow_link=True) as place:
        marker = Marker.read(place, directory, DATASET)
        is_ours = _dataset_files(directory, marker)
        stays = [path for path in foreign(place, is_ours) if path != MARKER]
    if MARKER in entries and marker is None:
        raise BadInput(
            f"{directory.uri}/{MARKER} is no whole marker that you have written for this directory: if no "
            "process writes there, delete that file, or choose another directory"
        )
    if FILE_NAME not in entries and marker is None and entries:
        raise BadInput(
            f"{directory.uri} contains files, but neither a manifest nor the marker of an unfinished "
            f"dataset (first: {min(entries)}); choose another directory"
        )
    if stays:
        raise BadInput(
            f"{directory.uri} contains something that is not part of a dataset "
            f"(first: {stays[0]}); move it elsewhere, or choose another directory"
        )
    if FILE_NAME in entries and not overwrite:
        raise BadInput(f"{directory.uri} is a dataset already; --overwrite replaces it")
    if marker and not (overwrite or reuse):
        raise BadInput(
            f"{directory.uri} is not finished: {writer_of(directory)} writes it, or was killed; "
            "if that process has ended, --overwrite starts again"
        )
    return marker


@contextmanager
def generating(
    directory: Directory, *, taken_over: Marker | None, writing_has_ended: Callable[[], bool]
) -> Iterator[Marker]:
    """Mark the directory, and delete the dataset in it, which check_replaceable has allowed.

    If an error leaves the block, what was written is deleted. The marker stays if a task may
    still write: by the marker, the next process knows what comes late. Raises BadInput if there is a
    marker but that taken over. Call `check` of the marker before the manifest is written.
    """
    is_new = not directory.exists()
    marker: Marker | None = None
    try:
        marker = Marker.put(directory, DATASET, taken_over=taken_over)
        stays = _clear(marker)
        if stays:
            raise BadInput(f"{directory.uri}: {join_names(stays[:3])} came while it was cleared")
        yield marker
    except BaseException:
        # Spark may have ended, and with it the way to the file system.
        with suppress(KeyboardInterrupt, ClusterliftError, OSError), deferred_signals():
            if marker and not _clear(marker) and writing_has_ended():
                _withdraw(marker)
            if is_new:
                directory.remove_empty()
        raise
    _withdraw(marker)


def _clear(marker: Marker) -> list[str]:
    """Delete the dataset, or what there is of it, and return the paths of what is not ours.

    The manifest becomes the draft, which goes last, so that the next process knows the files of a dataset
    that is half deleted.
    """
    directory = marker.directory
    with opened(directory, follow_link=True) as place:
        if not marker.is_in(place):
            raise marker.replaced()
        if directory.has(FILE_NAME):
            directory.delete(DRAFT)
            directory.rename(FILE_NAME, DRAFT)
        is_ours = _dataset_files(directory, marker)

        def is_ours_but_draft(path: Path, is_directory: bool) -> bool:  # noqa: FBT001  of IsOurs
            return path != (DRAFT,) and is_ours(path, is_directory)

        left = remove(place, is_ours_but_draft, marker.aside)
        stays = [path for path in left if path not in {MARKER, DRAFT}]
        if not stays and marker.is_in(place):
            directory.delete(DRAFT)
    return stays


def _withdraw(marker: Marker) -> None:
    with opened(marker.directory, follow_link=True) as place:
        marker.withdraw(place)
