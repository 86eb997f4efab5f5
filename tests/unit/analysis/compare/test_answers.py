"""Times of users' queries are compared if their answers are the same, and what differs is named."""

from pathlib import Path
from typing import Any

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.base.errors import BadInput
from harness.model.answer import VARIES, RowsDigest
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


def test_another_answer_is_refused_by_the_name_of_the_query() -> None:
    with pytest.raises(BadInput) as error:
        compare([column("a", SAME), column("b", OTHER)])
    assert str(error.value) == (
        "q1 has another answer in 'b', 6 rows of digest cd34, than in 'a', 5 rows of digest ab12: the tables "
        "or the text changed, or the answer varies; `clusterlift compare` and `report` compare them anyway "
        "with --allow-different-data"
    )


def test_another_answer_that_is_allowed_is_a_footnote() -> None:
    found = notes(column("a", SAME), column("b", OTHER), allow_different_data=True)
    assert found == ("answer of q1: 6 rows of digest cd34 here, 5 rows of digest ab12 in a",)


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
    assert any(
        "layout=replicated:2" in note and "rs:6+3" in note for note in shown.columns[1].notes
    )


def test_runs_of_other_texts_are_not_pooled(tmp_path: Path) -> None:
    for number, digest in enumerate(("t1", "t2")):
        run = a_run("a", f"run-{number}", workloads=("q1",), parameters={"queries": {"q1": digest}})
        record_all(tmp_path, run, [ok("q1", 9.0, answers=(SAME,))])
    with pytest.raises(BadInput, match=r"mixes runs that differ in the text of q1 \(t1, t2\)"):
        find_configuration("a", tmp_path)
