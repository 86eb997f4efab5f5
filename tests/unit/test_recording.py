"""What spark-submit runs needs no Python that is newer than 3.8, where vermin does not see it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tracked import ROOT, name_in_repository, tracked

ROOMS = ("base", "eventlog", "model", "node", "trials", "work")
FILES = [
    file
    for file in tracked("jobs", "datagen", *(f"harness/{room}" for room in ROOMS))
    if file.suffix == ".py"
]
BUILT_IN = {"dict", "frozenset", "list", "set", "tuple", "type"}
"""Types that take no brackets in Python 3.8, like those of collections.abc."""
ANNOTATIONS = {"annotation", "returns"}
"""Fields of the syntax tree that are never computed, because of `from __future__ import annotations`."""


def computed_types(source: str) -> list[str]:
    """Return the types with brackets that are computed when the module runs."""
    tree = ast.parse(source)
    names = set(BUILT_IN)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "collections.abc":
            names |= {alias.asname or alias.name for alias in node.names}
    return [
        ast.unparse(node)
        for node in computed(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in names
    ]


def computed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree that are not in annotations."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ANNOTATIONS:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from computed(child)


def test_computed_types_are_found() -> None:
    source = """
from collections.abc import Callable, Mapping
Change = Callable[[Mapping[str, str]], None]
class Names(dict[str, str]): ...
def unread(names: Mapping[str, list[int]]) -> tuple[int, ...]:
    found: list[str] = []
    return found[0], dict(names)["a"]
"""
    assert computed_types(source) == [
        "Callable[[Mapping[str, str]], None]",
        "Mapping[str, str]",
        "dict[str, str]",
    ]


@pytest.mark.parametrize("file", FILES, ids=name_in_repository)
def test_no_type_is_computed_that_only_a_newer_python_has(file: Path) -> None:
    found = computed_types(file.read_text())
    assert not found, f"take it from typing: {name_in_repository(file)} computes {found}"


def test_all_files_are_looked_at() -> None:
    assert ROOT / "jobs/sinks.py" in FILES
    assert len(FILES) > 100
