"""The journal of an experiment: what was set on which host, and whether it was put back.

A file of JSON lines beside the results. A line is on the disk before the setting is changed, so that after a
power cut somebody knows what may still be set.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from harness.hosts.transports.host import Host
from harness.model.errors import BadInput
from harness.model.run import timestamp
from harness.records.directories import locked
from harness.settings.bond_member import BondMember
from harness.settings.mtu import Mtu
from harness.settings.own_command import OwnCommand
from harness.settings.rate import Rate
from harness.settings.setting import Setting
from harness.settings.speed import Speed
from harness.settings.sysctl import Sysctl

AnySetting = Rate | Mtu | Speed | BondMember | Sysctl | OwnCommand

State = Literal["set", "put back"]
SET: State = "set"
PUT_BACK: State = "put back"


class Change(msgspec.Struct, frozen=True):
    """A setting of a host that is changed, and its value before."""

    host: Host
    setting: AnySetting
    before: str

    def __str__(self) -> str:
        return f"{self.host}: {self.setting.name}"


class _Line(msgspec.Struct, frozen=True):
    at: str
    state: State
    change: Change


class Journal:
    """The journal in a file, which this process alone uses while it has the journal open."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def record(self, state: State, changes: Sequence[Change]) -> None:
        """Append what is about to be set, or has been put back. It is on the disk afterwards."""
        if not changes:
            return
        lines = (msgspec.json.encode(_Line(timestamp(), state, change)) for change in changes)
        text = b"".join(line + b"\n" for line in lines)
        descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, text)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def outstanding(self) -> list[Change]:
        """Return what was set and not put back, the latest first.

        Raise BadInput that names the line which cannot be read. A last line that was cut off was never
        acted upon, so it does not count.
        """
        try:
            *lines, _ = self._file.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadInput(f"{self._file}: {error.strerror}") from error
        found: dict[tuple[Host, Setting], Change] = {}
        for number, line in enumerate(lines, 1):
            try:
                entry = msgspec.json.decode(line, type=_Line)
            except msgspec.MsgspecError as error:
                raise BadInput(f"{self._file}, line {number}: {error}") from error
            key = entry.change.host, entry.change.setting
            if entry.state == PUT_BACK:
                found.pop(key, None)
            else:
                # What was set twice is put back to what was there first.
                found.setdefault(key, entry.change)
        return list(found.values())[::-1]


@contextmanager
def open_journal(file: Path) -> Iterator[Journal]:
    """Yield the journal in a file, which may not exist yet.

    Raise BadInput if another process has it open, or if its directory cannot be written.
    """
    lock = file.with_suffix(".lock")
    busy = f"another command runs this experiment: {lock} is locked; wait until it has ended"
    with locked(lock, "the journal", busy, advice="choose another directory by --results"):
        _remove_unfinished_line(file)
        yield Journal(file)


def _remove_unfinished_line(file: Path) -> None:
    """Remove what a power cut left of a line, so that the next line begins at its own."""
    with suppress(FileNotFoundError), file.open("r+b") as stream:
        stream.truncate(stream.read().rfind(b"\n") + 1)
