"""Whatever stands in a published table: an import refuses it, or others can read and show what it records."""

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from harness.analysis.observed.configuration import find_configuration
from harness.model.errors import BadInput
from harness.model.run import Run
from harness.present import run as run_page
from harness.present.packets import packet_sections
from harness.records.published import (
    KEYS,
    METRICS,
    TRIAL_HEADERS,
    import_published,
    read_published,
)
from harness.records.reader import load_probes
from harness.words import visible
from tests.campaigns.consumers import problem_of
from tests.hostile.mutations import HOSTILE_TEXT, NUMBERS

TABLES: Mapping[str, str] = {
    "times": "test,seconds\ngroup-by,5.5\nsha-512,3\ngroup-by,6\n",
    "performances": "test,performance,unit\nhpl,5e9,flop\nhpl,6e9,flop\n",
    "peaks": "test,performance,unit,peak\nhpl,5e9,flop,9e9\nhpl,6e9,flop,9e9\n",
    "transfers": (
        f"{','.join((*KEYS, *METRICS))}\n"
        "a,b,1500,one way,9e8,10,20,3,4,5,6\nb,a,9000,both ways,9.5e8,5,,3,4,5,6\n"
    ),
}
"""A table of each kind; together they have every column."""
NAMES = ("test", "sender", "receiver", "direction", "unit")
NEVER = ("x", "nan", "inf", "-inf", "1e400", "-1", "1e300", "9" * 5000, "\u0663", "1_0", "0x10")
"""What no column of numbers takes."""
WORDS = ("", "x", "a b", "a -> b", "=1+1", "one way", HOSTILE_TEXT, "x" * 10**6, "\ufeff", "a\nb")
BYTES = (b"", b"\x00", b"\xff\xfe", b"\n" * 1000, b'"', b"a,b\n", b"\r", b"[" * 100_000)
"""What replaces a whole table, or is put into it."""

Rows = list[list[str]]


def test_tables_have_every_column() -> None:
    columns = {column for table in TABLES.values() for column in table.splitlines()[0].split(",")}
    known = {column for header in TRIAL_HEADERS for column in header} | {*KEYS, *METRICS}
    assert columns == known


def mutated(table: str) -> Iterator[tuple[str, bytes, bool]]:
    """Yield each mutation of a table: what was changed, the file, and whether it has to be refused."""
    rows = list(csv.reader(io.StringIO(table)))
    for at, name in enumerate(rows[0]):
        for text in WORDS if name in NAMES else dict.fromkeys((*WORDS, *NUMBERS, *NEVER)):
            never = name not in NAMES and text in NEVER
            yield f"{name}: {text[:40]!r}", _written(_replaced(rows, at, text)), never
        yield f"{name} is left out", _written([row[:at] + row[at + 1 :] for row in rows]), False
        yield f"{name} comes twice", _written([[*row, row[at]] for row in rows]), True
        yield (
            f"{name} is renamed",
            _written([[*rows[0][:at], "x", *rows[0][at + 1 :]], *rows[1:]]),
            True,
        )
    yield "a line is short", _written([*rows, rows[1][:-1]]), True
    yield "a line is long", _written([*rows, [*rows[1], "1"]]), True
    yield "no line", _written(rows[:1]), True
    data = table.encode()
    for piece in BYTES:
        yield f"all is {piece[:9]!r}", piece, True
        yield (
            f"{piece[:9]!r} within",
            data[: len(data) // 2] + piece + data[len(data) // 2 :],
            False,
        )


def _replaced(rows: Rows, at: int, text: str) -> Rows:
    first = [*rows[1][:at], text, *rows[1][at + 1 :]]
    return [rows[0], first, *rows[2:]]


def _written(rows: Sequence[Sequence[str]]) -> bytes:
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue().encode()


def shown(file: Path, results: Path) -> Iterator[str]:
    """Import a table, and yield the pages of what was recorded."""
    is_run = isinstance(read_published(file, "1g", {})[0], Run)
    recorded = import_published(file, "1g", {}, results)
    if is_run:
        for run in find_configuration("1g", results).runs:
            yield run_page.render(run)
    else:
        yield from packet_sections({"1g": (load_probes(recorded).measurements, {})})


@pytest.mark.parametrize("kind", TABLES)
def test_tables(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert list(shown(_file(tmp_path, TABLES[kind].encode()), tmp_path / "sound"))
    problems, refused = [], 0
    for number, (name, data, must_be_refused) in enumerate(mutated(TABLES[kind])):
        try:
            found = list(
                filter(None, map(problem_of, shown(_file(tmp_path, data), tmp_path / str(number))))
            )
            problems += [f"{name}: {each}" for each in found[:1]]
            problems += [f"{name}: accepted"] if must_be_refused else []
        except BadInput as error:
            refused += 1
            if "table.csv" not in str(error) or len(visible(str(error))) > 10_000:
                problems.append(f"{name}: {str(error)[:200]}")
        except Exception as error:  # noqa: BLE001  a traceback is what the campaign looks for
            problems.append(f"{name}: {error!r:.200}")
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems[:30])
    assert refused


def _file(directory: Path, data: bytes) -> Path:
    file = directory / "table.csv"
    file.write_bytes(data)
    return file
