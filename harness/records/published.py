"""Reads results that others have published as runs, from a CSV file whose header says what it is.

- `test,seconds`: times, as the original pyspark-benchmark (github.com/DIYBigData/pyspark-benchmark) writes
  them, a line for each trial. It records neither when nor where it ran. It does not warm up, and it forces
  every computation with `rdd.count()`.
- `test,performance,unit`, and possibly `peak`: units per second, and the highest performance that the
  processors could have.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import __version__
from harness.base.errors import BadInput
from harness.base.option_values import plain_number
from harness.model.run import (
    MAX_WALL_S,
    MIN_WALL_S,
    Phase,
    Run,
    Status,
    Trial,
    new_run_id,
    timestamp,
)
from harness.model.work import DECLARED_PEAK, UNIT_FORM, Work
from harness.records.directories import configuration_directory, results_files
from harness.records.document import checksum
from harness.records.files import content_of
from harness.records.reader import load
from harness.records.writer import record_all

MAX_BYTES = 10**8
TIMES = ["test", "seconds"]
PERFORMANCES = ["test", "performance", "unit"]
HEADERS = (TIMES, PERFORMANCES, [*PERFORMANCES, "peak"])
_TIME = re.compile(
    r"(?:[nmu]?s|[num]?secs?|min|h|((nano|micro|milli)?second|minute|hour)s?)", re.IGNORECASE
)
"""Units of times: more is worse. A performance is the better, the more it is."""

IMPORTED_DIGEST = "imported_digest"
"""The parameter of an imported run that names its source: the same file is no new measurement."""


def import_published(
    path: Path, configuration: str, facts: Mapping[str, str], results: Path
) -> Path:
    """Record a published table as a run, wholly or not at all, and return the path of the results file.

    Raise BadInput if it was imported before, and like `read_published`.
    """
    run, trials = read_published(path, configuration, facts)
    digest = run.parameters[IMPORTED_DIGEST]
    for file in results_files(configuration_directory(results, configuration)):
        if load(file, samples=False).run.parameters.get(IMPORTED_DIGEST) == digest:
            raise BadInput(
                f"{path} was imported already, as {file}; a copy is not a new measurement"
            )
    return record_all(results, run, trials)


def read_published(
    path: Path, configuration: str, facts: Mapping[str, str]
) -> tuple[Run, Sequence[Trial]]:
    """Return what a table says as a run and its trials. The n-th line of a test is its trial of round n.

    The run starts at the time of the import, because the table has none. Raise BadInput, which names file and
    line, unless every value is one that a trial may have.
    """
    content = content_of(path, MAX_BYTES)
    started_at = timestamp()
    trials: list[Trial] = []
    rounds: Counter[str] = Counter()
    first_work: dict[str, Work] = {}
    text = _decoded(path, content).rstrip()
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(lines, [])
        if header not in HEADERS:
            raise ValueError(f"the header is not {', nor '.join(map(','.join, HEADERS))}")
        for fields in lines:
            values = [field.strip() for field in fields]
            if len(values) != len(header) or not all(values):
                raise ValueError(f"{','.join(header)} are expected, not {fields}")
            test = values[0]
            wall_s = 1.0
            work = None
            if header == TIMES:
                wall_s = _seconds(values[1])
            else:
                work = _work(*values[1:])
                _require_same_unit(test, work, first_work.setdefault(test, work))
            rounds[test] += 1
            trials.append(
                Trial(test, Phase.MEASURED, rounds[test], Status.OK, started_at, wall_s, work=work)
            )
        if not trials:
            raise ValueError(f"no trial follows; lines of {','.join(header)} are expected")
    except (ValueError, csv.Error) as error:
        raise BadInput(f"{path}:{lines.line_num or 1}: {error}") from error
    origin = "published performances"
    parameters = {
        "warmup": 0,
        "measured_at": None,
        "imported_from": path.name,
        IMPORTED_DIGEST: checksum(content),
    }
    if header == TIMES:
        origin = "pyspark-benchmark"
        parameters["sink"] = "rdd-count"
    run = Run(
        id=new_run_id(),
        configuration=configuration,
        started_at=started_at,
        workloads=tuple(rounds),
        written_by=f"clusterlift {__version__}, imported from {origin}",
        parameters=parameters,
        facts=facts,
    )
    return run, trials


def _decoded(path: Path, content: bytes) -> str:
    """Return a text. Raise BadInput unless it is UTF-8: else names of different tests could become one."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"{path}:{line}: it is not text in UTF-8; save the table in UTF-8"
        ) from error


def _seconds(text: str) -> float:
    seconds = plain_number(text)
    if not MIN_WALL_S <= seconds <= MAX_WALL_S:
        raise ValueError(
            f"{text!r} is not a time; {MIN_WALL_S:g} to {MAX_WALL_S:g} seconds are expected"
        )
    return seconds


def _work(performance: str, unit: str, peak: str | None = None) -> Work:
    """Return what a test did in one second."""
    if not re.match(UNIT_FORM, unit):
        raise ValueError(f"{unit!r} is not a unit; a word such as flop is expected")
    if _TIME.fullmatch(unit):
        raise ValueError(
            f"{unit} is a unit of times, where more is worse: import times in seconds, in a table "
            "test,seconds"
        )
    peaks = {DECLARED_PEAK: plain_number(peak)} if peak else {}
    return Work(plain_number(performance), unit, peaks)


def _require_same_unit(test: str, work: Work, first: Work) -> None:
    """Raise ValueError unless a test has one unit and one peak: values of several have no mean."""
    if work.counted != first.counted:
        raise ValueError(
            f"{test} is in {work.counted}, and in {first.counted} on an earlier line; a test has one unit "
            "and one peak: give the tests different names"
        )
