"""Any value in a results file may have any other type: the file is refused, or every command can read it."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.attribution import explain
from harness.analysis.comparison import compare
from harness.analysis.configuration import find_configuration
from harness.analysis.readiness import readiness
from harness.model.errors import BadInput
from harness.present import data_formats, explanation, export, run, text
from harness.present import readiness as readiness_page
from harness.present.report import environment, reproduce
from harness.records.reader import load
from tests.unit.builders import GOLDEN

LINES = (GOLDEN / "schema-2.jsonl").read_text().splitlines()
ABSENT = object()
WRONG = (
    *(ABSENT, None, True, 0, -1, 1.5, 10**400, float("nan"), "", "x", [], [5], ["x"], [{"a": 1}]),
    *({}, {"a": 5}, {"a": "x"}, {"a": {"b": {"c": 1}}}),
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each value within a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in inner:
        yield (*path, key)
        if isinstance(child, dict | list):
            yield from paths(child, (*path, key))


PLACES = [(number, path) for number, line in enumerate(LINES) for path in paths(json.loads(line))]


def with_wrong_value(number: int, path: tuple[Any, ...], wrong: object) -> str:
    """Return the text of the file in which one value is replaced or, if it is ABSENT, removed."""
    line = table = json.loads(LINES[number])
    for key in path[:-1]:
        table = table[key]
    if wrong is ABSENT:
        del table[path[-1]]
    else:
        table[path[-1]] = copy.deepcopy(wrong)
    return "\n".join([*LINES[:number], json.dumps(line), *LINES[number + 1 :], ""])


@given(st.sampled_from(PLACES), st.sampled_from(WRONG))
def test_is_one_clear_error_or_can_be_presented(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[int, tuple[Any, ...]], wrong: object
) -> None:
    path = tmp_path_factory.mktemp("results") / "run.jsonl"
    path.write_text(with_wrong_value(*place, wrong))
    refusal = None
    try:
        present_everything(path)
    except BadInput as error:
        refusal = str(error)
    assert refusal is None or refusal.startswith(f"{path}:{place[0] + 1}: ")


def present_everything(path: Path) -> None:
    """Do what the commands do with a file. Raises BadInput if it is refused when it is read."""
    run.render(load(path))
    column = find_configuration(str(path), path.parent)
    other = find_configuration(str(GOLDEN / "schema-1.jsonl"), GOLDEN)
    export.rows(column.runs, [])
    environment.fact_rows([column, other])
    reproduce.commands(column)
    readiness_page.render(readiness(column))
    with contextlib.suppress(BadInput):  # where the two runs have too little in common
        comparison = compare([other, column])
        text.render(comparison)
        data_formats.as_json(comparison)
        explanation.render(explain(comparison))
