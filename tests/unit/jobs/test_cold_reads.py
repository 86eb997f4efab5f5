"""Which disks a trial counts, and who drops what it reads before it."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from datagen.observed_layout import StoredFile, StoredFiles
from harness.base.errors import BadInput
from harness.model.layout import Layout
from harness.model.run import InputReader
from harness.model.task_metrics import PackedInput
from harness.node.block_devices import MEMORY, PAGE_CACHE, ZFS, Holder, Mount
from jobs import cold_reads
from jobs.cold_reads import ColdReads, InputSource, input_source
from jobs.executors import NodeAnswers

SPARK: Any = None


@pytest.fixture(autouse=True)
def _two_executors_and_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold_reads, "executors", lambda _: ["203.0.113.1", "203.0.113.2"])
    numeric = partial(socket.getaddrinfo, flags=socket.AI_NUMERICHOST)
    monkeypatch.setattr("jobs.cold_reads.socket.getaddrinfo", numeric)
    monkeypatch.setattr(cold_reads, "run_on_nodes", on_two_nodes)
    monkeypatch.setattr(cold_reads, "may_compress", lambda: False)
    monkeypatch.setattr(cold_reads, "have_packed", lambda _: False)


def on_two_nodes(_: Any, function: Callable[[], Any]) -> NodeAnswers[Any]:
    return NodeAnswers({"a": ("n1", function()), "b": ("n2", function())}, {}, {})


def a_dataset(*nodes: str, scheme: str = "hdfs", **stored: Any) -> Any:
    file = StoredFile(Layout.parse("replicated:1"), 9, dict.fromkeys(nodes, 9))
    uri = SimpleNamespace(getPath=lambda: "/d")
    return SimpleNamespace(
        directory=SimpleNamespace(scheme=scheme, path=SimpleNamespace(toUri=lambda: uri)),
        stored=StoredFiles({"part-0": file}, addresses={"osd.1": "203.0.113.2:6801/7"}, **stored),
    )


@pytest.mark.parametrize(
    ("nodes", "counted"),
    [
        (["203.0.113.1:9866", "203.0.113.2:9866"], True),
        (["203.0.113.1:9866", "203.0.113.3:9866"], False),
        (["127.0.0.1:9866", "203.0.113.2:9866"], True),  # the driver's node
        (["http://203.0.113.1:9000/data1"], True),
        (["osd.1"], True),
        (["osd.2"], False),
        ([], False),
    ],
)
def test_disks_are_counted_if_all_nodes_that_store_the_data_are(
    nodes: list[str], *, counted: bool
) -> None:
    source = input_source(SPARK, [a_dataset(*nodes)])
    assert source == InputSource(InputReader.STORAGE if counted else None)


ON_DISK = InputSource(InputReader.APPLICATION, paths=("/d/part-0",))
LOCAL = {
    "a disk": ("ext4", (), ON_DISK),
    "files in memory, which never count as read": (
        "tmpfs",
        (Holder(MEMORY, "tmpfs"),),
        ON_DISK,
    ),
    "a server": ("nfs4", (), InputSource()),
    "not mounted": ("", (), InputSource()),
    "memory as a disk": ("ext4", (Holder(MEMORY, "zram0"),), "zram0"),
    "an overlay on memory": ("overlay", (Holder(MEMORY, "tmpfs"),), "tmpfs"),
    "a disk that is a file in the page cache": ("xfs", (Holder(PAGE_CACHE, "loop3"),), "loop3"),
    "ZFS": ("zfs", (Holder(ZFS, "tank/d"),), InputSource(InputReader.STORAGE, is_packed=True)),
}


@pytest.mark.parametrize("case", LOCAL)
def test_local_files_are_on_disks_that_count_unless_a_server_or_memory_has_them(
    monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    type_, holders, expected = LOCAL[case]
    mount = Mount("", "8:1", type_, "/dev/sda1", "rw") if type_ else None
    monkeypatch.setattr(cold_reads, "mount_of", lambda _: mount)
    monkeypatch.setattr(cold_reads, "holders_of", lambda _: iter(holders))
    if isinstance(expected, str):
        expected = InputSource(in_memory=f"/d is in memory ({expected})")
    assert input_source(SPARK, [a_dataset(scheme="file")]) == expected


def test_behind_daemons_disks_may_have_fewer_bytes_if_a_node_can_compress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cold_reads, "may_compress", lambda: True)
    source = input_source(SPARK, [a_dataset("203.0.113.1:1")])
    assert source == InputSource(InputReader.STORAGE, is_packed=True)
    assert source.packed_input(SPARK) == PackedInput()


@pytest.mark.parametrize(
    ("source", "found", "expected"),
    [
        (InputSource(InputReader.APPLICATION, paths=("/d/a",)), (5, 7), None),
        (InputSource(InputReader.APPLICATION, is_packed=True, paths=("/d/a",)), (5, 7), PackedInput(10, 14)),
        (InputSource(InputReader.APPLICATION, is_packed=True, paths=("/d/a",)), None, PackedInput()),
        (InputSource(InputReader.APPLICATION, is_packed=True, paths=("/d/a",)), (0, 0), PackedInput()),
    ],
    ids=["disks have all bytes", "two nodes have them", "not told", "no node has them"],
)  # fmt: skip
def test_the_page_caches_are_asked_for_files_that_are_packed(
    monkeypatch: pytest.MonkeyPatch,
    source: InputSource,
    found: tuple[int, int] | None,
    expected: PackedInput | None,
) -> None:
    monkeypatch.setattr(cold_reads, "in_memory", lambda _: found)
    assert source.packed_input(SPARK) == expected


@pytest.mark.parametrize("answer", [False, (0, 9)], ids=["may compress", "is in memory"])
def test_of_a_silent_node_it_is_unknown_whether_files_are_packed_and_in_memory(
    monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    silent: NodeAnswers[Any] = NodeAnswers({"a": ("n1", answer)}, {}, {"n2": "it was lost"})
    monkeypatch.setattr(cold_reads, "run_on_nodes", lambda *_: silent)
    if answer is False:
        assert input_source(SPARK, [a_dataset("203.0.113.1:1")]).is_packed
    else:
        source = InputSource(InputReader.APPLICATION, is_packed=True, paths=("/d/a",))
        assert source.packed_input(SPARK) == PackedInput()


def refused() -> None:
    raise BadInput("`ceph tell` fails")


@pytest.mark.parametrize(
    ("answer", "experiment", "page_cache", "failure", "asked"),
    [
        (lambda: lambda: "", False, None, None, "storage nodes experiment"),
        (lambda: lambda: "denied", False, None, "n2: denied", "storage nodes experiment"),
        (lambda: lambda: "denied", True, None, None, "storage nodes experiment"),
        (lambda: None, False, None, None, "storage experiment"),
        (refused, False, None, "`ceph tell` fails", "storage experiment"),
        (lambda: lambda: "denied", False, False, None, "experiment"),
    ],
    ids=[
        "all drop it", "a node may not", "then an experiment does", "nodes have nothing to do",
        "the storage does not", "nodes read past the page cache",
    ],
)  # fmt: skip
def test_storage_nodes_and_experiment_drop_what_a_trial_reads(
    monkeypatch: pytest.MonkeyPatch,
    answer: Callable[[], Any],
    failure: str | None,
    asked: str,
    *,
    experiment: bool,
    page_cache: bool | None,
) -> None:
    calls: list[str] = []

    def drop_cached(*_: Any) -> Any:
        calls.append("storage")
        return answer()

    def run_on_nodes(_: Any, drop: Callable[[], str]) -> Any:
        calls.append("nodes")
        return NodeAnswers({"a": ("n1", ""), "b": ("n2", drop())}, {}, {})

    def wait_for_release(_: str) -> bool:
        calls.append("experiment")
        return experiment

    storage = SimpleNamespace(drop_cached=drop_cached)
    monkeypatch.setattr(cold_reads, "storages", lambda: {"hdfs": storage})
    monkeypatch.setattr(cold_reads, "run_on_nodes", run_on_nodes)
    monkeypatch.setattr(cold_reads, "wait_for_release", wait_for_release)
    reads = ColdReads(SPARK, [a_dataset("n1", page_cache=page_cache)])
    reads.drop()
    assert (reads.failure, " ".join(calls)) == (failure, asked)


def test_a_node_that_does_not_answer_may_have_kept_what_a_trial_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = SimpleNamespace(drop_cached=lambda *_: lambda: "")
    answers = NodeAnswers({"a": ("n1", "")}, {}, {"n2": "it was busy"})
    monkeypatch.setattr(cold_reads, "storages", lambda: {"hdfs": storage})
    monkeypatch.setattr(cold_reads, "run_on_nodes", lambda *_: answers)
    reads = ColdReads(SPARK, [a_dataset("203.0.113.1:1")])
    reads.drop()
    assert reads.failure == "n2 did not answer: it was busy"


def test_of_several_places_every_one_is_dropped_and_all_have_to_be_counted_by_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped: list[str] = []

    def drop_cached(_: Any, files: Sequence[str]) -> Callable[[], str]:
        def drop() -> str:
            dropped.extend(files)
            return "denied"

        return drop

    storage = SimpleNamespace(drop_cached=drop_cached)
    monkeypatch.setattr(cold_reads, "storages", lambda: {"hdfs": storage})
    answers = NodeAnswers({"a": ("n1", "")}, {}, {})

    def run_on_nodes(_: Any, drop: Callable[[], str]) -> NodeAnswers[str]:
        return replace(answers, found={"a": ("n1", drop())})

    monkeypatch.setattr(cold_reads, "run_on_nodes", run_on_nodes)
    reads = ColdReads(SPARK, [a_dataset("203.0.113.1:1"), a_dataset("203.0.113.9:1")])
    reads.drop()
    assert (len(dropped), reads.failure) == (2, "n1: denied")
    monkeypatch.setattr(cold_reads, "run_on_nodes", on_two_nodes)
    assert input_source(SPARK, [reads.places[0]] * 2).reader is InputReader.STORAGE
    assert input_source(SPARK, reads.places).reader is None
    assert input_source(SPARK, []) == InputSource()
