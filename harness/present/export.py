"""Trials and measurements as rows of four tables, with the type and description of each column.

An unknown value is None, never 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, BinaryIO, TypeVar, get_args, get_type_hints

from harness import __version__
from harness.analysis.explain.timeline import link_slices, stage_name
from harness.analysis.observed.environment import is_emulated
from harness.model.probe import Measurement, RecordedProbes
from harness.model.run import RecordedRun, Trial

T = TypeVar("T")


@dataclass(frozen=True)
class _TrialKey:
    configuration: Annotated[str, "the declared name"]
    run: Annotated[str, "id of the run"]
    workload: Annotated[str, "name"]
    phase: Annotated[str, "measured, or warm-up: not part of any result"]
    round: Annotated[int, "number within the phase, from 1"]


@dataclass(frozen=True)
class TrialRow(_TrialKey):
    """One row for each trial, failed ones included."""

    status: Annotated[str, "ok or failed; a wrong answer counts as failed"]
    wall_s: Annotated[float | None, "time in seconds; null if the trial failed"]
    work: Annotated[float | None, "amount of work in that time; null if the workload counts none"]
    work_unit: Annotated[str | None, "unit of the work, such as flop"]
    started_at: Annotated[datetime | None, "start of the trial"]
    error: Annotated[str | None, "why it failed"]
    note: Annotated[str | None, "an incident that may have affected the time"]
    disturbed: Annotated[str | None, "why the trial does not count; null if it counts"]
    executions: Annotated[int, "how often the workload ran; wall_s is the mean"]
    is_control: Annotated[bool, "true if network and storage cannot affect the workload"]
    sink: Annotated[str | None, "what forced the computation: noop or rdd-count"]
    dataset_rows: Annotated[int | None, "number of rows"]
    dataset_format: Annotated[str | None, "such as csv or parquet"]
    layout: Annotated[str | None, "layout that the file system reported for the dataset"]
    spark: Annotated[str | None, "version of Spark"]
    is_emulated: Annotated[bool, "true if the network was emulated"]
    facts: Annotated[Mapping[str, str], "what the user declared with --fact"]
    run_started_at: Annotated[datetime | None, "start of the run"]
    source: Annotated[str, "path of the results file"]


@dataclass(frozen=True)
class MetricRow(_TrialKey):
    """One row for each number recorded for a trial other than its time: task metrics, link traffic."""

    metric: Annotated[str, "name; ends in _s, _bytes or _share unless it is a count"]
    subject: Annotated[str | None, "host or locality level; null for the whole trial"]
    unit: Annotated[str | None, "s, bytes or ratio; null for counts"]
    value: Annotated[float, "the number"]


@dataclass(frozen=True)
class SliceRow(_TrialKey):
    """One row for each slice of a trial's time and each node: what its links and processors did."""

    host: Annotated[str, "the node"]
    start_s: Annotated[float, "start of the slice in seconds since that of the trial"]
    length_s: Annotated[float, "length of the slice in seconds"]
    stage: Annotated[str | None, "stage that took most of the slice; null between stages"]
    received_bytes: Annotated[int | None, "by all links of the node, with headers"]
    sent_bytes: Annotated[int | None, "by all links of the node, with headers"]
    busy_percent: Annotated[int | None, "of the time of all processors of the machine"]


@dataclass(frozen=True)
class ProbeRow:
    """One row for each measurement of the network itself, failed ones included."""

    configuration: Annotated[str, "the declared name"]
    probe_run: Annotated[str, "id of the call of `clusterlift probe`"]
    started_at: Annotated[datetime | None, "start of the call"]
    probe: Annotated[str, "name, such as mesh"]
    subject: Annotated[str, "a host, or a pair: sender -> receiver"]
    case: Annotated[str, "conditions of the measurement, such as both ways; may be empty"]
    metric: Annotated[str, "name; ends in the unit, if it has one"]
    unit: Annotated[str, "unit of the value"]
    better: Annotated[str, "higher or lower: which values are better"]
    round: Annotated[int, "number of the repeat, from 1"]
    value: Annotated[float | None, "null if the measurement failed"]
    error: Annotated[str | None, "why it failed"]
    source: Annotated[str, "path of the probe file"]


Row = TrialRow | MetricRow | SliceRow | ProbeRow
TABLES: Mapping[str, type[Row]] = {
    "trials": TrialRow,
    "measurements": MetricRow,
    "slices": SliceRow,
    "probes": ProbeRow,
}


@dataclass(frozen=True)
class ExportedColumn:
    """A column of a table; `type` is its Python type without None, `about` its description."""

    name: str
    type: Any
    about: str


def columns(table: type[Row]) -> list[ExportedColumn]:
    """Return the columns of a table in their order."""
    hints = get_type_hints(table, include_extras=True)
    return [
        ExportedColumn(name, _without_none(hint.__origin__), *hint.__metadata__)
        for name, hint in hints.items()
    ]


def rows(runs: Sequence[RecordedRun], probed: Sequence[RecordedProbes]) -> dict[str, list[Row]]:
    """Return the rows of each table by its name in TABLES."""
    trials = [(recorded, trial) for recorded in runs for trial in recorded.trials]
    return {
        "trials": [_trial_row(recorded, trial) for recorded, trial in trials],
        "measurements": [
            row for recorded, trial in trials for row in _metric_rows(recorded, trial)
        ],
        "slices": [row for recorded, trial in trials for row in _slice_rows(recorded, trial)],
        "probes": [
            _probe_row(recorded_probes, measured)
            for recorded_probes in probed
            for measured in recorded_probes.measurements
        ],
    }


def _trial_key(recorded: RecordedRun, trial: Trial) -> tuple[str, str, str, str, int]:
    run = recorded.run
    return run.configuration, run.id, trial.workload, str(trial.phase), trial.round


def _trial_row(recorded: RecordedRun, trial: Trial) -> TrialRow:
    run = recorded.run
    data = run.dataset or {}
    return TrialRow(
        *_trial_key(recorded, trial),
        status=str(trial.status),
        wall_s=trial.wall_s,
        work=trial.work.amount if trial.work else None,
        work_unit=trial.work.unit if trial.work else None,
        started_at=_time(trial.started_at),
        error=trial.error,
        note=trial.note,
        disturbed=trial.disturbed,
        executions=trial.executions,
        is_control=trial.workload in (run.parameters.get("controls") or ()),
        sink=_typed(str, run.parameters.get("sink")),
        dataset_rows=_typed(int, data.get("rows")),
        dataset_format=_typed(str, data.get("format")),
        layout=_typed(str, (data.get("layout") or {}).get("observed")),
        spark=_typed(str, run.environment.get("spark")),
        is_emulated=is_emulated(run),
        facts={name: str(value) for name, value in run.facts.items()},
        run_started_at=_time(run.started_at),
        source=recorded.source,
    )


def _metric_rows(recorded: RecordedRun, trial: Trial) -> Iterator[MetricRow]:
    numbers = [] if trial.tasks is None else list(_numbers(trial.tasks))
    for node in trial.wire.nodes if trial.wire else ():
        numbers += [
            ("received_bytes", node.host, node.received_bytes),
            ("sent_bytes", node.host, node.sent_bytes),
        ]
    for metric, subject, value in numbers:
        unit = next((unit for end, unit in _UNITS.items() if metric.endswith(end)), None)
        yield MetricRow(*_trial_key(recorded, trial), metric, subject, unit, float(value))


_UNITS = {"_s": "s", "_bytes": "bytes", "_share": "ratio"}
"""A metric's unit, by the end of its name."""


def _numbers(record: Any) -> Iterator[tuple[str, str | None, float]]:
    """Yield name, subject and value of every number in a dataclass, and in dataclasses within it."""
    for field in fields(record):
        match getattr(record, field.name):
            case int() | float() as value:
                yield field.name, None, value
            case Mapping() as values:
                yield from ((field.name, subject, value) for subject, value in values.items())
            case inner if is_dataclass(inner):
                for name, subject, value in _numbers(inner):
                    yield f"{field.name}_{name}", subject, value


def _slice_rows(recorded: RecordedRun, trial: Trial) -> Iterator[SliceRow]:
    if (timeline := trial.timeline) is None:
        return
    for node in timeline.nodes:
        busy = timeline.series(node.busy_percent)
        for part, percent in zip(link_slices(timeline, node), busy, strict=True):
            yield SliceRow(
                *_trial_key(recorded, trial),
                host=node.host,
                start_s=part.start_s,
                length_s=part.length_s,
                stage=None if part.stage is None else stage_name(timeline, part.stage),
                received_bytes=part.received_bytes,
                sent_bytes=part.sent_bytes,
                busy_percent=percent,
            )


def _probe_row(probed: RecordedProbes, measured: Measurement) -> ProbeRow:
    return ProbeRow(
        configuration=probed.run.configuration,
        probe_run=probed.run.id,
        started_at=_time(probed.run.started_at),
        **asdict(measured),
        source=probed.source,
    )


def _without_none(hint: Any) -> Any:
    return get_args(hint)[0] if isinstance(hint, UnionType) else hint


def _typed(kind: type[T], value: object) -> T | None:
    """Return the value, or None if it has another type: recorded facts may be anything."""
    return value if type(value) is kind else None


def _time(text: str) -> datetime | None:
    """Parse a recorded time, which is UTC unless it names a time zone; None if it is no time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def file_name(table: str) -> str:
    """Return the name of a table's file."""
    return f"{table}.parquet"


def write_tables(rows: Mapping[str, Sequence[Row]], directory: Path) -> None:
    """Write every table to its file in the directory. Raises OSError."""
    for name, table in TABLES.items():
        # pyarrow takes no name that is not UTF-8, but any open file.
        with (directory / file_name(name)).open("xb") as file:
            write(table, rows[name], file)


def is_export(directory: Path) -> bool:
    """Return whether a directory has nothing but files that `write` wrote. Raises OSError."""
    names = set(map(file_name, TABLES))
    return all(file.name in names and _is_ours(file) for file in directory.iterdir())


def _is_ours(file: Path) -> bool:
    import pyarrow.parquet as pq  # noqa: PLC0415
    from pyarrow import ArrowInvalid  # noqa: PLC0415

    if file.is_symlink() or not file.is_file():
        return False
    try:
        with file.open("rb") as data:
            metadata = pq.read_schema(data).metadata or {}
    except ArrowInvalid:
        return False
    return bool(metadata.get(b"generator", b"").startswith(b"clusterlift "))


def write(table: type[Row], rows: Sequence[Row], file: BinaryIO) -> None:
    """Write a table, with each column's description as metadata `about`. Raises OSError."""
    # pyarrow is an optional dependency, and `export --help` works without it.
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    types = {
        str: pa.string(),
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        datetime: pa.timestamp("ms", tz="UTC"),
        Mapping[str, str]: pa.map_(pa.string(), pa.string()),
    }
    schema = pa.schema(
        [
            pa.field(column.name, types[column.type], metadata={"about": column.about})
            for column in columns(table)
        ],
        metadata={"generator": f"clusterlift {__version__}"},
    )
    written = [{name: _writable(value) for name, value in vars(row).items()} for row in rows]
    pq.write_table(pa.Table.from_pylist(written, schema=schema), file, compression="zstd")


def _writable(value: Any) -> Any:
    """Escape lone surrogates in texts: they stand for bytes that are not UTF-8."""
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case Mapping():
            return {_writable(key): _writable(item) for key, item in value.items()}
        case _:
            return value
