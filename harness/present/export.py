"""What can be exported: rows of three tables, each column typed and said to be what it is.

None is what is unknown, or was not to be had; never 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from harness.analysis.observed import is_emulated
from harness.model.probe import Measurement, RecordedProbes
from harness.model.run import RecordedRun, Trial

T = TypeVar("T")


@dataclass(frozen=True)
class TrialRow:
    """A trial, also one that failed."""

    configuration: Annotated[str, "declared name of the set-up"]
    run: Annotated[str, "the run's id"]
    workload: Annotated[str, ""]
    phase: Annotated[str, "measured, or warm-up, which never counts"]
    round: Annotated[int, "from 1 within its phase"]
    status: Annotated[str, "ok or failed; a wrong answer is failed"]
    wall_s: Annotated[float | None, "seconds; null if it failed"]
    started_at: Annotated[datetime | None, ""]
    error: Annotated[str | None, "why it failed"]
    note: Annotated[str | None, "what befell it"]
    is_control: Annotated[bool, "whether network and storage cannot affect it"]
    sink: Annotated[str | None, "what forced the computation"]
    dataset_rows: Annotated[int | None, ""]
    dataset_format: Annotated[str | None, ""]
    layout: Annotated[str | None, "as observed"]
    spark: Annotated[str | None, "version"]
    is_emulated: Annotated[bool, ""]
    facts: Annotated[Mapping[str, str], "what was declared"]
    run_started_at: Annotated[datetime | None, ""]
    source: Annotated[str, "the results file"]


@dataclass(frozen=True)
class MetricRow:
    """A number that is known of a trial besides its time: of its tasks, or of the links."""

    configuration: Annotated[str, "declared name of the set-up"]
    run: Annotated[str, "the run's id"]
    workload: Annotated[str, ""]
    phase: Annotated[str, "measured, or warm-up, which never counts"]
    round: Annotated[int, "from 1 within its phase"]
    metric: Annotated[str, "its name ends in its unit, where it has one"]
    subject: Annotated[str | None, "host, or level of locality; null for the whole trial"]
    unit: Annotated[str | None, "s, bytes or ratio; null for counts"]
    value: Annotated[float, ""]


@dataclass(frozen=True)
class ProbeRow:
    """A measurement of the network itself, also one that failed."""

    configuration: Annotated[str, "declared name of the set-up"]
    probe_run: Annotated[str, "the id of the call of `clusterlift probe`"]
    started_at: Annotated[datetime | None, "of the call"]
    probe: Annotated[str, ""]
    subject: Annotated[str, "host, or pair: sender -> receiver"]
    case: Annotated[str, "in which way it was measured; may be empty"]
    metric: Annotated[str, "its name ends in its unit, where it has one"]
    unit: Annotated[str, ""]
    better: Annotated[str, "higher or lower"]
    round: Annotated[int, "of the repeats, from 1"]
    value: Annotated[float | None, "null if it failed"]
    error: Annotated[str | None, "why it failed"]
    source: Annotated[str, "the file"]


Row = TrialRow | MetricRow | ProbeRow
TABLES: Mapping[str, type[Row]] = {
    "trials": TrialRow,
    "measurements": MetricRow,
    "probes": ProbeRow,
}


@dataclass(frozen=True)
class ExportedColumn:
    """A column of a table: its type, without None, and what it is about."""

    name: str
    type: Any
    about: str


def columns(table: type[Row]) -> list[ExportedColumn]:
    """In their order."""
    hints = get_type_hints(table, include_extras=True)
    return [
        ExportedColumn(name, _without_none(hint.__origin__), *hint.__metadata__)
        for name, hint in hints.items()
    ]


def rows(runs: Sequence[RecordedRun], probed: Sequence[RecordedProbes]) -> dict[str, list[Row]]:
    """The rows of every table."""
    trials = [(recorded, trial) for recorded in runs for trial in recorded.trials]
    return {
        "trials": [_trial_row(*one) for one in trials],
        "measurements": [row for one in trials for row in _metric_rows(*one)],
        "probes": [_probe_row(one, measured) for one in probed for measured in one.measurements],
    }


def _trial_row(recorded: RecordedRun, trial: Trial) -> TrialRow:
    run = recorded.run
    data = run.dataset or {}
    return TrialRow(
        configuration=run.configuration,
        run=run.id,
        workload=trial.workload,
        phase=str(trial.phase),
        round=trial.round,
        status=str(trial.status),
        wall_s=trial.wall_s,
        started_at=_time(trial.started_at),
        error=trial.error,
        note=trial.note,
        is_control=trial.workload in (run.parameters.get("controls") or ()),
        sink=_of(str, run.parameters.get("sink")),
        dataset_rows=_of(int, data.get("rows")),
        dataset_format=_of(str, data.get("format")),
        layout=_of(str, (data.get("layout") or {}).get("observed")),
        spark=_of(str, run.environment.get("spark")),
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
        yield MetricRow(
            configuration=recorded.run.configuration,
            run=recorded.run.id,
            workload=trial.workload,
            phase=str(trial.phase),
            round=trial.round,
            metric=metric,
            subject=subject,
            unit=next((unit for end, unit in _UNITS.items() if metric.endswith(end)), None),
            value=float(value),
        )


_UNITS = {"_s": "s", "_bytes": "bytes", "_share": "ratio"}
"""By the end of a metric's name."""


def _numbers(record: Any) -> Iterator[tuple[str, str | None, float]]:
    """Name, subject and value of every number in a record, and in those within it."""
    for field in fields(record):
        match getattr(record, field.name):
            case int() | float() as value:
                yield field.name, None, value
            case Mapping() as values:
                yield from ((field.name, subject, value) for subject, value in values.items())
            case inner if is_dataclass(inner):
                for name, subject, value in _numbers(inner):
                    yield f"{field.name}_{name}", subject, value


def _probe_row(probed: RecordedProbes, measured: Measurement) -> ProbeRow:
    return ProbeRow(
        configuration=probed.run.configuration,
        probe_run=probed.run.id,
        started_at=_time(probed.run.started_at),
        probe=measured.probe,
        subject=measured.subject,
        case=measured.case,
        metric=measured.metric,
        unit=measured.unit,
        better=measured.better,
        round=measured.round,
        value=measured.value,
        error=measured.error,
        source=probed.source,
    )


def _without_none(hint: Any) -> Any:
    return get_args(hint)[0] if isinstance(hint, UnionType) else hint


def _of(kind: type[T], value: object) -> T | None:
    """What a run recorded of others may be anything."""
    return value if type(value) is kind else None


def _time(text: str) -> datetime | None:
    """Times are recorded in UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def write(table: type[Row], rows: Sequence[Row], file: Path) -> None:
    """Write a table; the metadata of each column says what it is about. Raises OSError."""
    # pyarrow is an extra, and `export --help` works without it.
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
        ]
    )
    written = [{name: _writable(value) for name, value in vars(row).items()} for row in rows]
    pq.write_table(pa.Table.from_pylist(written, schema=schema), file, compression="zstd")


def _writable(value: Any) -> Any:
    """Text without halves of surrogate pairs, which stand for what is no UTF-8 in a file."""
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case Mapping():
            return {_writable(key): _writable(held) for key, held in value.items()}
        case _:
            return value
