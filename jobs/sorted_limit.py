"""The LIMIT at the end of a query: how many sorted rows it keeps, and by which columns they are sorted."""

from __future__ import annotations  # for Python 3.8

from dataclasses import dataclass
from typing import Any

from datagen.spark import elements

_WITHOUT_EFFECT = frozenset({"LocalLimit", "SubqueryAlias", "View"})


@dataclass(frozen=True)
class SortedLimit:
    """The number of rows, and the positions of the columns that sort them."""

    rows: int
    columns: frozenset[int]


def sorted_limit(plan: Any) -> SortedLimit | None:
    """Return the limit of a query by its analysed plan.

    None if it has none at its end, or if its rows are not sorted by columns of the answer alone.
    """
    output = [each.exprId().id() for each in elements(plan.output())]
    renamed: dict[int, int] = {}
    rows = None
    while class_name(plan) != "Sort":
        kind = class_name(plan)
        if kind == "WithCTE":
            plan = plan.plan()
            continue
        if kind == "GlobalLimit" and rows is None:
            rows = str(plan.limitExpr().toString())
        elif kind == "Project":
            renamed.update(_renamed(plan))
        elif kind not in _WITHOUT_EFFECT:
            return None
        plan = plan.child()
    if rows is None or not rows.isdecimal():
        return None
    keys = [each.child() for each in elements(plan.order())]
    if any(class_name(key) != "AttributeReference" for key in keys):
        return None
    sorting = {key.exprId().id() for key in keys}
    below = [_original(each, renamed) for each in output]
    if not sorting <= set(below):
        return None
    positions = [position for position, id_ in enumerate(below) if id_ in sorting]
    return SortedLimit(int(rows), frozenset(positions))


def _renamed(project: Any) -> dict[int, int]:
    """Return the columns that a Project only gives another name: their ids, and those below it."""
    found: dict[int, int] = {}
    for each in elements(project.projectList()):
        if class_name(each) == "Alias" and class_name(each.child()) == "AttributeReference":
            found[each.exprId().id()] = each.child().exprId().id()
    return found


def _original(id_: int, renamed: dict[int, int]) -> int:
    while id_ in renamed:
        id_ = renamed[id_]
    return id_


def class_name(value: Any) -> str:
    """Return the name of a value's class of Java, without its package."""
    return str(value.getClass().getSimpleName())
