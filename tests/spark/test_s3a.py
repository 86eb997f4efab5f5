"""On a real Ceph, through its gateway and S3A, a dataset has the layout of its pool, or it is not one."""

import shutil
from collections.abc import Iterator
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from datagen.dataset import open_dataset, verify_content
from datagen.filesystem import Directory
from datagen.manifest import FILE_NAME
from datagen.marker import MARKER
from datagen.recipe import Recipe
from datagen.spark import scala_context
from datagen.writer import Request, write_dataset
from harness.base.errors import BadInput, ClusterliftError
from harness.minicluster.ceph import CephCluster
from harness.minicluster.cluster import Cluster
from harness.minicluster.lifecycle import running
from harness.model.layout import Layout
from tests.daemons import kill
from tests.waiting import eventually

from .attack import attack
from .conftest import CLUSTER_ROWS, RunOn, Write

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.skipif(shutil.which("ceph-osd") is None, reason="no ceph-osd is on the PATH"),
]

OSDS = 4
CLASS = "fs.s3a.create.storage.class"


@pytest.fixture(scope="module")
def cluster(spark: SparkSession) -> Iterator[Cluster]:
    layouts = [Layout.parse("rs:2+1"), Layout.parse("replicated:2")]
    # Each group is asked twice for each observation, which takes half a second of a processor.
    service = CephCluster(layouts, groups=2)
    with running(service, OSDS) as cluster:
        service.create_buckets(cluster)
        conf = scala_context(spark).hadoopConfiguration()
        properties = (cluster.conf_directory / "spark-defaults.conf").read_text().splitlines()
        for name, value in (line.split(maxsplit=1) for line in properties if "s3a." in line):
            conf.set(name.removeprefix("spark.hadoop."), value)
        yield cluster


@pytest.fixture
def uri(cluster: Cluster) -> str:
    assert cluster.servers == OSDS
    return f"s3a://rs-2-1/bench/{uuid4()}"


def test_a_dataset_is_written_proven_reused_and_replaced(
    write_layout: Write, spark: SparkSession, uri: str
) -> None:
    first = write_layout("rs:2+1")
    assert (first.uri, str(first.stored.layout), first.stored.missing) == (uri, "rs:2+1:4k", 0)
    # Ceph fills the last row of cells.
    assert 1.5 <= sum(first.stored.placement.values()) / first.manifest.bytes < 1.6
    assert first.stored.client["fs.s3a.input.stream.type"] == "classic"
    assert write_layout("rs:2+1", reuse=True).manifest == first.manifest
    with pytest.raises(BadInput, match="is a dataset already; --overwrite replaces it"):
        write_layout("rs:2+1")
    second = write_layout("rs:2+1", rows=100, overwrite=True)
    dataset = open_dataset(spark, uri)
    assert dataset.manifest == second.manifest
    assert dataset.manifest.recipe == Recipe(100)
    verify_content(spark, dataset)
    assert MARKER not in dataset.directory.entries()


def test_what_a_workload_writes_is_stored_like_the_dataset(
    write_layout: Write, run_on: RunOn, spark: SparkSession
) -> None:
    dataset = write_layout("rs:2+1")
    for trial in run_on(dataset, "write,sort-write").trials:
        assert trial.written is not None, trial.error
        assert trial.written.layout == "rs:2+1:4k"
        assert 1.5 <= (trial.written.stored_bytes or 0) / trial.written.data_bytes < 1.6
    assert not Directory(spark, f"{dataset.uri}.written").exists()
    assert open_dataset(spark, dataset.uri).manifest == dataset.manifest


def test_what_others_put_there_stays_and_what_we_left_goes(
    write_layout: Write, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack(spark, write_layout, "rs:2+1", monkeypatch)


def test_a_layout_that_the_pool_has_not_is_refused_before_anything_is_written(
    write_layout: Write, spark: SparkSession, uri: str
) -> None:
    with pytest.raises(
        BadInput, match=r"stores new objects of class STANDARD as rs:2\+1:4k; choose"
    ):
        write_layout("replicated:2")
    assert not Directory(spark, uri).exists()


def test_a_storage_class_that_s3a_does_not_know_is_refused(
    write_layout: Write, spark: SparkSession, uri: str
) -> None:
    conf = scala_context(spark).hadoopConfiguration()
    conf.set(CLASS, "THREE_COPIES")
    try:
        with pytest.raises(BadInput, match="S3A does not know: it would store the default"):
            write_layout("rs:2+1")
    finally:
        conf.unset(CLASS)
    assert not Directory(spark, uri).exists()


@pytest.mark.usefixtures("cluster")
def test_a_bucket_that_is_not_there_is_one_line(spark: SparkSession) -> None:
    with pytest.raises(
        BadInput, match=r"^s3a://absent/rows: there is no bucket absent, or the cred"
    ):
        open_dataset(spark, "s3a://absent/rows")


@pytest.mark.slow
def test_ceph_acknowledges_what_it_does_not_store_and_the_dataset_is_refused(
    write_layout: Write, spark: SparkSession, cluster: Cluster, uri: str
) -> None:
    """The last test: an OSD is dead afterwards."""
    holder = min(write_layout("rs:2+1", rows=CLUSTER_ROWS).stored.placement)
    kill(cluster.directory, holder.replace(".", "-"))

    def is_found() -> bool:
        try:
            open_dataset(spark, uri)
        except BadInput as error:
            return "lack" in str(error) and "an OSD may be down" in str(error)
        return False

    eventually(is_found, "the OSD's stripes are not missed", seconds=300)
    assert open_dataset(spark, uri, accept_layout_drift=True).frame(spark).count() == CLUSTER_ROWS
    layout = Layout.parse("rs:2+1")
    request = Request(
        uri, Recipe(CLUSTER_ROWS), None, 12, layout=layout, overwrite=True, patience_s=0
    )
    with pytest.raises(
        ClusterliftError, match=r"is not accepted: layout rs:2\+1:4k was requested, but .* lack"
    ):
        write_dataset(spark, request)
    assert not Directory(spark, uri).has(FILE_NAME)
