"""Reads results that others have published as runs: of times, of performances, or of packet sizes.

Each is a CSV file, or a directory with the part files of Spark. Its header says what it is:

- `test,seconds`: times, as the original pyspark-benchmark (github.com/DIYBigData/pyspark-benchmark) writes
  them, a line for each trial. It records neither when nor where it ran. It does not warm up, and it forces
  every computation with `rdd.count()`.
- `test,performance,unit`, and possibly `peak`: units per second, and the highest performance that the
  processors could have.
- `sender,receiver,mtu_bytes,direction,goodput_bit_s,sender_cpu_percent,receiver_cpu_percent`, and possibly
  columns that end in `_instructions_per_byte` and `_cycles_per_byte` for sender and receiver: one direction
  of one transfer, with MTUs that were really set. The direction is `one way` or `both ways`; of the latter, a
  pair of hosts has a line for each direction. Percents are those of all processors of a host. An empty field
  is a value that was not published.
"""

import csv
import hashlib
import io
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness import __version__
from harness.model.bounds import MAX_QUANTITY, MIN_MTU_BYTES
from harness.model.errors import BadInput
from harness.model.network_metrics import (
    BOTH_WAYS,
    PACKET_CPU,
    PACKET_GOODPUT,
    packet_case,
)
from harness.model.probe import Measurement, Metric, Pair, ProbeRun
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
from harness.model.work import DECLARED_PEAK, MAX_AMOUNT, MIN_AMOUNT, UNIT_FORM, Work
from harness.records.directories import configuration_directory, probes_directory, results_files
from harness.records.document import MAX_REASON
from harness.records.reader import load, load_probes
from harness.records.regular_file import content_of
from harness.records.writer import record_all
from harness.words import shorten

PARTS = "part-*.csv"
MAX_BYTES = 10**8
TIMES = ["test", "seconds"]
PERFORMANCES = ["test", "performance", "unit"]
TRIAL_HEADERS = (TIMES, PERFORMANCES, [*PERFORMANCES, "peak"])

ONE_WAY = "one way"
KEYS = ["sender", "receiver", "mtu_bytes", "direction"]
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in (PACKET_GOODPUT, *PACKET_CPU)}
"""By the names of their columns."""
TRANSFERS = [*KEYS, *METRICS]
MAX_MTU = 65535
"""The largest packet of IPv4."""

IMPORTED_DIGEST = "imported_digest"
"""The parameter of an imported run that names its source: the same file is no new measurement."""


@dataclass(frozen=True)
class Row:
    """A line of the file: its place for messages, and its values by column, stripped."""

    where: str
    values: Mapping[str, str]

    def number(self, column: str, least: float, most: float, expected: str) -> float:
        """Return a number. Raise BadInput, which says what is expected, unless it is within the limits."""
        text = self.values[column]
        try:
            # Python reads 1_0 as 10, and digits of all scripts.
            value = float(text.replace("_", "?") if text.isascii() else "?")
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            shown = shorten(repr(text), MAX_REASON)
            raise self.error(f"{shown} is not {expected.format(least=least, most=most)}")
        return value

    def error(self, reason: str) -> BadInput:
        """Return the error to raise."""
        return BadInput(f"{self.where}: {reason}")


@dataclass(frozen=True)
class _Source:
    """A published table: its header, its lines, and a digest of all of it."""

    path: Path
    header: list[str]
    rows: Sequence[Row]
    digest: str

    @property
    def parameters(self) -> dict[str, str]:
        return {"imported_from": self.path.name, IMPORTED_DIGEST: self.digest}


def import_published(
    path: Path, configuration: str, facts: Mapping[str, str], results: Path
) -> Path:
    """Record a published table as a run, wholly or not at all, and return the path of the results file.

    Raise BadInput if it was imported before, and like `read_published`.
    """
    run, events = read_published(path, configuration, facts)
    is_run = isinstance(run, Run)
    directory = (configuration_directory if is_run else probes_directory)(results, configuration)
    for file in results_files(directory):
        earlier = (load if is_run else load_probes)(file).run
        if earlier.parameters.get(IMPORTED_DIGEST) == run.parameters[IMPORTED_DIGEST]:
            raise BadInput(
                f"{path} was imported already, as {file}; a copy is not a new measurement"
            )
    return record_all(results, run, events)


def read_published(
    path: Path, configuration: str, facts: Mapping[str, str]
) -> tuple[Run | ProbeRun, tuple[Trial | Measurement, ...]]:
    """Return what a table says as a run and its trials, or as a probe run and its measurements.

    The run starts at the time of the import, because the table has none. Raise BadInput, which names file and
    line, unless every value is one that a trial or a measurement may have.
    """
    source = _read(path)
    if source.header in TRIAL_HEADERS:
        return _trials(source, configuration, facts)
    return _transfers(source, configuration, facts)


def _read(path: Path) -> _Source:
    parts = sorted(path.glob(PARTS)) if path.is_dir() else [path]
    if not parts:
        raise BadInput(
            f"{path} has no {PARTS}; give the directory that was the -o option of the original"
        )
    digest = hashlib.sha256()
    headers: dict[Path, list[str]] = {}
    rows: list[Row] = []
    for part in parts:
        content = content_of(part, MAX_BYTES)
        digest.update(content)
        if content or part == path:  # Spark writes an empty partition as an empty file
            headers[part] = _read_part(part, content, rows)
    header = next(iter(headers.values()), [])
    for part, other in headers.items():
        if other != header:
            raise BadInput(f"{part}:1: the header is not {','.join(header)}, as in the other parts")
    return _Source(path, header, rows, digest.hexdigest()[:16])


def _read_part(part: Path, content: bytes, rows: list[Row]) -> list[str]:
    """Add the lines of a file to the rows, and return its header."""
    try:
        reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        header = next(reader, [])
        _check_header(header, f"{part}:1")
        for fields in reader:
            where = f"{part}:{reader.line_num}"
            stripped = [field.strip() for field in fields]
            if len(fields) != len(header) or (header in TRIAL_HEADERS and not all(stripped)):
                raise BadInput(f"{where}: {','.join(header)} are expected, not {fields}")
            rows.append(Row(where, dict(zip(header, stripped, strict=True))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{part}: not a CSV file in UTF-8: {error}") from error
    return header


def _check_header(header: list[str], where: str) -> None:
    headers = (*TRIAL_HEADERS, TRANSFERS)
    if header not in headers:
        raise BadInput(f"{where}: the header is not {', nor '.join(map(','.join, headers))}")


def _trials(
    source: _Source, configuration: str, facts: Mapping[str, str]
) -> tuple[Run, tuple[Trial, ...]]:
    """Return a run. The n-th line of a test is its trial of round n."""
    if not source.rows:
        raise BadInput(
            f"{source.path} has no trial; lines of {','.join(source.header)} are expected"
        )
    is_benchmark = source.header == TIMES
    started_at = timestamp()
    rounds: Counter[str] = Counter()
    trials: list[Trial] = []
    works: dict[str, Work] = {}
    for row in source.rows:
        test = row.values["test"]
        if not test.isprintable():
            raise row.error(f"the test {test!r} has characters that are not printable")
        rounds[test] += 1
        wall_s, work = (_seconds(row), None) if is_benchmark else (1.0, _work(row))
        if work is not None:
            _check_comparable(row, work, works.setdefault(test, work))
        trial = Trial(test, Phase.MEASURED, rounds[test], Status.OK, started_at, wall_s, work=work)
        trials.append(trial)
    origin = "pyspark-benchmark" if is_benchmark else "published performances"
    run = Run(
        id=new_run_id(),
        configuration=configuration,
        started_at=started_at,
        workloads=tuple(rounds),
        written_by=f"clusterlift {__version__}, imported from {origin}",
        parameters={
            **({"sink": "rdd-count"} if is_benchmark else {}),
            "warmup": 0,
            "measured_at": None,
            **source.parameters,
        },
        facts=facts,
    )
    return run, tuple(trials)


def _seconds(row: Row) -> float:
    expected = "a time; {least:g} to {most:g} seconds are expected"
    return row.number("seconds", MIN_WALL_S, MAX_WALL_S, expected)


def _work(row: Row) -> Work:
    """Return what a test did in one second."""
    unit = row.values["unit"]
    if not re.match(UNIT_FORM, unit):
        raise row.error(f"{unit!r} is not a unit; a word such as flop is expected")
    expected = "a performance; {least:g} to {most:g} units per second are expected"
    largest = math.nextafter(MAX_AMOUNT, 0)
    performance, *peaks = (
        row.number(column, MIN_AMOUNT, largest, expected)
        for column in ("performance", "peak")
        if column in row.values
    )
    return Work(performance, unit, dict.fromkeys([DECLARED_PEAK], *peaks) if peaks else {})


def _check_comparable(row: Row, work: Work, first: Work) -> None:
    """Raise BadInput unless a test has one unit and one peak."""
    for noun, own, other, form in (
        ("unit", work.unit, first.unit, "s"),
        ("peak", work.peaks.get(DECLARED_PEAK), first.peaks.get(DECLARED_PEAK), "g"),
    ):
        if own != other:
            raise row.error(
                f"the {noun} of {row.values['test']} is {own:{form}}, and {other:{form}} in an earlier "
                f"line; a test has one {noun}"
            )


def _transfers(
    source: _Source, configuration: str, facts: Mapping[str, str]
) -> tuple[ProbeRun, tuple[Measurement, ...]]:
    """Return a sweep of packet sizes. The n-th line of the same transfer is its round n."""
    rounds: Counter[tuple[Pair, str]] = Counter()
    measurements: list[Measurement] = []
    for row in source.rows:
        pair, case = _pair(row), _case(row)
        if not row.values[PACKET_GOODPUT.name]:
            raise row.error(f"a transfer needs a {PACKET_GOODPUT.name}")
        rounds[pair, case] += 1
        measurements += [
            replace(metric.of(pair, _value(row, metric), case), round=rounds[pair, case])
            for name, metric in METRICS.items()
            if row.values.get(name)
        ]
    if not measurements:
        raise BadInput(f"{source.path} has no line of a transfer")
    hosts = (host for found in measurements for host in found.hosts)
    run = ProbeRun(
        configuration,
        tuple(dict.fromkeys(hosts)),
        {"probe": "mtu", **source.parameters},
        dict(facts),
        written_by=f"clusterlift {__version__}, imported from a published table",
    )
    return run, tuple(measurements)


def _pair(row: Row) -> Pair:
    hosts = row.values["sender"], row.values["receiver"]
    for host in hosts:
        if not host or not host.isprintable():
            raise row.error(f"{host!r} is not the name of a host")
    if len(set(hosts)) == 1:
        raise row.error(f"the sender {hosts[0]!r} is also the receiver")
    return hosts


def _case(row: Row) -> str:
    direction, size = row.values["direction"], row.values["mtu_bytes"]
    if direction not in {ONE_WAY, BOTH_WAYS}:
        raise row.error(f"{direction!r} is not a direction; {ONE_WAY} or {BOTH_WAYS} is expected")
    if not (re.fullmatch("[1-9][0-9]{1,4}", size) and MIN_MTU_BYTES <= int(size) <= MAX_MTU):
        raise row.error(f"{size!r} is not an MTU; {MIN_MTU_BYTES} to {MAX_MTU} bytes are expected")
    return packet_case(int(size), both_ways=direction == BOTH_WAYS, mtu_is_set=True)


def _value(row: Row, metric: Metric) -> float:
    expected = f"a {metric.name}; {{least:g}} to {{most:g}} {metric.unit} are expected"
    return row.number(metric.name, 0, MAX_QUANTITY, expected)
