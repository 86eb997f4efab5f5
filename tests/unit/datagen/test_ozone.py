"""What Ozone 2.2.0 answered about keys and containers is read as the layouts that it describes."""

from collections.abc import Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from datagen.observed_layout import StoredFile, StoredFiles
from datagen.storage.ozone import STORAGE, _replication, _stored_file
from harness.base.errors import BadInput
from harness.model.layout import Layout
from harness.model.spark_properties import recorded_ozone

CODED = {1: 46857, 2: 39949, 3: 44167, 4: 46139, 5: 41597}
"""Of a container of rs-3-2-1024k, the DataNodes by the index of their replica: the ports on 127.0.0.1."""
COPIES = [46857, 46139, 39949]


def java(text: object) -> Any:
    return SimpleNamespace(toString=lambda: str(text))


def replication(text: str) -> Any:
    """Return Ozone's ReplicationConfig: `RATIS 3` or `rs-3-2-1024k`."""
    if text.startswith("RATIS"):
        copies = int(text.split()[1])
        return SimpleNamespace(
            getReplicationType=lambda: java("RATIS"), getRequiredNodes=lambda: copies
        )
    codec, data, parity, size = text.removesuffix("k").split("-")
    return SimpleNamespace(
        getReplicationType=lambda: java("EC"),
        getCodec=lambda: java(codec.upper()),
        getData=lambda: int(data),
        getParity=lambda: int(parity),
        getEcChunkSize=lambda: int(size) * 1024,
    )


def node(port: int, index: int) -> Any:
    ports = SimpleNamespace(getValue=lambda: port)
    return SimpleNamespace(
        getIpAddress=lambda: "127.0.0.1", getStandalonePort=lambda: ports, index=index
    )


def stored(text: str, length: int, nodes: list[Any]) -> StoredFile:
    """Return how a key is stored that has one block, in a container on these nodes."""
    pipeline = SimpleNamespace(getNodes=lambda: nodes, getReplicaIndex=lambda found: found.index)
    block = SimpleNamespace(
        getContainerID=lambda: 3, getLength=lambda: length, getPipeline=lambda: pipeline
    )
    blocks = SimpleNamespace(getBlocksLatestVersionOnly=lambda: [block])
    key = SimpleNamespace(
        getReplicationConfig=lambda: replication(text),
        getDataSize=lambda: length,
        getLatestVersionLocations=lambda: blocks,
    )
    return _stored_file(key, {})


def test_the_stripes_of_a_coded_key_are_at_the_replicas_of_its_container() -> None:
    file = stored("rs-3-2-1024k", 5_000_000, [node(port, index) for index, port in CODED.items()])
    assert (str(file.layout), file.missing, file.excess) == ("rs:3+2:1m", 0, 0)
    # Two rows of cells: the first stripe, and with it the parity, has 2 MiB.
    assert file.placement["127.0.0.1:46857"] == file.placement["127.0.0.1:41597"] == 2 * 2**20
    assert sum(file.placement.values()) == 5_000_000 + 2 * 2 * 2**20


def test_a_stripe_that_was_lost_with_its_datanode_is_missing() -> None:
    """Ozone called this container HEALTHY."""
    left = [node(port, index) for index, port in CODED.items() if index != 3]
    file = stored("rs-3-2-1024k", 5_000_000, left)
    assert (str(file.layout), file.missing) == ("rs:3+2:1m", 1)
    twice = [node(port, index) for index, port in CODED.items()] + [node(1, 5)]
    assert stored("rs-3-2-1024k", 5_000_000, twice).excess == 1


@pytest.mark.parametrize(
    ("copies", "ports", "missing", "excess"),
    [(3, COPIES, 0, 0), (3, COPIES[1:], 1, 0), (1, COPIES[:1], 0, 0), (1, COPIES, 0, 2)],
)
def test_copies_are_counted(copies: int, ports: list[int], missing: int, excess: int) -> None:
    file = stored(f"RATIS {copies}", 3000, [node(port, 0) for port in ports])
    assert file.layout == Layout.parse(f"replicated:{copies}")
    assert (file.missing, file.excess) == (missing, excess)
    assert file.placement == {f"127.0.0.1:{port}": 3000 for port in ports}


@pytest.mark.parametrize(
    ("layout", "requested"),
    [
        ("replicated:1", ("RATIS", "1")),
        ("replicated:3", ("RATIS", "3")),
        ("rs:3+2", ("EC", "rs-3-2-1024k")),
        ("rs:6+3:512k", ("EC", "rs-6-3-512k")),
        ("xor:2+1:1000", ("EC", "xor-2-1-1000")),
    ],
)
def test_a_layout_has_a_name_in_ozone(layout: str, requested: tuple[str, str]) -> None:
    assert _replication(Layout.parse(layout)) == requested


def directory(path: str, own: str | None, kind: str = "FILE_SYSTEM_OPTIMIZED") -> Any:
    """Return a directory in a bucket with this replication and this layout of its own."""
    layout = SimpleNamespace(
        toString=lambda: kind, isFileSystemOptimized=lambda: kind == "FILE_SYSTEM_OPTIMIZED"
    )
    bucket = SimpleNamespace(
        getReplicationConfig=lambda: own and replication(own), getBucketLayout=lambda: layout
    )
    store = SimpleNamespace(getVolume=lambda _: SimpleNamespace(getBucket=lambda _: bucket))
    adapter = SimpleNamespace(getObjectStore=lambda: store)
    return SimpleNamespace(
        uri=f"ofs://m:9862{path}",
        path=SimpleNamespace(toUri=lambda: SimpleNamespace(getPath=lambda: path)),
        fs=SimpleNamespace(getAdapter=lambda: adapter),
        parent=lambda: "the parent",
        errors_as_bad_input=lambda _="": nullcontext(),
    )


def test_an_erasure_coded_bucket_decides() -> None:
    coded = directory("/vol/coded/rows", "rs-3-2-512k")
    assert STORAGE.check_request(coded, None) is None
    assert str(STORAGE.check_request(coded, Layout.parse("rs:3+2"))) == "rs:3+2:512k"
    for other in ("replicated:3", "rs:6+3", "rs:3+2:1m"):
        with pytest.raises(
            BadInput, match=r"is rs:3\+2:512k, and overrides what a client asks for"
        ):
            STORAGE.check_request(coded, Layout.parse(other))
    with pytest.raises(BadInput, match="Ozone knows its layouts"):
        STORAGE.check_request(coded, Layout.parse("unknown"))


def test_a_directory_must_be_in_a_bucket() -> None:
    with pytest.raises(BadInput, match="is not in a bucket: name volume, bucket and directory"):
        STORAGE.check_available(directory("/vol", None))


@pytest.mark.parametrize(
    ("expected", "found", "missing", "reason"),
    [
        ("replicated:3", "rs:3+2:1m", 0, "an erasure coded bucket overrides a number of copies"),
        ("replicated:1", "replicated:3", 0, "three times if that is not set"),
        ("rs:3+2:1m", "replicated:3", 0, "as ozone.replication of the client says"),
        ("rs:3+2:1m", "rs:3+2:1m", 1, "healthState says HEALTHY even so"),
        ("rs:3+2:1m", "rs:3+2:1m", 0, ""),
    ],
)
def test_the_likely_reason_is_explained(
    expected: str, found: str, missing: int, reason: str
) -> None:
    files = StoredFiles({"part-00000": StoredFile(Layout.parse(found), 5, missing=missing)})
    text = STORAGE.explain(Layout.parse(expected), files)
    assert reason in text
    assert bool(reason) == bool(text)


def test_of_the_client_what_affects_reading_is_recorded() -> None:
    in_force: Mapping[str, str | None] = {
        "ozone.client.verify.checksum": "true",
        "ozone.client.read.timeout": None,
        "ozone.om.kerberos.keytab.file": "/hunter2",
    }
    assert recorded_ozone(in_force) == {"ozone.client.verify.checksum": "true"}
