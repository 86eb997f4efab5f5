"""The journal of an experiment: what was set on which host, and whether it was put back.

A file of JSON lines beside the results. A line is on the disk before the setting is changed, so that after a
power cut the user knows what may still be set. It names hosts and settings and has no commands: results are
passed on, and their sender must not choose what runs as root.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from harness.base.errors import BadInput
from harness.base.words import shorten
from harness.model.run import timestamp
from harness.records.directories import locked
from harness.records.document import MAX_REASON
from harness.records.files import own_file, sync
from harness.settings.setting import SettingChange

State = Literal["set", "put back"]
SET: State = "set"
PUT_BACK: State = "put back"


class JournalEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The names of a host and of a setting, the value that was set, and the one before."""

    host: str
    setting: str
    value: str
    before: str

    def __str__(self) -> str:
        return f"{self.host}: {self.setting}"


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    at: str
    state: State
    change: JournalEntry


class Journal:
    """The journal in a file, which this process alone uses while it has the journal open."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def record(self, state: State, changes: Sequence[SettingChange | JournalEntry]) -> None:
        """Append what is about to be set, or has been put back. It is on the disk afterwards.

        Raise BadInput, with the journal as it was, if it cannot be written.
        """
        if not changes:
            return
        lines = (_Line(timestamp(), state, _entry(change)) for change in changes)
        text = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        with self._open(os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
            size = os.fstat(descriptor).st_size
            try:
                written = 0
                while written < len(text):
                    written += os.write(descriptor, text[written:])
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
            sync(self._file.parent)

    def outstanding(self) -> list[JournalEntry]:
        """Return what was set and not put back, the latest first.

        Raise BadInput that names the line which cannot be read. A last line that was cut off was never
        acted upon, so it does not count.
        """
        try:
            with (
                self._open(os.O_RDONLY) as descriptor,
                open(descriptor, "rb", closefd=False) as file,
            ):
                *lines, _ = file.read().split(b"\n")
        except FileNotFoundError:
            return []
        found: dict[tuple[str, str], JournalEntry] = {}
        for number, line in enumerate(lines, 1):
            try:
                entry = msgspec.json.decode(line, type=_Line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                reason = shorten(str(error), MAX_REASON)
                raise BadInput(f"{self._file}, line {number}: {reason}") from error
            change = entry.change
            former = found.pop((change.host, change.setting), change)
            if entry.state == SET:
                # A setting that was set twice gets its first value back.
                found[change.host, change.setting] = msgspec.structs.replace(
                    change, before=former.before
                )
        return list(found.values())[::-1]

    def remove_unfinished_line(self) -> None:
        """Remove what a power cut left of a line, so that the next line begins at its own."""
        with (
            suppress(FileNotFoundError),
            self._open(os.O_RDWR) as descriptor,
            open(descriptor, "r+b", closefd=False) as file,
        ):
            file.truncate(file.read().rfind(b"\n") + 1)

    @contextmanager
    def _open(self, flags: int) -> Iterator[int]:
        """Open the file.

        Raise BadInput if others can write to the file, and FileNotFoundError if it does not exist.
        """
        try:
            with own_file(self._file, flags) as descriptor:
                if stat.S_IMODE(os.fstat(descriptor).st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
                    raise BadInput(
                        f"{self._file}: others may write to it, so it is not used; check what it says, then "
                        "chmod go-w"
                    )
                yield descriptor
        except FileNotFoundError:
            raise
        except OSError as error:
            raise BadInput(f"{self._file}: {error.strerror}") from error


@contextmanager
def open_journal(file: Path) -> Iterator[Journal]:
    """Yield the journal in a file, which may not exist yet.

    Raise BadInput if another process has it open, or if its directory cannot be written.
    """
    lock = file.with_suffix(".lock")
    busy = f"another command runs this experiment: {lock} is locked; wait until it has ended"
    with locked(lock, "the journal", busy, advice="choose another directory by --results"):
        journal = Journal(file)
        journal.remove_unfinished_line()
        yield journal


def _entry(change: SettingChange | JournalEntry) -> JournalEntry:
    if isinstance(change, JournalEntry):
        return change
    return JournalEntry(str(change.host), change.setting.name, change.setting.value, change.before)
