"""Writes results files: JSON Lines that survive being cut off at any byte.

One run, or one call of `clusterlift probe`, writes a file once. The first line describes it, one line for
each trial or probe event follows, and the last line is how it ended. Each line is on the disk before the
next trial or step of a probe starts. A last line without its newline is what a killed process leaves behind:
the reader reports and skips it. Anything else that is malformed is an error.

The last key of each line is `sha256`, a checksum of all bytes before this key: a file that was edited is
noticed, even if its process was killed. Credentials are never written.
"""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from io import FileIO, RawIOBase
from pathlib import Path
from typing import Any, Self

from harness.base.errors import BadInput, ClusterliftError
from harness.base.interrupt import deferred_signals
from harness.base.redaction import redacted
from harness.model.probe import EVENT_KINDS, ProbeEvent, ProbeRun, RecordedProbes
from harness.model.run import Ending, LinkErrors, Run, Trial, timestamp
from harness.records.checksums import Checksums
from harness.records.directories import (
    SUFFIX,
    configuration_directory,
    not_writable,
    probes_directory,
    sync,
)
from harness.records.files import readable_by_others

SCHEMA_VERSION = 2
"""In version 1, only the last line of a run that ended had a checksum."""


class _LineWriter:
    """A file to which lines are appended; without a path nothing is written."""

    path: Path | None = None
    _file: RawIOBase | None = None
    _temporary: Path | None = None
    """The file's name until `end`, if it has to be whole."""

    def __init__(self) -> None:
        self._checksums = Checksums()

    def _create(self, directory: Path, kind: str, run: Run | ProbeRun, *, whole: bool) -> None:
        """Create the file: it appears under its name with the first line, or `whole` at its end.

        Raises BadInput if it exists or cannot be created.
        """
        self.path = path = directory / f"{run.id}{SUFFIX}"
        temporary = path.with_name(f".{path.name}.temporary")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Only one process can create the temporary name, so none takes the final one meanwhile.
            self._file = FileIO(temporary, "xb", opener=readable_by_others)
        except FileExistsError as error:
            raise _already_exists(path) from error
        except OSError as error:
            raise not_writable(path.parent, error) from error
        try:
            if path.exists():
                raise _already_exists(path)
            self._temporary = temporary if whole else None
            self._append(kind, {"schema_version": SCHEMA_VERSION, **asdict(run)})
            if not whole:
                self._name(temporary, path)
        except BaseException:
            self._file.close()
            temporary.unlink(missing_ok=True)
            raise

    def _name(self, temporary: Path, path: Path) -> None:
        temporary.rename(path)
        sync(path.parent)

    def record(self, event: Trial | ProbeEvent, *, durable: bool = True) -> None:
        """Append an event."""
        kind = next(kind for kind, type_ in _EVENT_KINDS.items() if isinstance(event, type_))
        values = asdict(event)
        values.pop("disturbed", None)  # the reader judges the counters by the rules of today
        self._append(kind, values, durable=durable)

    def discard(self) -> None:
        """Remove the file, because nothing is measured after all."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _end(self, values: Mapping[str, Any]) -> None:
        """Append the last line; a file that had to be whole is, and gets its name."""
        self._append("end", {**values, "ended_at": timestamp()})
        if self._temporary and self.path:
            self.sync()
            self._name(self._temporary, self.path)
            self._temporary = None

    def sync(self) -> None:
        """Put all lines on the disk. Raises ClusterliftError if they cannot be."""
        if self._file is None:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._cannot_continue(error) from error

    def _append(self, kind: str, values: Mapping[str, Any], *, durable: bool = True) -> None:
        """Append a line; it is on the disk when this returns. Raises ClusterliftError if it cannot be.

        A line that is not `durable` is with the kernel: it outlives this process, but not the machine.
        """
        if self._file is None:
            return
        line = redacted({"kind": kind, **values})
        # Arguments that are not UTF-8 have halves of surrogate pairs, which no file can have.
        content = json.dumps(line, ensure_ascii=False, allow_nan=False).encode(errors="replace")
        try:
            self._write(self._file, content)
            if durable and not self._temporary:
                os.fsync(self._file.fileno())
            is_deleted = os.fstat(self._file.fileno()).st_nlink == 0
        except OSError as error:
            raise self._cannot_continue(error) from error
        if is_deleted:
            raise ClusterliftError(
                f"cannot continue writing {self.path}: it was deleted, with all that it had; "
                "start the run again"
            )

    def _write(self, file: RawIOBase, line: bytes) -> None:
        """Write a line with its checksum, whole or not at all, and no signal in between. Raise OSError."""
        checksums = self._checksums.copy()
        data = memoryview(checksums.sealed(line))
        end = os.fstat(file.fileno()).st_size
        with deferred_signals():
            try:
                while data:
                    data = data[file.write(data) or 0 :]
            except OSError:
                with suppress(OSError):
                    file.truncate(end)
                    file.seek(end)
                raise
            self._checksums = checksums

    def _cannot_continue(self, error: OSError) -> ClusterliftError:
        return ClusterliftError(
            f"cannot continue writing {self.path}: {error.strerror}; earlier lines are kept"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)


_EVENT_KINDS: Mapping[str, type[Trial | ProbeEvent]] = {"trial": Trial, **EVENT_KINDS}


class Recording(_LineWriter):
    """The results file of a run while it is written: `results/<configuration>/<run id>.jsonl`.

    Raises BadInput if the file cannot be created, and ClusterliftError if it cannot be continued; what was
    recorded until then is kept.
    """

    path: Path

    def __init__(self, results: Path, run: Run, *, whole: bool = False) -> None:
        super().__init__()
        directory = configuration_directory(results, run.configuration)
        self._create(directory, "run", run, whole=whole)

    def trial(self, trial: Trial) -> None:
        """Append a trial; it is on the disk when this returns."""
        self.record(trial)

    def end(
        self, ending: Ending, stopped: str | None = None, link_errors: LinkErrors | None = None
    ) -> None:
        """Append how the run ended; the arguments are as in RecordedRun. Nothing follows."""
        self._end({"ending": ending, "stopped": stopped, "link_errors": link_errors})


class ProbeRecording(_LineWriter):
    """The events of a probe run, kept in memory and, if there is a `results` directory, in a file.

    Raises BadInput if the file cannot be created, and ClusterliftError if it cannot be continued.
    """

    def __init__(self, run: ProbeRun, results: Path | None, *, whole: bool = False) -> None:
        super().__init__()
        self._run = run
        self._events: list[ProbeEvent] = []
        self._ending: Ending | None = None
        if results is not None:
            directory = probes_directory(results, run.configuration)
            self._create(directory, "probes", run, whole=whole)

    def event(self, event: ProbeEvent, *, durable: bool = True) -> None:
        """Append an event; it is on the disk when this returns, or else when `sync` does.

        Thousands of events of a step take longer to be synced each than to be measured.
        """
        self.record(event, durable=durable)
        self._events.append(event)

    def end(self, ending: Ending) -> None:
        """Append how the probe run ended. Nothing follows."""
        self._end({"ending": ending})
        self._ending = ending

    @property
    def probed(self) -> RecordedProbes:
        """What was recorded until now."""
        return RecordedProbes(self._run, tuple(self._events), self._ending, str(self.path or ""))


def record_all(results: Path, run: Run | ProbeRun, events: Iterable[Trial | ProbeEvent]) -> Path:
    """Record what is complete, and return the file: it is there with all lines or not at all.

    Raises like the recordings.
    """
    recording: Recording | ProbeRecording
    if isinstance(run, Run):
        recording = Recording(results, run, whole=True)
    else:
        recording = ProbeRecording(run, results, whole=True)
    with recording:
        for event in events:
            recording.record(event)
        recording.end(Ending.COMPLETED)
    assert recording.path is not None  # noqa: S101  there are results
    return recording.path


def _already_exists(path: Path) -> BadInput:
    return BadInput(f"{path} belongs to another run; start the run again, and it gets another id")
