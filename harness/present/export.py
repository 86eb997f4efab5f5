"""Trials and measurements as rows of four tables, with the type and description of each column.

An unknown value is None, never 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from harness import __version__
from harness.analysis.explain.timeline import link_slices, stage_name, stage_of
from harness.analysis.observed.environment import is_emulated
from harness.model.probe import RecordedProbes
from harness.model.run import RecordedRun, Trial, moment_of

Row = dict[str, Any]
TextMap = Mapping[str, str]
_INTEGER_BITS = 64


@dataclass(frozen=True)
class Table:
    """What a row is; and of each column its type and description. All may be null."""

    about: str
    columns: Mapping[str, tuple[Any, str]]


_TRIAL_KEY = {
    "configuration": (str, "the declared name"),
    "run": (str, "id of the run"),
    "workload": (str, "name"),
    "phase": (str, "measured, or warm-up or profile: not part of any result"),
    "round": (int, "number within the phase, from 1"),
}

TABLES: Mapping[str, Table] = {
    "trials": Table(
        "One row for each trial, failed ones included.",
        {
            **_TRIAL_KEY,
            "status": (str, "ok or failed; a wrong answer counts as failed"),
            "wall_s": (float, "time in seconds; null if the trial failed"),
            "work": (float, "amount of work in that time; null if the workload counts none"),
            "work_unit": (str, "unit of the work, such as flop"),
            "started_at": (datetime, "start of the trial"),
            "error": (str, "why it failed"),
            "note": (str, "an incident that may have affected the time"),
            "disturbed": (str, "why the trial does not count; null if it counts"),
            "executions": (int, "how often the workload ran; wall_s is the mean"),
            "is_control": (bool, "true if network and storage cannot affect the workload"),
            "sink": (str, "what forced the computation: noop or rdd-count"),
            "dataset_rows": (int, "number of rows"),
            "dataset_format": (str, "such as csv or parquet"),
            "layout": (str, "layout that the file system reported for the dataset"),
            "spark": (str, "version of Spark"),
            "is_emulated": (bool, "true if the network was emulated"),
            "facts": (TextMap, "what the user declared with --fact"),
            "run_started_at": (datetime, "start of the run"),
            "source": (str, "path of the results file"),
        },
    ),
    "measurements": Table(
        "One row for each number recorded for a trial other than its time: task metrics, link traffic, and "
        "what else its nodes did (node_...).",
        {
            **_TRIAL_KEY,
            "metric": (str, "name; ends in _s, _bytes or _share unless it is a count"),
            "subject": (str, "host or locality level; null for the whole trial"),
            "unit": (str, "s, bytes or ratio; null for counts"),
            "value": (float, "the number"),
        },
    ),
    "slices": Table(
        "One row for each slice of a trial's time and each node: what its links and processors did.",
        {
            **_TRIAL_KEY,
            "host": (str, "the node"),
            "start_s": (float, "start of the slice in seconds since that of the trial"),
            "length_s": (float, "length of the slice in seconds"),
            "stage": (str, "stage that took most of the slice; null between stages"),
            "received_bytes": (int, "by all links of the node, with headers"),
            "sent_bytes": (int, "by all links of the node, with headers"),
            "busy_percent": (int, "of the time of all processors of the machine"),
        },
    ),
    "probes": Table(
        "One row for each measurement of the network itself, failed ones included.",
        {
            "configuration": (str, "the declared name"),
            "probe_run": (str, "id of the call of `clusterlift probe`"),
            "started_at": (datetime, "start of the call"),
            "probe": (str, "name, such as mesh"),
            "subject": (str, "a host, or a pair: sender -> receiver"),
            "case": (str, "conditions of the measurement, such as both ways; may be empty"),
            "metric": (str, "name; ends in the unit, if it has one"),
            "unit": (str, "unit of the value"),
            "better": (str, "higher or lower: which values are better"),
            "round": (int, "number of the repeat, from 1"),
            "value": (float, "null if the measurement failed"),
            "error": (str, "why it failed"),
            "source": (str, "path of the probe file"),
        },
    ),
}
"""By the name of the file, without its suffix."""


def rows(
    runs: Sequence[RecordedRun], recorded_probes: Sequence[RecordedProbes]
) -> dict[str, list[Row]]:
    """Return the rows of each table by its name in TABLES; they may have more keys than it has columns."""
    found: dict[str, list[Row]] = {name: [] for name in TABLES}
    for recorded in runs:
        of_run = {"configuration": recorded.run.configuration, "run": recorded.run.id}
        for trial in recorded.trials:
            row = of_run | vars(trial)
            found["trials"].append(row | _run_values(recorded, trial))
            found["measurements"] += (row | values for values in _metric_values(trial))
            found["slices"] += (row | values for values in _slice_values(trial))
    for probed in recorded_probes:
        call = {
            "configuration": probed.run.configuration,
            "probe_run": probed.run.id,
            "started_at": probed.run.started_at,
            "source": probed.source,
        }
        found["probes"] += (call | asdict(measured) for measured in probed.measurements)
    return found


def _run_values(recorded: RecordedRun, trial: Trial) -> Row:
    run = recorded.run
    data = run.dataset or {}
    return {
        "work": trial.work and trial.work.amount,
        "work_unit": trial.work and trial.work.unit,
        "is_control": trial.workload in (run.parameters.get("controls") or ()),
        "sink": run.parameters.get("sink"),
        "dataset_rows": data.get("rows"),
        "dataset_format": data.get("format"),
        "layout": (data.get("layout") or {}).get("observed"),
        "spark": run.environment.get("spark"),
        "is_emulated": is_emulated(run),
        "facts": run.facts,
        "run_started_at": run.started_at,
        "source": recorded.source,
    }


def _metric_values(trial: Trial) -> Iterator[Row]:
    numbers = list(_numbers(trial.tasks)) if trial.tasks else []
    for wire in trial.wire.nodes if trial.wire else ():
        numbers += [(name, wire.host, value) for name, _, value in _numbers(wire)]
    for node in trial.interference or ():
        numbers += [(f"node_{name}", node.host, value) for name, _, value in _numbers(node)]
    for metric, subject, value in numbers:
        unit = next((unit for end, unit in _UNITS.items() if metric.endswith(end)), None)
        yield {"metric": metric, "subject": subject, "unit": unit, "value": value}


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


def _slice_values(trial: Trial) -> Iterator[Row]:
    if (timeline := trial.timeline) is None:
        return
    for node in timeline.nodes:
        busy = timeline.series(node.busy_percent)
        for part, percent in zip(link_slices(timeline, node), busy, strict=True):
            index = stage_of(timeline, part)
            stage = None if index is None else stage_name(timeline, index)
            yield {**part._asdict(), "host": node.host, "stage": stage, "busy_percent": percent}


def _value(type_: Any, value: Any) -> Any:
    """Return a recorded value as one of a column's type; None if it is none: recorded facts may be anything.

    A time is UTC unless it names a time zone. Lone surrogates in texts, which stand for bytes that are not
    UTF-8, are escaped.
    """
    match value:
        case str() if type_ is datetime:
            return _time(value)
        case str() if type_ is str:
            return value.encode(errors="backslashreplace").decode()
        case Mapping() if type_ is TextMap:
            return {_value(str, str(name)): _value(str, str(item)) for name, item in value.items()}
        case int() if type(value) is int and type_ is float:
            return float(value)
    fits = type(value) is type_ and not (type_ is int and value.bit_length() >= _INTEGER_BITS)
    return value if fits else None


def _time(text: str) -> datetime | None:
    try:
        return moment_of(text).astimezone(UTC)
    except (ValueError, OverflowError):  # it is no time, or not of the years 1 to 9999 in UTC
        return None


def file_name(table: str) -> str:
    """Return the name of a table's file."""
    return f"{table}.parquet"


def is_export(directory: Path) -> bool:
    """Return whether a directory has nothing but files that `write_tables` wrote. Raises OSError."""
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


def write_tables(rows: Mapping[str, Sequence[Row]], directory: Path) -> None:
    """Write every table to its file. Raises OSError."""
    for name, table in TABLES.items():
        # pyarrow takes no name that is not UTF-8, but any open file.
        with (directory / file_name(name)).open("xb") as file:
            write(table, rows[name], file)


def write(table: Table, rows: Sequence[Row], file: BinaryIO) -> None:
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
        TextMap: pa.map_(pa.string(), pa.string()),
    }
    schema = pa.schema(
        [
            pa.field(column, types[type_], metadata={"about": about})
            for column, (type_, about) in table.columns.items()
        ],
        metadata={"generator": f"clusterlift {__version__}"},
    )
    values = [
        {name: _value(type_, row.get(name)) for name, (type_, _) in table.columns.items()}
        for row in rows
    ]
    pq.write_table(pa.Table.from_pylist(values, schema=schema), file, compression="zstd")
