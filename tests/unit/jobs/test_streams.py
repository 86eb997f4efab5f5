"""What runs in several streams, and in which orders."""

from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.work.queries import QueryText
from jobs.queries import queries_of
from jobs.streams import Streams, in_streams
from jobs.workload import Selection, select_workloads

NAMES = ["group-by", "inner-join", "repartition", "sha-512", "calc-pi-dataframe"]


def selected(*names: str, streams: int = 3) -> Selection:
    return in_streams(select_workloads(names), streams)


def test_controls_run_alone_and_all_others_in_streams() -> None:
    selection = selected(*NAMES)
    assert selection.names == ("streams-3", *NAMES)
    assert [each.name for each in selection.in_streams] == NAMES[:-1]


def test_one_stream_is_a_run_as_always() -> None:
    selection = selected(*NAMES, "write", streams=1)
    assert selection.in_streams == ()
    assert selection.names == (*NAMES, "write")


def test_what_writes_is_left_out_and_refused_if_it_is_named() -> None:
    selection = in_streams(select_workloads(None), 2)
    assert set(selection.omitted) >= {"write", "sort-write"}
    assert "several streams would write to the same place" in selection.omitted["write"]
    with pytest.raises(BadInput, match="--workloads: write cannot write: several streams would"):
        selected("group-by", "write")


def test_controls_alone_are_no_streams() -> None:
    with pytest.raises(BadInput, match="--streams: there are only controls"):
        selected("calc-pi-dataframe")


def test_a_query_cannot_have_the_name_of_all_streams() -> None:
    queries = queries_of({"streams-3": QueryText(Path("streams-3.sql"), "SELECT 1")})
    with pytest.raises(BadInput, match="--sql: streams-3 is the name of all streams"):
        in_streams(select_workloads(None, queries), 3)
    in_streams(select_workloads(None, queries), 4)


def test_the_seed_has_another_order_for_each_stream_and_each_trial() -> None:
    def orders(seed: str) -> list[str]:
        streams = Streams(selected(*NAMES), seed)
        return [
            " ".join(workload.name for workload in order)
            for _ in range(5)
            for order in streams.next_orders().values()
        ]

    found = orders("7")
    assert found == orders("7") != orders("8")
    assert len(set(found)) > 8
    assert {" ".join(sorted(order.split())) for order in found} == {" ".join(sorted(NAMES[:-1]))}
