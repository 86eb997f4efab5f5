"""Trials and measurements as rows of four tables, with the type and description of each column.

An unknown value is None, never 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from harness import __version__
from harness.analysis.explain.timeline import link_slices, stage_name
from harness.analysis.observed.environment import is_emulated
from harness.model.probe import RecordedProbes
from harness.model.run import RecordedRun, Trial

Row = dict[str, Any]
TextMap = Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """What a row is; and of each column its type and description. All may be null."""

    about: str
    columns: Mapping[str, tuple[Any, str]]


_TRIAL_KEY = {
    "configuration": (str, "the declared name"),
    "run": (str, "id of the run"),
    "workload": (str, "name"),
    "phase": (str, "measured, or warm-up: not part of any result"),
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
    """Return the rows of each table by its name in TABLES."""
    found: dict[str, list[Row]] = {name: [] for name in TABLES}
    for recorded in runs:
        for trial in recorded.trials:
            key = {
                "configuration": recorded.run.configuration,
                "run": recorded.run.id,
                "workload": trial.workload,
                "phase": trial.phase,
                "round": trial.round,
            }
            found["trials"].append(key | _trial_values(recorded, trial))
            found["measurements"] += (key | values for values in _metric_values(trial))
            found["slices"] += (key | values for values in _slice_values(trial))
    for probed in recorded_probes:
        call = {
            "configuration": probed.run.configuration,
            "probe_run": probed.run.id,
            "started_at": _time(probed.run.started_at),
            "source": probed.source,
        }
        found["probes"] += (call | asdict(measured) for measured in probed.measurements)
    return found


def _trial_values(recorded: RecordedRun, trial: Trial) -> Row:
    run = recorded.run
    data = run.dataset or {}
    return {
        "status": trial.status,
        "wall_s": trial.wall_s,
        "work": trial.work and trial.work.amount,
        "work_unit": trial.work and trial.work.unit,
        "started_at": _time(trial.started_at),
        "error": trial.error,
        "note": trial.note,
        "disturbed": trial.disturbed,
        "executions": trial.executions,
        "is_control": trial.workload in (run.parameters.get("controls") or ()),
        "sink": _typed(str, run.parameters.get("sink")),
        "dataset_rows": _typed(int, data.get("rows")),
        "dataset_format": _typed(str, data.get("format")),
        "layout": _typed(str, (data.get("layout") or {}).get("observed")),
        "spark": _typed(str, run.environment.get("spark")),
        "is_emulated": is_emulated(run),
        "facts": {name: str(value) for name, value in run.facts.items()},
        "run_started_at": _time(run.started_at),
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
        yield {"metric": metric, "subject": subject, "unit": unit, "value": float(value)}


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
            stage = None if part.stage is None else stage_name(timeline, part.stage)
            yield {**asdict(part), "host": node.host, "stage": stage, "busy_percent": percent}


def _typed(kind: type, value: object) -> Any:
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
    written = pa.Table.from_pylist(list(map(_writable, rows)), schema=schema)
    pq.write_table(written, file, compression="zstd")


def _writable(value: Any) -> Any:
    """Escape lone surrogates in texts: they stand for bytes that are not UTF-8."""
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case Mapping():
            return {_writable(key): _writable(item) for key, item in value.items()}
        case _:
            return value
