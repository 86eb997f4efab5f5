"""What was probed, in a file beside the runs of its configuration: `results/1g/probes/<id>.jsonl`.

JSON Lines like a run's: a head, then a line for each host that was left out, for each link before and
after, and for each measurement, and last how it ended. Each is on the disk before the next is
measured; a last line without its newline is what a killed probe leaves behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from harness.model.errors import BadInput
from harness.model.probe import _KINDS, Measurement, ProbeEvent, ProbeRun, RecordedProbes
from harness.model.run import Ending, timestamp
from harness.records.directories import SUFFIX, check_writable, configuration_directory
from harness.records.json_lines import append_line, whole_lines
from harness.records.typed import built

SCHEMA_VERSION = 1
READABLE_VERSIONS = frozenset({1})
DIRECTORY = "probes"

T = TypeVar("T")


class ProbeRecording:
    """Keeps what is noted, and writes it to a file where there is a `results` directory.

    Raises BadInput where the file cannot be created, and ClusterliftError where it cannot be gone on
    with.
    """

    def __init__(self, run: ProbeRun, results: Path | None) -> None:
        self._run = run
        self._notes: list[ProbeEvent] = []
        self._ending: Ending | None = None
        self._file: FileIO | None = None
        self.path: Path | None = None
        if results is not None:
            self.path = probes_directory(results, run.configuration) / f"{run.id}{SUFFIX}"
            self._file = _created(self.path, results, run.configuration)
        self._append("probes", {"schema_version": SCHEMA_VERSION, **asdict(run)})

    def note(self, note: ProbeEvent) -> None:
        """Keep one; it is on the disk when this returns."""
        kind = next(kind for kind, of_kind in _KINDS.items() if isinstance(note, of_kind))
        self._append(kind, asdict(note))
        self._notes.append(note)

    def end(self, ending: Ending) -> None:
        """Say how it ended. Nothing follows."""
        self._append("end", {"ending": ending, "ended_at": timestamp()})
        self._ending = ending

    @property
    def probed(self) -> RecordedProbes:
        """What was noted until now."""
        return RecordedProbes(self._run, tuple(self._notes), self._ending, str(self.path or ""))

    def _append(self, kind: str, values: Mapping[str, Any]) -> None:
        if self._file is None or self.path is None:
            return
        append_line(self._file, self.path, {"kind": kind, **values})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()


def probes_directory(results: Path, configuration: str) -> Path:
    """Where a configuration's probes lie, out of the way of its runs."""
    return configuration_directory(results, configuration) / DIRECTORY


def load_probed(path: Path) -> RecordedProbes:
    """Read one file of probes.

    Raises BadInput, naming file and line, if it is not what a Notebook leaves behind, whole or cut off.
    """
    whole, cut_off = whole_lines(path)
    lines = [_at(path, number, line, _object) for number, line in enumerate(whole, 1)]
    if not lines:
        raise BadInput(f"{path}:1: not a file of probes: it holds no whole line")
    run = _at(path, 1, lines[0], _head)
    ending = None
    if lines[-1].get("kind") == "end":
        ending = _at(path, len(lines), lines.pop(), lambda line: Ending(line["ending"]))
    notes = tuple(_at(path, number, line, _note) for number, line in enumerate(lines[1:], 2))
    return RecordedProbes(run, notes, ending, str(path), cut_off)


def find_probed(name: str, results: Path) -> list[RecordedProbes]:
    """The probes that `name` stands for, in the order of their start; one or more.

    It is a file, a directory of them, or a configuration under `results`. Raises BadInput where it is
    none of these.
    """
    path = Path(name)
    try:
        if path.is_file():
            return [load_probed(path)]
        directories = (path, path / DIRECTORY, probes_directory(results, name))
        files = next(filter(None, map(_files, directories)), [])
    except (OSError, ValueError) as error:  # too long, not readable, not encodable
        raise BadInput(f"cannot read {name!r}: {error}") from error
    if not files:
        raise BadInput(
            f"{name!r} has no probes: it is neither a file of them nor a configuration under {results} "
            f"that was probed: clusterlift probe all --configuration {name}"
        )
    return sorted(map(load_probed, files), key=lambda probed: probed.run.started_at)


def load_measurements(path: Path) -> list[Measurement]:
    """The measurements of a file of probes, of a directory of them, or of a configuration's directory.

    Raises BadInput like `find_probed`.
    """
    return [one for probed in find_probed(str(path), path) for one in probed.measurements]


def _created(path: Path, results: Path, configuration: str) -> FileIO:
    check_writable(results, configuration)
    try:
        path.parent.mkdir(exist_ok=True)
        return path.open("xb", buffering=0)
    except OSError as error:
        raise BadInput(f"--results: cannot create {path}: {error.strerror}") from error


def _files(directory: Path) -> list[Path]:
    if not directory.is_dir():
        return []
    return sorted(
        file
        for file in directory.iterdir()
        if file.suffix == SUFFIX and not file.name.startswith(".")
    )


def _object(line: str) -> dict[str, Any]:
    value = json.loads(line)
    if not isinstance(value, dict):
        raise TypeError("an object is expected")
    return value


def _head(line: Mapping[str, Any]) -> ProbeRun:
    if line.get("kind") != "probes":
        raise ValueError("the first line is not that of a probe")
    if line["schema_version"] not in READABLE_VERSIONS:
        raise ValueError(
            f"schema version {line['schema_version']!r} is not known here; "
            "use the clusterlift that wrote it, or a newer one"
        )
    return built(ProbeRun, line)


def _note(line: Mapping[str, Any]) -> ProbeEvent:
    if line["kind"] not in _KINDS:
        raise ValueError(f"unknown kind of line: {line['kind']!r}")
    return built(_KINDS[line["kind"]], line)


def _at(path: Path, number: int, line: Any, read: Callable[[Any], T]) -> T:
    try:
        return read(line)
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise BadInput(f"{path}:{number}: not a file of probes: {reason}") from error
