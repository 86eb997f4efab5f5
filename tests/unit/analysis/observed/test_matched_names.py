"""Names that differ each time are matched where it is certain that they mean the same work."""

from collections.abc import Iterable, Mapping, Sequence

import pytest

from harness.analysis.observed.matched_names import NamesOfRun, matched
from harness.eventlog.application import Described
from harness.eventlog.passing_words import steps


def run(*names: str, tables: Mapping[str, str] | None = None) -> NamesOfRun:
    read = tables or {}
    return {
        name: Described(tuple(steps(name)), frozenset([read[name]] if name in read else ()))
        for name in names
    }


def common(*columns: Sequence[NamesOfRun]) -> dict[str, str]:
    return matched(columns).common


def each_alone(names: Iterable[str]) -> list[NamesOfRun]:
    return [run(name) for name in names]


def test_names_with_dates_are_matched_without_them_and_the_rule_is_said() -> None:
    before = each_alone(["load 2024-05-01", "load 2024-05-02"])
    after = each_alone(["load 2024-06-01", "load 2024-06-02"])
    assert set(common(before, after).values()) == {"load <date>"}
    assert len(common(before, after)) == 4
    assert list(matched([before, after]).lines()) == [
        "names differ each time, and are matched without dates: load <date>"
    ]


def test_no_more_is_left_out_than_needed() -> None:
    """Each hour is another workload, and so is each batch."""
    hours = [[run(*(f"load 2024-0{n}-01 {hour}:00" for hour in (10, 11)))] for n in (5, 6)]
    assert set(common(*hours).values()) == {"load <date> 10:00", "load <date> 11:00"}
    batches = [[run(*(f"run {n}a0b1c2 batch = {batch}" for batch in (0, 1)))] for n in (5, 6)]
    assert set(common(*batches).values()) == {"run <id> batch = 0", "run <id> batch = 1"}


def test_names_that_are_the_same_already_stay() -> None:
    before = each_alone(["load 2024-05-01", "load 2024-05-02"])
    after = each_alone(["load 2024-05-02", "load 2024-05-03"])
    assert common(before, after) == {
        "load 2024-05-01": "load <date>",
        "load 2024-05-03": "load <date>",
    }
    assert common(before, before) == {}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([run(*(f"q{n}" for n in range(1, 6)))], [run(*(f"q{n}" for n in range(6, 11)))]),
        (each_alone(["q1", "q2"]), each_alone(["q3", "q4"])),
        ([run("load 2024-05-01", "load 2024-05-02")], [run("load 2024-06-01")]),
        ([run("load 2024-05-01")], [run("load 2024-06-01", "load 2024-06-02")]),
        ([run("load 2024-05-01")], [run("save 2024-05-01")]),
    ],
    ids=["queries", "queries of several runs", "two before", "two after", "another name"],
)
def test_what_could_be_several_workloads_is_not_matched(
    before: Sequence[NamesOfRun], after: Sequence[NamesOfRun]
) -> None:
    assert common(before, after) == {}


@pytest.mark.parametrize(
    ("tables", "is_matched"),
    [(("orders", "orders"), True), (("orders", "customers"), False), (("orders", None), True)],
)
def test_plans_that_read_other_tables_are_other_work(
    tables: tuple[str, str | None], *, is_matched: bool
) -> None:
    names = ("load 2024-05-01", "load 2024-06-01")
    columns = [
        [run(name, tables={name: table} if table else None)]
        for name, table in zip(names, tables, strict=True)
    ]
    assert bool(common(*columns)) == is_matched
