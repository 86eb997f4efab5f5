"""Names that differ each time are matched where it is certain that they mean the same work."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.observed.matched_names import NamesOfRun, matched
from harness.eventlog.names import Described, name_steps
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
    uuids = [f"3fa85f64-5717-4562-b3fc-2c963f66afa{n}" for n in (5, 6)]
    batches = [[run(*(f"run {uuid} batch = {batch}" for batch in (0, 1)))] for uuid in uuids]
    assert set(common(*batches).values()) == {"run <id> batch = 0", "run <id> batch = 1"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("orders-a7x0q0k2", "orders-b8y1r1l3"),
        ("tmp_orders_17", "tmp_orders_18"),
        ("load hdfs://a/x/orders", "load s3://b/y/orders"),
        ("2024-05-01", "2024-06-01"),
    ],
    ids=["random", "temporary", "location", "nothing else"],
)
def test_where_names_do_not_make_it_certain_plans_have_to_read_the_same_tables(
    before: str, after: str
) -> None:
    assert common([run(before)], [run(after)]) == {}
    read = dict.fromkeys([before, after], "orders")
    assert len(common([run(before, tables=read)], [run(after, tables=read)])) == 2
    [reason] = matched([[run(before)], [run(after)]]).lines()
    assert reason.startswith(
        "not matched, because the plans do not tell whether they read the same"
    )


def test_what_is_not_matched_is_said_with_its_reason() -> None:
    several = [run("load 2024-05-01", "load 2024-05-02")], [run("load 2024-06-01")]
    assert list(matched(several).lines()) == [
        "not matched, because one application has several of them: load <date>"
    ]


def test_no_common_name_is_one_that_is_taken() -> None:
    """The application `load <date>` is matched already, and its query is called alike."""
    sides = [[run(f"load 2024-0{month}-02")] for month in (5, 6)]
    assert matched(sides, {"load <date>"}).common == {}


def test_a_user_s_rule_decides_alone_and_says_how_much_became_one() -> None:
    differing = re.compile(r"v\d+")

    def named(*names: str) -> NamesOfRun:
        return {name: Described(name_steps(name, differing)) for name in names}

    sides = [[named("etl v1", "etl v2", "other")], [named("etl v3", "load 2024-05-01")]]
    found = matched(sides)
    assert set(found.common) == {"etl v1", "etl v2", "etl v3"}
    assert list(found.lines()) == [
        "names differ each time, and are matched without what --match finds: etl <*> (3 names)"
    ]


WORDS = st.sampled_from(
    ["load", "q1", "q2", "2024-05-01", "2024-05-02", "10:00", "run 7", "run 8", "a7x0q0k2", "tmp_3",
     "b8y1r1l3", "hdfs://a/x/orders", "s3://b/y/orders", "<date>", "#2", "240501", "1714550000000",
     "3fa85f64-5717-4562-b3fc-2c963f66afa6", "0a1b2c3d-5717-4562-b3fc-2c963f66afa6"]
)  # fmt: skip
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
TABLES = st.sets(st.sampled_from(["orders", "items"]), max_size=2).map(frozenset)
RUNS = st.dictionaries(NAMES, TABLES, max_size=5).map(
    lambda names: {name: Described(tuple(steps(name)), read) for name, read in names.items()}
)
COLUMNS = st.lists(st.lists(RUNS, max_size=3), min_size=2, max_size=3)


class TestProperties:
    @given(COLUMNS)
    def test_the_order_of_configurations_and_runs_does_not_matter(
        self, columns: list[list[NamesOfRun]]
    ) -> None:
        turned = [list(reversed(runs)) for runs in reversed(columns)]
        assert matched(columns).common == matched(turned).common

    @given(COLUMNS)
    def test_it_is_one_to_one_in_each_run(self, columns: list[list[NamesOfRun]]) -> None:
        found = matched(columns)
        for run_ in chain.from_iterable(columns):
            assert len({found.common_name(name) for name in run_}) == len(run_)

    @given(COLUMNS)
    def test_what_configurations_had_in_common_stays(self, columns: list[list[NamesOfRun]]) -> None:
        found = matched(columns)
        names = [set(chain.from_iterable(runs)) for runs in columns]
        for one, other in combinations(names, 2):
            assert found.common.keys().isdisjoint(one & other)

    @given(COLUMNS)
    def test_what_is_matched_is_on_two_sides_and_reads_the_same_tables(
        self, columns: list[list[NamesOfRun]]
    ) -> None:
        found = matched(columns)
        for common_name in set(found.common.values()):
            sides = set()
            tables = set()
            for number, run_ in [(n, run_) for n, runs in enumerate(columns) for run_ in runs]:
                for name, described in run_.items():
                    if found.common.get(name) == common_name:
                        sides.add(number)
                        tables.add(described.tables)
            assert len(sides) > 1
            assert len(tables - {frozenset()}) <= 1


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
