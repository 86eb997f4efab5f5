"""Writes results files: JSON Lines that survive being cut off at any byte.

One run, or one call of `clusterlift probe`, writes a file once. The first line describes it, one line for
each trial or probe event follows, and the last line is how it ended. Each line is on the disk before the
next trial or step of a probe starts. A last line without its newline is what a killed process leaves behind:
the reader reports and skips it. Anything else that is malformed is an error.

The last key of each line is `sha256`, a checksum of all bytes before this key: a file that was edited is
noticed, even if its process was killed. Credentials are never written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from io import FileIO, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from harness.base.errors import BadInput, ClusterliftError
from harness.base.interrupt import deferred_signals
from harness.base.redaction import redacted
from harness.model.plan import Plan
from harness.model.probe import EVENT_KINDS, ProbeEvent, ProbeRun, RecordedProbes
from harness.model.run import Ending, LinkErrors, Run, Trial, timestamp
from harness.records.checksums import Checksums
from harness.records.directories import (
    SUFFIX,
    configuration_directory,
    not_writable,
    probes_directory,
)
from harness.records.files import create_whole
from harness.records.node_names import Names, node_names, run_with_names, with_names

SCHEMA_VERSION = 3
"""In version 1, only the last line of a run that ended had a checksum. Before version 3, every trial of Spark
proved its answer.
"""

_EVENT_KINDS: Mapping[str, type[Event]] = {"trial": Trial, **EVENT_KINDS}
WriterT = TypeVar("WriterT", bound="_LineWriter")
if TYPE_CHECKING:
    Event = Trial | ProbeEvent


def _path(results: Path, run: Run | ProbeRun) -> Path:
    """Return the path of a results file."""
    if isinstance(run, Run):
        directory = configuration_directory(results, run.configuration)
    else:
        directory = probes_directory(results, run.configuration)
    return directory / f"{run.id}{SUFFIX}"


def _head(run: Run | ProbeRun) -> bytes:
    """Return the first line of a file, without its checksum."""
    if isinstance(run, Run):
        return _line("run", {"schema_version": SCHEMA_VERSION, **asdict(run_with_names(run))})
    return _line("probes", {"schema_version": SCHEMA_VERSION, **asdict(run)})


def _names(run: Run | ProbeRun) -> Names:
    if isinstance(run, Run):
        return node_names(run.environment)
    return {}


def _event(event: Event) -> bytes:
    """Return the line of an event, without its checksum."""
    kind = next(kind for kind, type_ in _EVENT_KINDS.items() if isinstance(event, type_))
    values = asdict(event)
    values.pop("disturbed", None)  # the reader judges the counters by the rules of today
    return _line(kind, values)


def _end(values: Mapping[str, Any]) -> bytes:
    """Return the last line, without its checksum."""
    return _line("end", {**values, "ended_at": timestamp()})


def _line(kind: str, values: Mapping[str, Any]) -> bytes:
    line = redacted({"kind": kind, **values})
    # Arguments that are not UTF-8 have halves of surrogate pairs, which no file can have.
    return json.dumps(line, ensure_ascii=False, allow_nan=False).encode(errors="replace")


def _create(path: Path, lines: Iterable[bytes]) -> None:
    """Create a results file with these lines. Raise BadInput if it exists or cannot be created."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        create_whole(path, lines)
    except FileExistsError as error:
        raise BadInput(
            f"{path} belongs to another run; start the run again, and it gets another id"
        ) from error
    except OSError as error:
        raise not_writable(path.parent, error) from error


class _LineWriter:
    """A file to which lines are appended; without a path nothing is written."""

    path: Path | None = None
    _file: RawIOBase | None = None

    def _start(self, path: Path, run: Run | ProbeRun) -> None:
        """Create the file with its first line. Raise BadInput if it exists or cannot be created."""
        self._checksums = Checksums()
        _create(path, [self._checksums.sealed(_head(run))])
        self.path = path
        self._file = FileIO(path, "ab")

    def discard(self) -> None:
        """Remove the file, because nothing is measured after all."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def sync(self) -> None:
        """Put all lines on the disk. Raises ClusterliftError if they cannot be."""
        if self._file is None:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._cannot_continue(error) from error

    def _append(self, line: bytes, *, durable: bool = True) -> None:
        """Append a line. It is on the disk when this returns. Raises ClusterliftError if it cannot be.

        A line that is not `durable` is with the kernel: it outlives this process, but not the machine.
        """
        if self._file is None:
            return
        try:
            self._write(self._file, line)
            if durable:
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

    def __enter__(self: WriterT) -> WriterT:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


class Recording(_LineWriter):
    """The results file of a run while it is written: `results/<configuration>/<run id>.jsonl`.

    Raises BadInput if the file cannot be created, and ClusterliftError if it cannot be continued; what was
    recorded until then is kept.
    """

    path: Path

    def __init__(self, results: Path, run: Run) -> None:
        self._names = _names(run)
        self._plans: set[str] = set()
        self._start(_path(results, run), run)

    def trial(self, trial: Trial) -> None:
        """Append a trial. It is on the disk when this returns. The operators of a plan are written once."""
        plan = trial.plan
        if plan is not None and plan.digest in self._plans:
            trial = replace(trial, plan=Plan(plan.digest))
        self._append(_event(with_names(trial, self._names)))
        if plan is not None:
            self._plans.add(plan.digest)

    def end(
        self, ending: Ending, stopped: str | None = None, link_errors: LinkErrors | None = None
    ) -> None:
        """Append how the run ended. The arguments are as in RecordedRun. Nothing follows."""
        values = {"ending": ending, "stopped": stopped, "link_errors": link_errors}
        self._append(_end(with_names(values, self._names)))


class ProbeRecording(_LineWriter):
    """The events of a probe run, kept in memory and, if there is a `results` directory, in a file.

    Raises BadInput if the file cannot be created, and ClusterliftError if it cannot be continued.
    """

    def __init__(self, run: ProbeRun, results: Path | None) -> None:
        self._run = run
        self._events: list[ProbeEvent] = []
        self._ending: Ending | None = None
        if results is not None:
            self._start(_path(results, run), run)

    def event(self, event: ProbeEvent, *, durable: bool = True) -> None:
        """Append an event. It is on the disk when this returns, or else when `sync` does.

        Thousands of events of a step take longer to be synced each than to be measured.
        """
        self._append(_event(event), durable=durable)
        self._events.append(event)

    def end(self, ending: Ending) -> None:
        """Append how the probe run ended. Nothing follows."""
        self._append(_end({"ending": ending}))
        self._ending = ending

    @property
    def probed(self) -> RecordedProbes:
        """What was recorded until now."""
        return RecordedProbes(self._run, tuple(self._events), self._ending, str(self.path or ""))


def record_all(results: Path, run: Run | ProbeRun, events: Iterable[Event]) -> Path:
    """Record what is complete, and return the file: it is there with all lines or not at all.

    Raise BadInput if the file cannot be created.
    """
    path = _path(results, run)
    _create(path, _sealed(run, events))
    return path


def _sealed(run: Run | ProbeRun, events: Iterable[Event]) -> Iterator[bytes]:
    checksums = Checksums()
    names = _names(run)
    yield checksums.sealed(_head(run))
    for event in events:
        yield checksums.sealed(_event(with_names(event, names)))
    yield checksums.sealed(_end({"ending": Ending.COMPLETED}))
