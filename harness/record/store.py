"""Results files: JSON Lines that survive being cut off at any byte.

A file is written by one run and never again: the run first, then a line a trial, then how it ended.
It appears under its name with the first line whole; every later line is flushed and synced before
the next trial starts. A last line without its newline is what a killed run leaves behind: it is
reported and skipped. Anything else malformed is an error.
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

from harness.errors import BadInput
from harness.metrics import TaskMetrics, WireBytes
from harness.model import Ending, Phase, RecordedRun, Run, Status, Trial
from harness.record.json_lines import append_line, whole_lines
from harness.record.typed import built

SCHEMA_VERSION = 1
READABLE_VERSIONS = frozenset({1})
"""A version that was once written stays readable; the tests keep a file of each."""
SUFFIX = ".jsonl"

Line = dict[str, Any]
Counted = Mapping[str, Mapping[str, int]]
T = TypeVar("T")


def timestamp() -> str:
    """Now, in UTC, to the millisecond: `2026-11-21T13:42:13.123Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_run_id() -> str:
    """An identifier that sorts by time and that two runs started at once do not share."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


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


class Recording:
    """A results file that is being written: `results/<configuration>/<run id>.jsonl`.

    Raises BadInput where the file cannot be created, and ClusterliftError where it cannot be
    continued: what was recorded until then is kept.
    """

    def __init__(self, results: Path, run: Run) -> None:
        self.path = configuration_directory(results, run.configuration) / f"{run.id}{SUFFIX}"
        unborn = self.path.with_name(f".{self.path.name}.unborn")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Whoever holds the unborn name is alone, so nobody takes the real one meanwhile.
            self._file = unborn.open("xb", buffering=0)
        except FileExistsError as error:
            raise _taken(self.path) from error
        except OSError as error:
            raise _unwritable(self.path.parent, error) from error
        try:
            if self.path.exists():
                raise _taken(self.path)
            self._append({"kind": "run", "schema_version": SCHEMA_VERSION, **asdict(run)})
            unborn.rename(self.path)
            _sync_directory(self.path.parent)
        except BaseException:
            self._file.close()
            unborn.unlink(missing_ok=True)
            raise

    def trial(self, trial: Trial) -> None:
        """Append a trial; it is on the disk when this returns."""
        self._append({"kind": "trial", **asdict(trial)})

    def end(
        self, ending: Ending, stopped: str | None = None, counted: Counted | None = None
    ) -> None:
        """Append how the run ended, why no more rounds came, and what links counted. Nothing follows."""
        end = {"ending": ending, "stopped": stopped, "counted": counted, "ended_at": timestamp()}
        self._append({"kind": "end", **end})

    def _append(self, line: Line) -> None:
        append_line(self._file, self.path, line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()


def load(path: Path) -> RecordedRun:
    """Read one results file.

    Raises BadInput, naming file and line, if the file is not what a Recording leaves behind,
    whole or cut off.
    """
    whole, warnings = whole_lines(path)
    if not whole:
        raise BadInput(f"{path}:1: not a results file: it holds no whole line")
    lines = [_parse(path, number, line) for number, line in enumerate(whole, 1)]
    run = _build(path, 1, lines[0], _read_run)
    trials: list[Trial] = []
    ended = _End()
    for number, line in enumerate(lines[1:], 2):
        if ended.ending is not None:
            raise BadInput(f"{path}:{number}: a line after the end of the run")
        match line.get("kind"):
            case "trial":
                trials.append(_build(path, number, line, _read_trial))
            case "end":
                ended = _build(path, number, line, _read_end)
            case other:
                raise BadInput(f"{path}:{number}: unknown kind of line: {other!r}")
    return RecordedRun(
        run,
        tuple(trials),
        ending=ended.ending,
        source=str(path),
        warnings=warnings,
        stopped=ended.stopped,
        counted=ended.counted,
    )


def _parse(path: Path, number: int, line: str) -> Line:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}:{number}: not a results file: {error}") from error
    if not isinstance(value, dict):
        raise BadInput(f"{path}:{number}: not a results file: an object is expected")
    return value


def _build(path: Path, number: int, line: Line, read: Callable[[Line], T]) -> T:
    try:
        return read(line)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise BadInput(f"{path}:{number}: malformed {line.get('kind')} line: {reason}") from error


def _read_run(line: Line) -> Run:
    if line.get("kind") != "run":
        raise ValueError("not a results file: the first line is not a run")
    version = line["schema_version"]
    if type(version) is not int or version not in READABLE_VERSIONS:
        raise ValueError(
            f"schema version {version!r} is not known here (known: {_listed(READABLE_VERSIONS)}); "
            "use the clusterlift that wrote it, or a newer one"
        )
    return Run(
        id=_typed(line, "id", str),
        configuration=_typed(line, "configuration", str),
        started_at=_typed(line, "started_at", str),
        workloads=tuple(map(str, _typed(line, "workloads", list))),
        written_by=_typed(line, "written_by", str),
        parameters=_typed(line, "parameters", dict),
        facts=_typed(line, "facts", dict),
        environment=_typed(line, "environment", dict),
        dataset=None if line["dataset"] is None else _typed(line, "dataset", dict),
        omitted=_typed(line, "omitted", dict),
    )


def _read_trial(line: Line) -> Trial:
    return Trial(
        workload=_typed(line, "workload", str),
        phase=Phase(line["phase"]),
        round=_typed(line, "round", int),
        status=Status(line["status"]),
        started_at=_typed(line, "started_at", str),
        wall_s=None if line["wall_s"] is None else float(line["wall_s"]),
        error=None if line["error"] is None else _typed(line, "error", str),
        job_group=None if line["job_group"] is None else _typed(line, "job_group", str),
        note=None if line.get("note") is None else _typed(line, "note", str),
        tasks=None if line.get("tasks") is None else built(TaskMetrics, line["tasks"]),
        wire=None if line.get("wire") is None else built(WireBytes, line["wire"]),
    )


@dataclass(frozen=True)
class _End:
    """A file's last line; the later keys are not in older files. Without an ending there is none."""

    ending: Ending | None = None
    stopped: str | None = None
    counted: Counted | None = None


def _read_end(line: Line) -> _End:
    counted = line.get("counted")
    return _End(
        Ending(line["ending"]),
        None if line.get("stopped") is None else _typed(line, "stopped", str),
        None if counted is None else built(Counted, counted),  # type: ignore[type-abstract]
    )


def _typed(line: Line, key: str, kind: type[T]) -> T:
    """The value of a key. Raises ValueError unless it has this JSON type."""
    value = line[key]
    if type(value) is not kind:
        raise ValueError(f"{key!r} is {value!r}, not of type {kind.__name__}")
    return value


def _listed(versions: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(versions)))


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
