"""On a real QFS, a dataset has the requested layout, or it is not one: the Hadoop shim misleads."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from datagen.dataset import open_dataset
from datagen.filesystem import Directory
from datagen.storage import qfs as qfs_storage
from datagen.storage.metaserver import Metaserver
from harness.base.errors import BadInput, ClusterliftError
from harness.minicluster.cluster import Cluster
from harness.minicluster.lifecycle import running
from harness.minicluster.qfs import QfsCluster
from tests.daemons import kill
from tests.unit.builders import known
from tests.waiting import eventually

from .attack import attack
from .conftest import CLUSTER_ROWS, RunOn, Write

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.qfs,
    pytest.mark.skipif("QFS_HOME" not in os.environ, reason="QFS_HOME is not set: there is no QFS"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running(QfsCluster(), 4) as cluster:
        yield cluster


def tool(name: str, *arguments: str) -> str:
    """Return what one of QFS's own tools prints."""
    home = Path(os.environ["QFS_HOME"])
    program = home / "bin/tools" / name
    environment = os.environ | {"LD_LIBRARY_PATH": str(home / "lib")}
    done = subprocess.run(
        [program, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize(
    ("requested", "observed"),
    [
        ("rs:6+3", "rs:6+3:64k"),
        ("rs:6+3:64k", "rs:6+3:64k"),
        ("replicated:1", "replicated:1"),
        ("replicated:2", "replicated:2"),
        ("replicated:3", "replicated:3"),
        (None, "rs:6+3:64k"),
    ],
)
def test_every_file_has_the_requested_layout(
    write_layout: Write, spark: SparkSession, requested: str | None, observed: str
) -> None:
    dataset = write_layout(requested)
    assert str(dataset.manifest.observed_layout) == observed
    layout = known(dataset.manifest.observed_layout)
    if layout.parity:
        assert dataset.stored.coder == "native"
    else:
        assert dataset.stored.stored_bytes == layout.data * dataset.manifest.bytes
    assert open_dataset(spark, dataset.uri).stored == dataset.stored
    assert dataset.frame(spark).count() == CLUSTER_ROWS


def test_what_others_put_there_stays_and_what_we_left_goes(
    write_layout: Write, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack(spark, write_layout, "replicated:2", monkeypatch)


@pytest.mark.parametrize("requested", ["rs:6+3", "replicated:3"])
def test_qfs_own_tools_report_the_same(
    write_layout: Write, requested: str, cluster: Cluster
) -> None:
    dataset = write_layout(requested, files=2)
    host, port = "127.0.0.1", str(cluster.ports[0])
    path = dataset.uri.removeprefix(cluster.uri)
    stat = tool("qfs", "-fs", cluster.uri, "-astat", f"{path}/part-*")
    reported = {
        (int(copies), int(data), int(parity))
        for copies, data, parity in re.findall(
            r"Replicas:\s+(\d+)\nData stripes:\s+(\d+)\nRecovery stripes:\s+(\d+)", stat
        )
    }
    assert reported == ({(1, 6, 3)} if requested.startswith("rs") else {(3, 0, 0)})
    for name, file in dataset.stored.files.items():
        chunks = tool("qfsfileenum", "-s", host, "-p", port, f"{path}/{name}")
        servers: dict[str, int] = {}
        for size, server, its_port in re.findall(r"size:\s+(\d+) location:\s+(\S+) (\d+)", chunks):
            node = f"{server}:{its_port}"
            servers[node] = servers.get(node, 0) + int(size)
        assert servers == file.placement


@pytest.mark.parametrize("params", ["3", "S", "1,6,3,65536,2", "foo"])
def test_two_copies_fail_another_request_whatever_the_shims_option_is(
    write_layout: Write, spark: SparkSession, uri: str, monkeypatch: pytest.MonkeyPatch, params: str
) -> None:
    """Every value stores 2 copies, without an error."""

    def set_params(*_: object) -> Mapping[str, str]:
        return {qfs_storage.PARAMS: params, "fs.qfs.impl.disable.cache": "true"}

    requested = "replicated:3" if params == "3" else "rs:6+3"
    monkeypatch.setattr(qfs_storage.Qfs, "prepare", set_params)
    monkeypatch.setattr(qfs_storage.Qfs, "finish", lambda *_: None)
    with pytest.raises(
        ClusterliftError,
        match=r"requested, but of 3 files, 3 are replicated:2 \(first: part-.*\) "
        r"\(QFS's Hadoop shim stores 2 copies if fs.qfs.createParams is set",
    ):
        write_layout(requested)
    assert not Directory(spark, uri).exists()


def test_reed_solomon_fails_a_request_for_copies(
    write_layout: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mistake that this project was made for: dfs.replication has no effect."""
    properties = {"fs.qfs.impl.disable.cache": "true", "dfs.replication": "2"}
    monkeypatch.setattr(qfs_storage.Qfs, "prepare", lambda *_: properties)
    with pytest.raises(
        ClusterliftError,
        match=r"layout replicated:2 was requested, but of 3 files, 3 are rs:6\+3:64k .*"
        "stores Reed-Solomon if fs.qfs.createParams is not set",
    ):
        write_layout("replicated:2")


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ("replicated:5", "needs 5 chunk servers, and .* has 4"),
        ("rs:4+2", r"QFS stores rs:6\+3:64k or replicated:N; no other layout"),
        ("rs:6+3:1m", r"QFS stores rs:6\+3:64k or replicated:N; no other layout"),
        ("xor:2+1", r"QFS stores rs:6\+3:64k or replicated:N; no other layout"),
    ],
)
def test_an_impossible_layout_is_refused_before_anything_is_written(
    write_layout: Write, spark: SparkSession, uri: str, requested: str, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        write_layout(requested)
    assert not Directory(spark, uri).exists()


def test_reed_solomon_is_refused_if_the_shims_option_is_set(
    write_layout: Write, spark: SparkSession, uri: str
) -> None:
    conf = Directory(spark, uri).conf
    conf.set(qfs_storage.PARAMS, "S")
    try:
        with pytest.raises(BadInput, match=r"fs.qfs.createParams is set to 'S'; .* replicated:2"):
            write_layout("rs:6+3")
        assert str(write_layout("replicated:2").manifest.observed_layout) == "replicated:2"
    finally:
        conf.unset(qfs_storage.PARAMS)


def test_a_changed_number_of_copies_is_noticed(write_layout: Write, spark: SparkSession) -> None:
    dataset = write_layout("replicated:2")
    name = min(dataset.manifest.files)
    dataset.directory.fs.setReplication(dataset.directory.child(name), 3)
    with pytest.raises(BadInput, match=r"of 3 files, 1 are replicated:3 \(first: part-"):
        open_dataset(spark, dataset.uri)
    accepted = open_dataset(spark, dataset.uri, accept_layout_drift=True)
    assert accepted.as_facts()["layout"]["observed"] == "replicated:2, replicated:3"


@pytest.mark.parametrize("layout", ["rs:6+3:64k", "replicated:2", "replicated:3"])
def test_what_a_workload_writes_is_stored_like_the_dataset(
    write_layout: Write, run_on: RunOn, spark: SparkSession, layout: str
) -> None:
    dataset = write_layout(layout)
    for trial in run_on(dataset, "write,sort-write").trials:
        assert trial.written is not None, trial.error
        assert trial.written.layout == layout
        ratio = known(trial.written.stored_bytes) / trial.written.data_bytes
        of_dataset = known(dataset.stored.stored_bytes) / dataset.manifest.bytes
        assert ratio == pytest.approx(of_dataset, rel=0.1)
    assert not Directory(spark, f"{dataset.uri}.written").exists()


def test_observing_repeatedly_opens_no_more_files(write_layout: Write, spark: SparkSession) -> None:
    dataset = write_layout("replicated:2")
    java = known(spark._jvm).java.lang.ProcessHandle.current().pid()

    def open_files() -> int:
        return len(list(Path(f"/proc/{java}/fd").iterdir()))

    before = open_files()
    for _ in range(20):
        open_dataset(spark, dataset.uri)
    assert open_files() <= before + 10


def test_the_use_of_the_page_cache_is_recorded(write_layout: Write, cluster: Cluster) -> None:
    with Metaserver("127.0.0.1", cluster.ports[0]) as metaserver:
        assert metaserver.servers_up() == 4
        assert metaserver.buffered_io() is False
    assert write_layout("replicated:2").as_facts()["page_cache"] is False


def test_a_lost_chunk_server_is_noticed(
    write_layout: Write, spark: SparkSession, cluster: Cluster
) -> None:
    """The last test of this cluster: it kills a chunk server."""
    dataset = write_layout("rs:6+3")
    kill(cluster.directory, "chunkserver-1")
    with Metaserver("127.0.0.1", cluster.ports[0]) as metaserver:
        eventually(lambda: metaserver.servers_up() == 3)  # files are looked at one after the other
    with pytest.raises(BadInput, match=r"3 lack \d+ copies or stripes .*chunk server may be down"):
        open_dataset(spark, dataset.uri)
