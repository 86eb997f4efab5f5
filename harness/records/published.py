"""Reads results that others have published as a run: of times, or of performances.

Times have the form of the original pyspark-benchmark (github.com/DIYBigData/pyspark-benchmark). It writes
a header `test,seconds` and one line for each trial, into the part files of a Spark directory. It records
neither when nor where it ran. It does not warm up, and it forces every computation with `rdd.count()`.

Performances have the header `test,performance,unit`, or `test,performance,unit,peak`: units per second, and
the highest performance that the processors could have.
"""

import csv
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

from harness import __version__
from harness.model.errors import BadInput
from harness.model.run import MAX_WALL_S, MIN_WALL_S, Phase, Run, Status, Trial
from harness.model.work import DECLARED_PEAK, MAX_AMOUNT, MIN_AMOUNT, UNIT_FORM, Work
from harness.records.regular_file import regular_file

TIMES = ["test", "seconds"]
PERFORMANCES = ["test", "performance", "unit"]
HEADERS = (TIMES, PERFORMANCES, [*PERFORMANCES, "peak"])
PARTS = "part-*.csv"


def read_published(
    path: Path, run_id: str, configuration: str, started_at: str, facts: dict[str, str]
) -> tuple[Run, tuple[Trial, ...]]:
    """Return the run and its measured trials from a CSV file, or from a directory of `part-*.csv`.

    The n-th line of a test is its trial of round n. `started_at` is the time of the import, because the
    file has none. Raises BadInput, which names file and line, unless every time is one that a trial may
    have.
    """
    trials: list[Trial] = []
    rounds: dict[str, int] = {}
    for workload, wall_s, work in _lines(path):
        rounds[workload] = rounds.get(workload, 0) + 1
        trials.append(
            Trial(
                workload,
                Phase.MEASURED,
                rounds[workload],
                Status.OK,
                started_at,
                wall_s=wall_s,
                work=work,
            )
        )
    if not trials:
        raise BadInput(f"{path} has no trial; lines of test,seconds are expected")
    is_benchmark = all(trial.work is None for trial in trials)
    run = Run(
        id=run_id,
        configuration=configuration,
        started_at=started_at,
        workloads=tuple(rounds),
        written_by=f"clusterlift {__version__}, imported from "
        + ("pyspark-benchmark" if is_benchmark else "published performances"),
        parameters={
            **({"sink": "rdd-count"} if is_benchmark else {}),
            "warmup": 0,
            "imported_from": path.name,
            "measured_at": None,
        },
        facts=facts,
    )
    return run, tuple(trials)


_Line = tuple[str, float, Work | None]
"""A test's name, its seconds, and what it did in them, if its performance is published."""


def _lines(path: Path) -> Iterator[_Line]:
    """Yield what each line says, in order."""
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


def _read(file: Path, *, may_be_empty: bool) -> Iterator[_Line]:
    """Yield what each line says. Spark writes an empty partition as an empty file."""
    try:
        with regular_file(file) as content:
            lines = io.TextIOWrapper(content, encoding="utf-8-sig", newline="")
            reader = csv.reader(lines, strict=True)
            header = next(reader, None)
            if header is None and may_be_empty:
                return
            if header not in HEADERS:
                known = ", nor ".join(map(",".join, HEADERS))
                raise BadInput(f"{file}:1: the header is not {known}")
            for fields in reader:
                yield _line(header, fields, f"{file}:{reader.line_num}")
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{file}: not a CSV file in UTF-8: {error}") from error


def _line(header: list[str], fields: list[str], where: str) -> _Line:
    if len(fields) != len(header) or not all(field.strip() for field in fields):
        raise BadInput(f"{where}: {','.join(header)} are expected, not {fields}")
    values = dict(zip(header, (text.strip() for text in fields), strict=True))
    if not values["test"].isprintable():
        raise BadInput(
            f"{where}: the test {values['test']!r} has characters that are not printable"
        )
    if "unit" in values and not re.match(UNIT_FORM, values["unit"]):
        raise BadInput(
            f"{where}: {values['unit']!r} is not a unit; a word such as flop is expected"
        )
    if header == TIMES:
        wall_s = _number(values["seconds"], "a number of seconds", where)
        if not MIN_WALL_S <= wall_s <= MAX_WALL_S:
            raise BadInput(
                f"{where}: {values['seconds']!r} is not a time; {MIN_WALL_S:g} to {MAX_WALL_S:g} seconds are "
                "expected"
            )
        return values["test"], wall_s, None
    performance = _performance(values["performance"], where)
    peaks = {DECLARED_PEAK: _performance(values["peak"], where)} if "peak" in values else {}
    return values["test"], 1.0, Work(performance, values["unit"], peaks)


def _performance(text: str, where: str) -> float:
    value = _number(text, "a number of units per second", where)
    if not MIN_AMOUNT <= value < MAX_AMOUNT:
        raise BadInput(
            f"{where}: {text!r} is not a performance; {MIN_AMOUNT:g} to {MAX_AMOUNT:g} units per second are "
            "expected"
        )
    return value


def _number(text: str, meaning: str, where: str) -> float:
    try:
        return float(text.replace("_", "?"))  # Python reads 1_0 as 10
    except ValueError as error:
        raise BadInput(f"{where}: {text!r} is not {meaning}") from error
