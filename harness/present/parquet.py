"""Exported tables as Parquet files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from harness.present.exported import Row, columns

_TYPES = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    datetime: pa.timestamp("ms", tz="UTC"),
    Mapping[str, str]: pa.map_(pa.string(), pa.string()),
}


def write(table: type[Row], rows: Sequence[Row], file: Path) -> None:
    """Write a table; the metadata of each column says what it is about. Raises OSError."""
    schema = pa.schema(
        [
            pa.field(column.name, _TYPES[column.type], metadata={"about": column.about})
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
