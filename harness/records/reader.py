"""Reads results files, those of former schemas too."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.model.errors import BadInput
from harness.model.run import Ending, Phase, RecordedRun, Run, Status, Trial
from harness.model.task_metrics import TaskMetrics, WireBytes
from harness.records.json_lines import whole_lines
from harness.records.typed import built
from harness.records.writer import Line, LinkErrors, T

READABLE_VERSIONS = frozenset({1})
"""A version that was once written stays readable; the tests keep a file of each."""


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
        link_errors=ended.link_errors,
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
    link_errors: LinkErrors | None = None


def _read_end(line: Line) -> _End:
    link_errors = line.get("counted")
    return _End(
        Ending(line["ending"]),
        None if line.get("stopped") is None else _typed(line, "stopped", str),
        None if link_errors is None else built(LinkErrors, link_errors),  # type: ignore[type-abstract]
    )


def _typed(line: Line, key: str, kind: type[T]) -> T:
    """The value of a key. Raises ValueError unless it has this JSON type."""
    value = line[key]
    if type(value) is not kind:
        raise ValueError(f"{key!r} is {value!r}, not of type {kind.__name__}")
    return value


def _listed(versions: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(versions)))
