"""Each scheme has its storage; recorded answers of HDFS and QFS are read as the layouts they describe."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from datagen.filesystem import Directory
from datagen.observed_layout import StoredFile, stored_file
from datagen.storage import locate, namenode, qfs, storages
from datagen.storage.metaserver import Metaserver
from datagen.storage.namenode import Block, _ListedFile, block_at, silent_nodes, stored_files
from harness.base.errors import BadInput
from harness.model.layout import UNKNOWN, Layout

# The JSON of Hadoop's BlockLocation, without the fields that are not read.
BLOCK: dict[str, Any] = {
    "names": ["10.0.0.1:9866", "10.0.0.2:9866", "10.0.0.3:9866"],
    "offset": 0,
    "length": 3_000_000,
    "corrupt": False,
}
# The JSON of QFS's KfsFileAttr, without the fields that are not read.
STRIPED = {
    "filename": "part-00000.txt",
    "filesize": 491_878,
    "replication": 1,
    "striperType": 2,
    "numStripes": 6,
    "numRecoveryStripes": 3,
    "stripeSize": 65_536,
    "fileId": 64,
}
REPLICATED = STRIPED | {
    "replication": 3,
    "striperType": 1,
    "numStripes": 0,
    "numRecoveryStripes": 0,
    "stripeSize": 0,
}


@dataclass
class MetaserverOfOneFile:
    """A metaserver that knows one file."""

    chunks: Mapping[int, Sequence[str]] = field(default_factory=dict)

    def holders(self, file_id: int) -> Mapping[int, Sequence[str]]:
        assert file_id == STRIPED["fileId"]
        return self.chunks


def on_qfs(attributes: dict[str, object], chunks: Mapping[int, Sequence[str]]) -> StoredFile:
    return qfs._stored_file(attributes, cast("Metaserver", MetaserverOfOneFile(chunks)))


def on_hdfs(layout: str, *blocks: Block, silent: str = "") -> StoredFile:
    size = sum(block.bytes for block in blocks)
    holders = [(block.bytes, block.holders({silent})) for block in blocks]
    return stored_file(Layout.parse(layout), size, holders)


def test_each_scheme_has_its_storage() -> None:
    for scheme, storage in storages().items():
        assert storage.scheme == scheme
        assert type(storage).__module__ == f"datagen.storage.{storage.name}", (
            f"name the module of {scheme}: like its storage"
        )
    assert {"file", "hdfs", "qfs"} <= storages().keys()


class FakeDirectory:
    """A directory that exists only as its URI."""

    def __init__(self, _spark: object, uri: str) -> None:
        self.uri = uri


def located(monkeypatch: pytest.MonkeyPatch, uri: str, default: str) -> tuple[str, dict[str, str]]:
    """Return the URI that Hadoop is given, and its configuration, whose default file system this is."""
    conf = Conf()
    default_uri = SimpleNamespace(toString=lambda: default)
    hadoop = SimpleNamespace(fs=SimpleNamespace(FileSystem=SimpleNamespace()))
    hadoop.fs.FileSystem.getDefaultUri = lambda _conf: default_uri
    jvm = SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(hadoop=hadoop)))
    context = SimpleNamespace(hadoopConfiguration=lambda: conf)
    monkeypatch.setattr("datagen.storage.scala_context", lambda _: context)
    monkeypatch.setattr("datagen.storage.java_packages", lambda _: jvm)
    monkeypatch.setattr("datagen.storage.Directory", FakeDirectory)
    monkeypatch.setattr("datagen.storage.s3a.S3.check_available", lambda *_: None)
    directory, _ = locate(cast("SparkSession", None), uri)
    return directory.uri, conf


class Conf(dict[str, str]):
    set = dict.__setitem__


@pytest.mark.parametrize(
    ("uri", "given"),
    [
        ("FILE:/rows", "file:/rows"),
        (" file:///rows", "file:///rows"),
        ("s3a://bucket", "s3a://bucket/"),
        ("rows", "rows"),
    ],
)
def test_hadoop_is_given_the_scheme_that_it_knows(
    uri: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert located(monkeypatch, uri, "file:///")[0] == given


def test_a_name_without_a_scheme_gets_the_settings_of_the_default_file_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_scheme = located(monkeypatch, "s3a://bucket/rows", "file:///")[1]
    assert with_scheme == {"fs.s3a.input.stream.type": "classic"}
    assert located(monkeypatch, "/rows", "s3a://bucket")[1] == with_scheme


@pytest.mark.parametrize("host", ["127.0.0.1", "no..name"])
def test_a_default_file_system_that_does_not_answer_is_named(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadInput, match=f"^hdfs://{host}:1: nothing answers at {host}, port 1"):
        located(monkeypatch, "rows", f"hdfs://{host}:1")


def test_hdfs_lists_the_nodes_of_a_block() -> None:
    assert block_at(BLOCK) == Block(3_000_000, tuple(BLOCK["names"]))
    file = on_hdfs("replicated:2", block_at(BLOCK), block_at(BLOCK | {"length": 5}))
    assert (file.missing, file.excess) == (0, 2)
    assert file.placement == dict.fromkeys(BLOCK["names"], 3_000_005)


def test_nodes_with_corrupt_copies_do_not_count() -> None:
    assert on_hdfs("replicated:3", block_at(BLOCK | {"corrupt": True})).missing == 3


def test_hdfs_lists_the_nodes_of_stripes_in_the_order_of_the_indices() -> None:
    block = block_at(BLOCK, (0, 2, 2))
    file = on_hdfs("xor:2+1:1m", block)
    assert (file.missing, file.excess) == (1, 1)
    parity = 2**20 + (3_000_000 - 2 * 2**20)  # as long as the first stripe
    assert file.placement == dict.fromkeys(BLOCK["names"], parity)


def test_a_copy_on_a_silent_node_is_missing() -> None:
    heartbeats = {"a": 100_000, "b": 100_000 - 30_000, "c": 100_000 - 30_001}
    assert silent_nodes(heartbeats) == {"c"}
    assert silent_nodes({}) == frozenset()
    block = block_at(BLOCK)
    assert on_hdfs("replicated:3", block, silent=block.nodes[0]).missing == 1
    striped = block_at(BLOCK, (0, 1, 2))
    assert on_hdfs("xor:2+1:1m", striped, silent=block.nodes[0]).missing == 1


@pytest.mark.parametrize(
    ("last_at_s", "missing"),
    [
        ({}, 0),  # all nodes are alive
        ({"a": -31.0}, 3),  # silent before the first part of the listing
        ({"d": 8.0}, 1),  # silent before the part that lists it first
    ],
)
def test_a_node_in_a_later_part_of_a_listing_makes_no_other_node_silent(
    last_at_s: Mapping[str, float], missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first heartbeat that is seen is much later than those of nodes in earlier parts."""
    parts = {0.0: "abc", 20.0: "abc", 40.0: "abd"}
    now_s = 1_000.0

    def list_files(*_: object) -> Iterator[_ListedFile]:
        nonlocal now_s
        for passed_s, nodes in parts.items():
            now_s = 1_000.0 + passed_s
            heartbeats = {node: last_at_s.get(node, passed_s) for node in nodes}
            block = Block(5, tuple(nodes))
            yield _ListedFile(
                f"file-{passed_s}", 5, Layout.parse("replicated:3"), [block], heartbeats
            )

    def last_heartbeats(status: Mapping[str, float]) -> dict[str, int]:
        return {node: round(1000 * at_s) for node, at_s in status.items()}

    monkeypatch.setattr(namenode, "_list_files", list_files)
    monkeypatch.setattr(namenode, "_last_heartbeats", last_heartbeats)
    monkeypatch.setattr(namenode, "time", SimpleNamespace(monotonic=lambda: now_s))
    found = stored_files(cast("Directory", None), ())
    assert sum(file.missing for file in found.values()) == missing


def test_an_unknown_layout_has_no_placement() -> None:
    assert on_hdfs("unknown", block_at(BLOCK, (0, 1, 2))) == StoredFile(UNKNOWN, 3_000_000)


@pytest.mark.parametrize(
    ("attributes", "layout"),
    [
        (STRIPED, "rs:6+3:64k"),
        (STRIPED | {"striperType": 3, "numStripes": 10, "numRecoveryStripes": 4}, "rs:10+4:64k"),
        (REPLICATED, "replicated:3"),
        (REPLICATED | {"replication": 1}, "replicated:1"),
        # No text form describes these.
        (STRIPED | {"numRecoveryStripes": 0}, "unknown"),
        (STRIPED | {"replication": 2}, "unknown"),
        (STRIPED | {"striperType": 0}, "unknown"),
    ],
)
def test_the_attributes_of_a_file_on_qfs_give_its_layout(
    attributes: dict[str, object], layout: str
) -> None:
    assert str(qfs._layout(attributes)) == layout


def test_a_chunk_of_a_striped_file_on_qfs_without_a_server_is_missing() -> None:
    chunks = {index: [f"server-{index % 4}"] for index in range(9)}
    whole = on_qfs(STRIPED, chunks)
    assert (whole.layout, whole.missing) == (Layout.parse("rs:6+3:64k"), 0)
    assert sum(whole.placement.values()) == 491_878 + 3 * 2 * 65_536
    assert on_qfs(STRIPED, chunks | {7: []}).missing == 1


def test_a_file_on_qfs_shorter_than_a_cell_has_one_data_stripe_and_its_parity() -> None:
    small = STRIPED | {"filesize": 6}
    file = on_qfs(small, {0: ["a"], 6: ["b"], 7: ["c"], 8: ["d"]})
    assert file.missing == 0
    assert file.placement == {"a": 6, "b": 6, "c": 6, "d": 6}


def test_a_long_striped_file_on_qfs_has_a_second_group() -> None:
    long = STRIPED | {"filesize": 6 * 64 * 2**20 + 1}
    chunks = {index: ["a"] for index in [*range(9), 9, 15, 16, 17]}
    assert on_qfs(long, chunks).missing == 0
    assert on_qfs(long, {k: v for k, v in chunks.items() if k != 15}).missing == 1


def test_a_replicated_file_on_qfs_with_too_few_servers_has_missing_copies() -> None:
    file = on_qfs(REPLICATED, {0: ["a", "b"]})
    assert (file.layout, file.missing) == (Layout.parse("replicated:3"), 1)
    assert file.placement == {"a": 491_878, "b": 491_878}


def test_an_empty_file_on_qfs_has_no_chunks_but_a_layout() -> None:
    assert on_qfs(STRIPED | {"filesize": 0}, {}) == StoredFile(Layout.parse("rs:6+3:64k"), 0)
