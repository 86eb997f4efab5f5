"""Any value in any place of a results file: one line that names file and line, or tables; no traceback."""

import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness.analysis.compare.comparison import overview
from harness.analysis.explain.attribution import attribute
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.base.errors import BadInput
from harness.base.words import visible
from harness.probes.kind import findings
from harness.records.reader import load, load_probes
from tests.json_values import JSON_VALUES
from tests.unit.printed import printed_run, printed_table

RESULTS = Path(__file__).parents[3] / "results"
MUTATIONS = 150
"""Of each file; `make test-all` would find no more kinds of mistakes with more of them."""
MARK = "\N{REPLACEMENT CHARACTER}"


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of each value in a JSON value; of an array, its first item stands for all."""
    yield path
    if isinstance(value, dict):
        for key, below in value.items():
            yield from places(below, (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def mutated(line: dict[str, Any], path: tuple[str | int, ...], value: str) -> str:
    """Return the text of a line with another value at a path."""
    changed: Any = json.loads(json.dumps(line))
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = MARK
    return json.dumps(changed, ensure_ascii=False).replace(f'"{MARK}"', value)


def lines_of(file: Path) -> list[dict[str, Any]]:
    """Return the first line, and one of each kind, without the end, whose checksum would notice all."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return list({line["kind"]: line for line in lines if line["kind"] != "end"}.values())


def tables_of_run(file: Path) -> None:
    """Make the pages that show everything that a run records."""
    recorded = load(file)
    column = ConfigurationRuns(recorded.run.configuration, (recorded,))
    pages = [printed_run(recorded), printed_table(overview(column))]
    for workload in recorded.by_workload:
        attribute([recorded], workload)
    assert all(visible(line) == line for page in pages for line in page.splitlines())


def tables_of_probes(file: Path) -> None:
    """Judge what a probe run records."""
    for finding in findings(load_probes(file)):
        visible(finding.text)


@pytest.mark.parametrize(
    ("directory", "read"),
    [
        ("profiled-rates/250mbit-rs", tables_of_run),
        ("mpi-scaling/250mbit-n4", tables_of_run),
        ("ethernet-upgrade/1g-rs/probes", tables_of_probes),
    ],
)
def test_any_value_in_any_place(directory: str, read: Any, tmp_path: Path) -> None:
    lines = lines_of(min((RESULTS / directory).glob("*.jsonl")))
    texts = [json.dumps(line) for line in lines]
    every = [
        (number, path, name)
        for number, line in enumerate(lines)
        for path in places(line)
        for name in JSON_VALUES
        if path and path != ("kind",)
    ]
    for number, path, name in random.Random(1).sample(every, MUTATIONS):  # noqa: S311  a fixed sample
        changed = list(texts)
        changed[number] = mutated(lines[number], path, JSON_VALUES[name])
        file = tmp_path / "file.jsonl"
        file.write_text("\n".join([*changed, ""]), encoding="utf-8")
        print(f"line {number + 1}, {path}: {name}")  # noqa: T201  shown if this fails
        with suppress(BadInput):
            read(file)
            continue
        with pytest.raises(BadInput, match=rf"^{re.escape(str(file))}:{number + 1}: .{{1,900}}$"):
            read(file)
