"""Which workloads exist, and which of them a run executes."""

from pathlib import Path

import pytest

import jobs.workloads
from harness.base.errors import BadInput, ClusterliftError
from harness.commands.bench import WORKLOADS as WORKLOADS_OF_BENCH
from jobs.queries import Query
from jobs.workload import discover, known_workloads, select_workloads
from jobs.workloads.calc_pi_arrow_udf import CalcPiArrowUdf

WORKLOADS = discover()


def test_each_file_is_a_workload_and_they_run_in_the_order_of_their_bottlenecks() -> None:
    files = {path.stem.replace("_", "-") for path in Path(jobs.workloads.__path__[0]).glob("*.py")}
    assert WORKLOADS.keys() == files - {"--init--"}
    bottlenecks = [workload.bottleneck for workload in WORKLOADS.values()]
    assert bottlenecks == sorted(bottlenecks)


def test_a_workload_is_named_like_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CalcPiArrowUdf, "name", "pi")
    with pytest.raises(ClusterliftError, match=r"calc_pi_arrow_udf.py has the workload pi; name"):
        discover()


def test_an_unknown_workload_is_refused_with_the_most_similar_names() -> None:
    with pytest.raises(BadInput, match=r"unknown workload 'groupby'; did you mean group-by"):
        known_workloads(["groupby"])
    with pytest.raises(BadInput, match=r"'zzz'; there are broadcast-inner-join, "):
        known_workloads(["zzz"])


def test_workloads_run_once_each_in_the_requested_order() -> None:
    selection = select_workloads(["sha-512", "group-by", "sha-512"])
    assert selection.names == ("sha-512", "group-by")
    assert selection.omitted == {}
    assert set(selection.not_requested) == WORKLOADS.keys() - {"sha-512", "group-by"}


def test_a_dataset_is_needed_only_if_a_workload_reads_data() -> None:
    assert select_workloads(["group-by", "calc-pi-dataframe"]).reads_data
    assert not select_workloads(["sha-512-cached", "calc-pi-dataframe"]).reads_data


class TestMissingModules:
    @pytest.fixture(autouse=True)
    def _no_such_module(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(CalcPiArrowUdf, "requires", ("no_such_module",))

    def test_a_workload_that_was_not_requested_by_name_is_omitted(self) -> None:
        selection = select_workloads(None)
        assert selection.omitted == {
            "calc-pi-arrow-udf": "needs no_such_module, which this Python does not have"
        }
        assert selection.names == tuple(n for n in WORKLOADS if n != "calc-pi-arrow-udf")
        assert selection.not_requested == ()

    def test_a_workload_that_was_requested_by_name_is_refused(self) -> None:
        with pytest.raises(BadInput, match="--workloads: calc-pi-arrow-udf needs no_such_module"):
            select_workloads(["calc-pi-arrow-udf"])


def test_what_cannot_write_is_omitted_with_the_reason_or_refused_if_it_is_named() -> None:
    selection = select_workloads(None, default=WORKLOADS_OF_BENCH.split(","))
    assert selection.writing == ("write",)
    left = selection.without_writing("full")
    assert left.omitted == {"write": "cannot write: full"}
    assert left.names == tuple(name for name in selection.names if name != "write")
    assert left.not_requested == selection.not_requested != ()
    with pytest.raises(BadInput, match="--workloads: write cannot write: full"):
        select_workloads(selection.names).without_writing("full")


def test_queries_take_the_place_of_workloads_that_read_a_dataset() -> None:
    queries = [Query("q2", "SELECT 2"), Query("q1", "SELECT 1")]
    selection = select_workloads(None, queries)
    controls = tuple(name for name, workload in WORKLOADS.items() if workload.control)
    assert (selection.names, selection.not_requested) == (("q2", "q1", *controls), ())
    assert not selection.reads_data
    assert select_workloads(["q1", "group-by"], queries).reads_data


def test_a_query_with_the_name_of_a_workload_is_refused() -> None:
    with pytest.raises(BadInput, match="--sql: group-by is the name of a workload; rename"):
        select_workloads(None, [Query("group-by", "SELECT 1")])
