"""Reads results of the original pyspark-benchmark (github.com/DIYBigData/pyspark-benchmark) as a run.

That program writes a header `test,seconds` and one line for each trial, into the part files of a Spark
directory. It records neither when nor where it ran. It does not warm up, and it forces every computation
with `rdd.count()`.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path

from harness import __version__
from harness.model.errors import BadInput
from harness.model.run import MAX_WALL_S, MIN_WALL_S, Phase, Run, Status, Trial
from harness.records.regular_file import regular_file

HEADER = ["test", "seconds"]
PARTS = "part-*.csv"


def read_original(
    path: Path, run_id: str, configuration: str, started_at: str, facts: dict[str, str]
) -> tuple[Run, tuple[Trial, ...]]:
    """Return the run and its measured trials from a CSV file, or from a directory of `part-*.csv`.

    The n-th line of a test is its trial of round n. `started_at` is the time of the import, because the
    file has none. Raises BadInput, which names file and line, unless every time is one that a trial may
    have.
    """
    trials: list[Trial] = []
    rounds: dict[str, int] = {}
    for workload, wall_s in _lines(path):
        rounds[workload] = rounds.get(workload, 0) + 1
        trials.append(
            Trial(workload, Phase.MEASURED, rounds[workload], Status.OK, started_at, wall_s=wall_s)
        )
    if not trials:
        raise BadInput(f"{path} has no trial; lines of test,seconds are expected")
    run = Run(
        id=run_id,
        configuration=configuration,
        started_at=started_at,
        workloads=tuple(rounds),
        written_by=f"clusterlift {__version__}, imported from pyspark-benchmark",
        parameters={
            "sink": "rdd-count",
            "warmup": 0,
            "imported_from": path.name,
            "measured_at": None,
        },
        facts=facts,
    )
    return run, tuple(trials)


def _lines(path: Path) -> Iterator[tuple[str, float]]:
    """Yield workload and seconds of each line, in order."""
    for file in _files(path):
        yield from _read(file, may_be_empty=file != path)


def _files(path: Path) -> list[Path]:
    if not os.path.isdir(path):  # noqa: PTH112  which has an answer for every name
        return [path]
    parts = sorted(path.glob(PARTS))
    if not parts:
        raise BadInput(
            f"{path} has no {PARTS}; give the directory that was the -o option of the original"
        )
    return parts


def _read(file: Path, *, may_be_empty: bool) -> Iterator[tuple[str, float]]:
    """Yield workload and seconds of each line. Spark writes an empty partition as an empty file."""
    try:
        with regular_file(file) as content:
            lines = io.TextIOWrapper(content, encoding="utf-8-sig", newline="")
            reader = csv.reader(lines, strict=True)
            header = next(reader, None)
            if header is None and may_be_empty:
                return
            if header != HEADER:
                raise BadInput(f"{file}:1: the header is not {','.join(HEADER)}")
            for fields in reader:
                yield _trial(fields, f"{file}:{reader.line_num}")
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{file}: not a CSV file in UTF-8: {error}") from error


def _trial(fields: list[str], where: str) -> tuple[str, float]:
    if len(fields) != len(HEADER) or not fields[0].strip():
        raise BadInput(f"{where}: a test's name and its seconds are expected, not {fields}")
    workload, seconds = (text.strip() for text in fields)
    if not workload.isprintable():
        raise BadInput(
            f"{where}: the test's name {workload!r} has characters that are not printable"
        )
    try:
        wall_s = float(seconds.replace("_", "?"))  # Python reads 1_0 as 10
    except ValueError as error:
        raise BadInput(f"{where}: {seconds!r} is not a number of seconds") from error
    if not MIN_WALL_S <= wall_s <= MAX_WALL_S:
        raise BadInput(
            f"{where}: {seconds!r} is not a time; {MIN_WALL_S:g} to {MAX_WALL_S:g} seconds are expected"
        )
    return workload, wall_s
