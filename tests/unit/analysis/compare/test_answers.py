"""Times of users' queries are compared if their answers are the same, and what differs is named."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.analysis.ready.limits import limit_findings
from harness.base.errors import BadInput
from harness.model.answer import VARIES, ColumnDigest, RowsDigest
from harness.records.writer import record_all
from tests.unit.builders import a_run, ok, recorded
from tests.unit.printed import printed_table

SAME, OTHER = RowsDigest(5, "ab12"), RowsDigest(6, "cd34")
ORDERS = {"uri": "hdfs://a/orders", "format": "parquet", "bytes": 900, "files": 3}
TABLES: dict[str, Any] = {"orders": ORDERS | {"layout": "replicated:2"}}


def column(name: str, *answers: RowsDigest, **parameters: Any) -> ConfigurationRuns:
    """A run of a query, with a trial for each answer, and of a control."""
    trials = [ok("q1", 9.0, number, answers=(each,)) for number, each in enumerate(answers, 1)]
    known = {"controls": ["calc-pi-dataframe"], "data_workloads": [], "queries": {"q1": "t1"}}
    run = a_run(
        name,
        workloads=("q1", "calc-pi-dataframe"),
        parameters=known | {"tables": TABLES} | parameters,
    )
    return ConfigurationRuns(name, (recorded(run, [*trials, ok("calc-pi-dataframe", 1.0)]),))


def notes(*columns: ConfigurationRuns, **options: Any) -> tuple[str, ...]:
    query, control = compare(columns, **options).rows
    assert not control.cells[1].notes
    return query.cells[1].notes


def test_the_same_answers_are_compared() -> None:
    assert notes(column("a", SAME, SAME), column("b", SAME)) == ()


def test_without_a_query_of_the_same_answer_nothing_is_left_to_compare() -> None:
    with pytest.raises(BadInput) as error:
        compare([column("a", SAME), column("b", OTHER)])
    assert str(error.value) == (
        "'b' and 'a' have no query in common with the same answer: q1 has another answer, 6 rows of digest "
        "cd34, than in a, 5 rows of digest ab12: the tables or the text changed, or the answer varies "
        "(--allow-different-answers q1 compares the times)"
    )


@pytest.mark.parametrize(
    "allowed", [{"allow_different_data": True}, {"allow_different_answers": ("q1",)}]
)
def test_another_answer_that_is_allowed_is_a_footnote(allowed: dict[str, Any]) -> None:
    found = notes(column("a", SAME), column("b", OTHER), **allowed)
    assert found == ("answer of q1: 6 rows of digest cd34 here, 5 rows of digest ab12 in a",)


def queries(name: str, /, **answers: Sequence[RowsDigest]) -> ConfigurationRuns:
    """Two runs of queries, each with an answer that it has in both runs, or with one for each run."""
    runs = []
    for number in range(2):
        trials = []
        for query, of_runs in answers.items():
            trials.append(ok(query, 9.0 + number, answers=(of_runs[number % len(of_runs)],)))
        run = a_run(
            name, f"{name}-{number}", workloads=tuple(answers), parameters={"data_workloads": []}
        )
        runs.append(recorded(run, trials))
    return ConfigurationRuns(name, tuple(runs))


def test_a_query_with_another_answer_is_left_out_and_the_others_are_compared() -> None:
    before = queries("a", q1=[SAME], q2=[SAME], q3=[SAME])
    after = queries("b", q1=[SAME], q2=[OTHER], q3=[SAME])
    comparison = compare([before, after])
    changes = [row.cells[1].change is not None for row in comparison.rows]
    assert changes == [True, False, True]
    left_out = comparison.rows[1].cells[1].left_out
    assert left_out
    assert left_out.startswith("not compared: another answer, 6 rows of digest cd34, than in a, ")
    printed = printed_table(comparison)
    assert "not compared" in printed
    assert "Holm-adjusted for 2 comparisons" in " ".join(printed.split())


def test_a_limit_is_unknown_for_a_query_that_is_left_out() -> None:
    comparison = compare([queries("a", q1=[SAME], q2=[SAME]), queries("b", q1=[SAME], q2=[OTHER])])
    found = list(limit_findings(comparison, 0.9))
    assert [str(each) for each in found if "q2" in str(each)] == [
        "b: not known whether slower by more than 90 %: q2 (another answer)"
    ]


def test_an_unknown_query_whose_answers_may_differ_is_named() -> None:
    with pytest.raises(
        BadInput, match=r"--allow-different-answers: there is no workload 'q9'; did"
    ):
        compare([column("a", SAME), column("b", OTHER)], allow_different_answers=("q9",))


def test_the_time_of_all_streams_is_left_out_with_that_of_a_query() -> None:
    sides = [column("a", SAME), column("b", OTHER)]
    for each in sides:
        run = replace(
            each.runs[0].run,
            workloads=("streams-2", "q1", "q2"),
            parameters={"in_streams": ["q1", "q2"]},
        )
        trials = [*each.runs[0].trials, ok("streams-2", 9.0), ok("q2", 2.0)]
        vars(each)["runs"] = (recorded(run, trials),)
    left_out = compare(sides).left_out
    assert list(left_out) == [("q1", 1), ("streams-2", 1)]
    assert left_out["streams-2", 1] == "not compared: another answer of q1"


def sorted_rows(name: str = "x1", key: str = "k1", **fields: Any) -> RowsDigest:
    """The first 100 rows by the column `key`."""
    columns = (ColumnDigest("name", name), ColumnDigest("key", key, is_sorted=True))
    known: dict[str, Any] = {"rows": 100, "limit": 100, "columns": columns, "chance": ()}
    return RowsDigest(**{**known, "digest": name + key, **fields})


def test_other_rows_of_those_that_tie_at_a_limit_are_the_same_work() -> None:
    before, after = (column(name, sorted_rows(name)) for name in "ab")
    comparison = compare([before, after])
    assert comparison.rows[0].cells[1].change
    [note] = comparison.rows[0].cells[1].notes
    assert note == (
        "its answer has other rows of those that tie at LIMIT 100 (they differ in name; the number of rows "
        "and the columns of ORDER BY are the same), than in a"
    )


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (sorted_rows(key="k2"), "they differ in key; nothing in the text leaves it to chance: "),
        (sorted_rows("x2", rows=99), ": nothing in the text leaves it to chance: "),
        (sorted_rows("x2", limit=None), "they differ in name; nothing in the text"),
        (sorted_rows("x2", columns=()), ": nothing in the text leaves it to chance"),
        (sorted_rows("x2", limit=None, chance=("first()",)), "or the answer varies by first()"),
        (sorted_rows("x2", limit=None, chance=None), "or the answer varies"),
    ],
)
def test_other_data_is_told_from_ties(after: RowsDigest, reason: str) -> None:
    sides = [
        queries(name, q1=[each], q2=[SAME]) for name, each in (("a", sorted_rows()), ("b", after))
    ]
    assert reason in compare(sides).left_out["q1", 1]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([sorted_rows("x1"), sorted_rows("x2")], [sorted_rows("x3")], "rows that tie at LIMIT 100"),
        ([SAME, OTHER], [SAME], "the same throughout a run, but not in all runs: the data changed"),
    ],
)
def test_an_answer_that_varies_on_a_side_says_how(
    before: list[RowsDigest], after: list[RowsDigest], said: str
) -> None:
    comparison = compare([queries("a", q1=before, q2=[SAME]), queries("b", q1=after, q2=[SAME])])
    assert not comparison.left_out
    assert said in " ".join(comparison.rows[0].cells[0].notes)


def test_what_varies_although_its_text_leaves_nothing_to_chance_is_other_data() -> None:
    varying = [replace(each, chance=()) for each in (SAME, OTHER)]
    third = RowsDigest(7, "ef56", chance=())
    sides = [queries("a", q1=varying, q2=[SAME]), queries("b", q1=[third], q2=[SAME])]
    assert ("q1", 1) in compare(sides).left_out


def test_strict_refuses_another_answer_even_if_it_is_allowed() -> None:
    with pytest.raises(BadInput, match=r"--strict: .* answer of q1"):
        compare([column("a", SAME), column("b", OTHER)], allow_different_data=True, strict=True)


@pytest.mark.parametrize("sides", [((SAME, OTHER), (SAME,)), ((SAME,), (SAME, OTHER))])
def test_an_answer_that_varies_is_named_and_compared_with_no_other(
    sides: tuple[tuple[RowsDigest, ...], ...],
) -> None:
    before, after = (column(name, *each) for name, each in zip("ab", sides, strict=True))
    assert VARIES in " ".join(printed_table(compare([before, after])).split())


def test_another_text_and_other_files_are_footnotes_of_the_queries_alone() -> None:
    tables = {
        "orders": TABLES["orders"] | {"uri": "qfs://b/orders", "layout": "rs:6+3:64k", "files": 4}
    }
    assert notes(
        column("a", SAME), column("b", SAME, queries={"q1": "t2", "q2": "t3"}, tables=tables)
    ) == (
        "text of q1: t2 here, t1 in a",
        "storage of the tables: qfs here, hdfs in a",
        "layout of the tables: rs:6+3:64k here, replicated:2 in a",
        "files of the tables: 4 here, 3 in a",
    )


def test_tables_of_the_catalogue_on_one_side_are_a_footnote() -> None:
    found = notes(column("a", SAME), column("b", SAME, tables={}))
    assert found == ("tables: not recorded here, recorded in a",)


def test_an_observed_layout_contradicts_a_declared_one() -> None:
    tables = {"orders": TABLES["orders"] | {"layout": "rs:6+3:64k"}}
    wrong = column("b", SAME, tables=tables)
    run = a_run(
        "b", workloads=("q1",), parameters={"tables": tables}, facts={"layout": "replicated:2"}
    )
    shown = compare(
        [column("a", SAME), ConfigurationRuns("b", (recorded(run, wrong.runs[0].trials),))]
    )
    assert any("layout=replicated:2" in note and "rs:6+3" in note for note in shown.notes[1])


def test_runs_of_other_texts_are_not_pooled(tmp_path: Path) -> None:
    for number, digest in enumerate(("t1", "t2")):
        run = a_run("a", f"run-{number}", workloads=("q1",), parameters={"queries": {"q1": digest}})
        record_all(tmp_path, run, [ok("q1", 9.0, answers=(SAME,))])
    with pytest.raises(BadInput, match=r"mixes runs that differ in the text of q1 \(t1, t2\)"):
        find_configuration("a", tmp_path)
