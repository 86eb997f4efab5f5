"""Builds runs and trials in one line, for tests of something else."""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.model.run import Ending, Phase, RecordedRun, Run, Status, Trial
from harness.records.checksums import Checksums

T = TypeVar("T")
STARTED_AT = "2026-11-21T13:42:13.000Z"
GOLDEN = Path(__file__).parents[1] / "golden"
DELETED = object()
SIX = (10.0, 10.1, 10.2, 10.3, 10.4, 10.5)


def ok(
    workload: str, wall_s: float, round_: int = 1, phase: Phase = Phase.MEASURED, **fields: Any
) -> Trial:
    return Trial(workload, phase, round_, Status.OK, STARTED_AT, wall_s=wall_s, **fields)


def failed(
    workload: str,
    error: str = "WrongAnswer: 3 is not 4",
    round_: int = 1,
    phase: Phase = Phase.MEASURED,
) -> Trial:
    return Trial(workload, phase, round_, Status.FAILED, STARTED_AT, error=error)


def a_run(configuration: str = "1g", run_id: str = "", **fields: Any) -> Run:
    known = {"started_at": STARTED_AT, "workloads": (), "written_by": "clusterlift 0.1.0"}
    return Run(
        id=run_id or f"run-of-{configuration}", configuration=configuration, **known | fields
    )


def recorded(
    run: Run,
    trials: Sequence[Trial] = (),
    ending: Ending | None = Ending.COMPLETED,
    warnings: tuple[str, ...] = (),
) -> RecordedRun:
    source = f"results/{run.configuration}/{run.id}.jsonl"
    return RecordedRun(run, tuple(trials), ending, source, warnings)


def configured(
    configuration: str,
    trials: Sequence[Trial] = (),
    ending: Ending | None = Ending.COMPLETED,
    warnings: tuple[str, ...] = (),
    **fields: Any,
) -> ConfigurationRuns:
    """Return a configuration with one run. Further arguments are fields of the run."""
    run = recorded(a_run(configuration, **fields), trials, ending, warnings)
    return ConfigurationRuns(configuration, (run,))


def alone(run: RecordedRun) -> ConfigurationRuns:
    """Return a configuration with this run."""
    return ConfigurationRuns(run.run.configuration, (run,))


def column(
    configuration: str, times_s: Mapping[str, Sequence[float]], **fields: Any
) -> ConfigurationRuns:
    """Return a configuration with one complete run whose trials are all ok; the times are by workload."""
    trials = [
        ok(workload, wall_s, round_)
        for workload, walls in times_s.items()
        for round_, wall_s in enumerate(walls, 1)
    ]
    return configured(configuration, trials, **fields)


def of_runs(
    configuration: str, times_s: Sequence[Mapping[str, Sequence[float]]], **fields: Any
) -> ConfigurationRuns:
    """Return a configuration with a run, as of `column`, for each mapping of workloads to times."""
    runs = [
        column(configuration, of_run, run_id=f"{configuration}-{number}", **fields).runs[0]
        for number, of_run in enumerate(times_s)
    ]
    return ConfigurationRuns(configuration, tuple(runs))


def scaled(factor: float, times_s: Sequence[float] = SIX) -> list[float]:
    return [time_s * factor for time_s in times_s]


def in_runs(configuration: ConfigurationRuns, runs: int = 2) -> ConfigurationRuns:
    """Return a configuration of one run with its trials dealt out to several, workload by workload.

    The first trial of each workload goes to the first run, the second to the second, and so on.
    """
    [whole] = configuration.runs
    of_runs: list[list[Trial]] = [[] for _ in range(runs)]
    dealt: Counter[tuple[str, Phase]] = Counter()
    for trial in whole.trials:
        of_runs[dealt[trial.workload, trial.phase] % runs].append(trial)
        dealt[trial.workload, trial.phase] += 1
    return replace(
        configuration,
        runs=tuple(
            recorded(
                replace(whole.run, id=f"{whole.run.id}-{number}"),
                trials,
                whole.ending,
                whole.warnings,
            )
            for number, trials in enumerate(of_runs, 1)
        ),
    )


def known(value: T | None) -> T:
    """Return a value that must not be None."""
    assert value is not None
    return value


def assert_golden(name: str, text: str) -> None:
    """Compare a whole text with `tests/golden/<name>`; with UPDATE_GOLDEN=1, write that file first."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="")
    assert path.exists(), f"there is no {path}: UPDATE_GOLDEN=1 writes it"
    with path.open(encoding="utf-8", newline="") as golden:
        assert text == golden.read(), "if the new text is right, UPDATE_GOLDEN=1 writes it"


def change_line(path: Path, number: int, change: dict[str, Any]) -> Path:
    """Replace values of a line; keys with dots name values in it, and DELETED removes a key."""
    lines = path.read_text().splitlines()
    values = json.loads(lines[number - 1])
    for dotted, value in change.items():
        *parents, key = dotted.split(".")
        table = values
        for parent in parents:
            table = table.setdefault(parent, {})
        table[key] = value
        if value is DELETED:
            del table[key]
    lines[number - 1] = json.dumps(values, ensure_ascii=False)
    return write_lines(path, lines)


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """Write a results file of the schema version of its first line, with right checksums."""
    bare = [re.sub(r', "sha256": "(?:[0-9a-f]{16}|[0-9a-f]{64})"}$', "}", line) for line in lines]
    content = [line.encode() for line in bare]
    if '"schema_version": 1,' in bare[0]:
        path.write_bytes(first_version(content))
    else:
        checksums = Checksums()
        # A line that is no JSON object has no place for a checksum.
        sealed = (checksums.sealed(c) if c.endswith(b"}") else c + b"\n" for c in content)
        path.write_bytes(b"".join(sealed))
    return path


def first_version(lines: Sequence[bytes]) -> bytes:
    """Return a results file whose last line alone has a checksum, if it is the end of the run."""
    content = b"\n".join(lines)
    if lines[-1].startswith(b'{"kind": "end"'):
        content = content.removesuffix(b"}")
        content += f', "sha256": "{hashlib.sha256(content).hexdigest()}"}}'.encode()
    return content + b"\n"
