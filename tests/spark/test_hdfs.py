"""On a real HDFS, a dataset has the requested layout, or it is not a dataset."""

import dataclasses
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from datagen import written
from datagen.dataset import Dataset, open_dataset
from datagen.destination import Destination, destination_beside
from datagen.filesystem import Directory
from datagen.manifest import FILE_NAME
from datagen.marker import MARKER, Marker
from datagen.observed_layout import StoredFiles
from datagen.recipe import Recipe
from datagen.storage import hdfs as hdfs_storage
from datagen.storage import locate, namenode
from datagen.table import open_table
from datagen.writer import Request, write_dataset
from datagen.written import PURPOSE
from harness.base.errors import BadInput, ClusterliftError
from harness.minicluster.cluster import Cluster
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.lifecycle import running
from harness.model.cache import disk_share
from harness.model.layout import Layout
from harness.model.run import InputReader
from harness.model.task_metrics import WrittenBytes
from tests.daemons import kill
from tests.disks import require_counted_disk
from tests.jvm import COLD_JVM
from tests.unit.builders import known
from tests.waiting import eventually

from .attack import attack
from .conftest import CLUSTER_ROWS, RunOn, Write

pytestmark = pytest.mark.daemons

DATANODES = 5


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", COLD_JVM)
        with running(HdfsCluster(), DATANODES) as cluster:
            yield cluster


def rewrite_with_copies(dataset: Dataset, copies: int) -> str:
    """Replace a file of a dataset by one with another number of copies, and return its name."""
    directory, name = dataset.directory, min(dataset.manifest.files)
    content = bytes(directory.fs.open(directory.child(name)).readAllBytes())
    buffer, block = 4096, 128 * 2**20
    stream = directory.fs.create(directory.child(name), True, buffer, copies, block)  # noqa: FBT003  Java's signature
    stream.write(bytearray(content))
    stream.close()
    return name


def write_by_hand(directory: Directory) -> None:
    """Write a file of more than two cells. For a while, HDFS may still offer nodes that are dead."""

    def written() -> bool:
        try:
            directory.create_file("part-0", "x" * (5 * 2**19), overwrite=True)
        except BadInput:
            directory.delete("part-0")
            return False
        return True

    eventually(written, "HDFS accepted a file")


@pytest.mark.parametrize(
    ("requested", "observed", "per_byte"),
    [
        ("replicated:1", "replicated:1", 1),
        ("replicated:2", "replicated:2", 2),
        ("replicated:3", "replicated:3", 3),
        ("xor:2+1", "xor:2+1:1m", 2),  # each file is shorter than a cell, so its parity is as long
        ("rs:3+2", "rs:3+2:1m", 3),
    ],
)
def test_every_file_has_the_requested_layout(
    write_layout: Write, spark: SparkSession, requested: str, observed: str, per_byte: int
) -> None:
    dataset = write_layout(requested)
    assert str(dataset.manifest.requested_layout) == observed
    assert str(dataset.manifest.observed_layout) == observed
    assert dataset.stored.stored_bytes == per_byte * dataset.manifest.bytes
    assert len(dataset.stored.files) == 3
    assert open_dataset(spark, dataset.uri).stored == dataset.stored
    assert dataset.frame(spark).count() == CLUSTER_ROWS


def test_parity_is_as_long_as_the_longest_stripe(write_layout: Write) -> None:
    dataset = write_layout("xor:2+1", rows=75_000, files=1)
    cell, length = 2**20, dataset.manifest.bytes
    assert 4 * cell < length < 5 * cell
    assert dataset.stored.stored_bytes == length + 2 * cell + min(cell, length - 4 * cell)
    assert len(dataset.stored.placement) == 3


def test_the_coder_is_recorded(write_layout: Write) -> None:
    assert write_layout("xor:2+1").as_facts()["coder"] in {"java", "native"}
    assert write_layout("replicated:1", overwrite=True).as_facts()["coder"] is None


def test_copies_are_stored_even_in_an_erasure_coded_directory(write_layout: Write) -> None:
    coded = write_layout("xor:2+1")
    replicated = write_layout("replicated:2", overwrite=True)
    assert replicated.uri == coded.uri
    assert str(replicated.manifest.observed_layout) == "replicated:2"


def test_a_dataset_with_the_requested_layout_is_reused(write_layout: Write) -> None:
    first = write_layout("rs:3+2", reuse=True)
    assert write_layout("rs:3+2", reuse=True).manifest == first.manifest
    with pytest.raises(BadInput, match="--overwrite replaces it"):
        write_layout("replicated:2", reuse=True)


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ("rs:6+3", r"--layout rs:6\+3:1m needs 9 DataNodes, and hdfs://.* has 5"),
        ("replicated:6", r"--layout replicated:6 needs 6 DataNodes, and hdfs://.* has 5"),
        ("rs:4+2", r"without such a policy; it has replicated:N, .*rs:3\+2:1m"),
        ("rs:3+2:64k", r"without such a policy; it has replicated:N, .*rs:3\+2:1m"),
        ("unknown", r"HDFS knows its layouts"),
    ],
)
def test_an_impossible_layout_is_refused_before_anything_is_written(
    write_layout: Write, spark: SparkSession, uri: str, requested: str, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        write_layout(requested)
    assert not Directory(spark, uri).exists()


def test_a_refused_request_enables_no_policy(
    write_layout: Write, spark: SparkSession, uri: str
) -> None:
    def enabled() -> set[str]:
        policies = Directory(spark, uri).fs.getAllErasureCodingPolicies()
        return {str(info.getPolicy().getName()) for info in policies if info.isEnabled()}

    before = enabled()
    with pytest.raises(BadInput, match="needs 14 DataNodes"):
        write_layout("rs:10+4")
    assert enabled() == before


def test_a_scheme_in_capitals_is_accepted(spark: SparkSession, uri: str) -> None:
    request = Request(uri.replace("hdfs", "HDFS"), Recipe(10), partitions=1)
    requested = dataclasses.replace(request, layout=Layout.parse("replicated:2"))
    assert str(write_dataset(spark, requested).manifest.observed_layout) == "replicated:2"


def test_a_dataset_that_hdfs_stores_in_another_layout_is_not_kept(
    write_layout: Write, spark: SparkSession, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdfs_storage.Hdfs, "prepare", lambda *_: {})
    with pytest.raises(
        ClusterliftError,
        match=r"is not accepted: layout replicated:2 was requested, but of 3 files, "
        r"3 are replicated:3 \(first: part-",
    ) as failure:
        write_layout("replicated:2")
    assert failure.value.exit_code == 1
    assert not Directory(spark, uri).exists()


def test_without_a_request_the_layout_is_that_of_the_directory_which_keeps_its_policies(
    write_layout: Write, spark: SparkSession, uri: str
) -> None:
    assert write_layout(None).as_facts()["layout"]["observed"] == "replicated:3"
    directory = Directory(spark, uri)
    directory.fs.setErasureCodingPolicy(directory.path, "XOR-2-1-1024k")
    directory.fs.setStoragePolicy(directory.path, "ALL_SSD")
    for _ in range(2):
        layout = write_layout(None, overwrite=True).as_facts()["layout"]
        assert (layout["requested"], layout["observed"]) == (None, "xor:2+1:1m")
        assert directory.fs.getStoragePolicy(directory.path).getName() == "ALL_SSD"


def test_a_run_records_how_its_dataset_is_stored(write_layout: Write, run_on: RunOn) -> None:
    dataset = write_layout("replicated:2")
    facts = run_on(dataset, "group-by").run.dataset or {}
    assert facts["layout"] == {
        "requested": "replicated:2",
        "observed": "replicated:2",
        "drift": None,
    }
    assert facts["stored_bytes"] == 2 * dataset.manifest.bytes
    assert facts["placement"] == dict(dataset.stored.placement)
    assert (facts["coder"], facts["page_cache"]) == (None, None)


def test_a_run_on_a_drifted_dataset_is_refused_or_records_the_drift(
    write_layout: Write, run_on: RunOn, tmp_path: Path
) -> None:
    dataset = write_layout("replicated:2")
    name = rewrite_with_copies(dataset, 3)
    drift = rf"of 3 files, 1 are replicated:3 \(first: {name}\)"
    with pytest.raises(BadInput, match=rf"replicated:2: {drift}.*--accept-layout-drift"):
        run_on(dataset, "group-by")
    assert not list(tmp_path.rglob("*.jsonl"))
    facts = run_on(dataset, "group-by", "--accept-layout-drift").run.dataset or {}
    assert facts["layout"]["requested"] == "replicated:2"
    assert facts["layout"]["observed"] == "replicated:2, replicated:3"
    assert re.match(drift, facts["layout"]["drift"])


@pytest.mark.parametrize(("layout", "per_byte"), [("replicated:2", 2), ("xor:2+1:1m", 2)])
def test_what_a_workload_writes_is_stored_like_the_dataset(
    write_layout: Write, run_on: RunOn, spark: SparkSession, layout: str, per_byte: int
) -> None:
    """Each file is shorter than a cell, so its parity is as long."""
    dataset = write_layout(layout)
    run = run_on(dataset, "write,sort-write")
    for trial in run.trials:
        assert trial.written is not None, trial.error
        assert trial.written.layout == layout
        assert trial.written.stored_bytes == per_byte * trial.written.data_bytes
    assert not Directory(spark, f"{dataset.uri}.written").exists()


def test_what_is_written_in_another_layout_than_the_dataset_fails_the_trial(
    write_layout: Write, run_on: RunOn, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write_layout("replicated:2")
    monkeypatch.setattr(hdfs_storage.Hdfs, "prepare", lambda *_: {})
    [trial] = run_on(dataset, "write", code=1).trials
    assert re.search(
        r"is not accepted: layout replicated:2 was requested, but of .* are replicated:3",
        known(trial.error),
    )
    assert not Directory(spark, f"{dataset.uri}.written").exists()


def test_what_others_put_there_stays_and_what_we_left_goes(
    write_layout: Write, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack(spark, write_layout, "replicated:2", monkeypatch)


@pytest.mark.parametrize("name", ["", MARKER], ids=["the directory", "the marker"])
def test_what_a_killed_run_of_another_user_left_stays(
    write_layout: Write, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    dataset = write_layout("replicated:2")
    monkeypatch.setattr(written, "has_ended", lambda _identity: True)
    beside = Directory(spark, f"{dataset.uri}.written")
    marker = Marker.put(beside, PURPOSE)
    beside.fs.setOwner(beside.child(name) if name else beside.path, "somebody", None)
    with (
        pytest.raises(BadInput, match="clusterlift has not made it: move it elsewhere"),
        destination_beside(spark, dataset),
    ):
        pass
    assert beside.read(MARKER) == marker.text


def test_rights_that_are_lost_half_way_fail_the_trials_and_what_is_left_is_said(
    write_layout: Write,
    run_on: RunOn,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A NameNode in safe mode refuses every change."""
    dataset = write_layout("replicated:2")
    actions = dataset.directory.jvm.org.apache.hadoop.fs.SafeModeAction
    real = Destination.prove

    def prove(self: Destination, number: int) -> WrittenBytes:
        dataset.directory.fs.setSafeMode(actions.ENTER)
        return real(self, number)

    monkeypatch.setattr(Destination, "prove", prove)
    [trial] = run_on(dataset, "write", code=1).trials
    dataset.directory.fs.setSafeMode(actions.LEAVE)
    assert "safe mode" in (trial.error or "")
    assert re.search(rf"{dataset.uri}.written is left: .*safe mode", capsys.readouterr().err)


@pytest.mark.slow
@pytest.mark.flaky(reruns=1)  # what others read from the same disk meanwhile makes it unknown
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may drop the page cache of DataNodes")
def test_root_has_cold_reads(write_layout: Write, run_on: RunOn, tmp_path: Path) -> None:
    require_counted_disk(tmp_path)
    dataset = write_layout("replicated:2", rows=300_000)
    [trial] = run_on(dataset, "sha-512", "--cache", "cold").trials
    assert trial.input_read_by is InputReader.STORAGE
    assert trial.to_be_cold
    assert (disk_share([trial]) or 0.0) >= 0.9


def test_lost_nodes_and_missing_parity_are_noticed(
    write_layout: Write,
    spark: SparkSession,
    uri: str,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last test of this cluster: it kills DataNodes."""
    monkeypatch.setattr(namenode, "SILENT_MS", 3_000)  # much less than until they are declared dead
    dataset = write_layout("rs:3+2", rows=60_000, files=1)  # more than two cells, so five stripes
    directory, storage = locate(spark, uri)
    # A DataNode that is killed before it reports a stripe of the manifest would take it away for good.
    eventually(
        lambda: storage.observe(directory, directory.entries()).missing == 0, "all is reported"
    )
    kill(cluster.directory, "datanode-1")
    kill(cluster.directory, "datanode-2")

    def observe() -> StoredFiles:
        return storage.observe(directory, dataset.manifest.files)

    eventually(lambda: observe().missing == 2, "two stripes were missing")
    stored = observe()
    assert len(stored.placement) == 3
    with pytest.raises(
        BadInput, match=r"of 1 files, 1 lack 2 copies or stripes .*full parity.*needs 5"
    ):
        open_dataset(spark, uri)
    accepted = open_dataset(spark, uri, accept_layout_drift=True)
    assert accepted.as_facts()["layout"]["drift"]
    assert hdfs_storage.live_nodes(directory) == DATANODES  # the NameNode has noticed nothing
    # It declares a silent DataNode dead after a dozen seconds here, after ten minutes elsewhere.
    eventually(lambda: hdfs_storage.live_nodes(directory) == DATANODES - 2, "two were dead")
    with pytest.raises(BadInput, match=r"--layout rs:3\+2:1m needs 5 DataNodes, and .* has 3"):
        write_layout("rs:3+2", overwrite=True)
    assert FILE_NAME in directory.entries()

    # HDFS itself writes the file with missing parity and without an error; observing finds it.
    by_hand = Directory(spark, f"{uri}-by-hand")
    by_hand.create()
    by_hand.fs.setErasureCodingPolicy(by_hand.path, "RS-3-2-1024k")
    write_by_hand(by_hand)
    found = storage.observe(by_hand, by_hand.entries())
    assert str(next(iter(found.layouts))) == "rs:3+2:1m"
    assert found.missing == 2


def test_a_table_has_the_layout_of_all_its_files(spark: SparkSession, uri: str) -> None:
    spark.range(9).selectExpr("id", "id % 2 AS half").write.partitionBy("half").orc(uri)
    table = open_table(spark, "numbers", uri)
    facts = table.as_facts()
    assert (facts["format"], facts["layout"].partition(":")[0]) == ("orc", "replicated")
    assert facts["files"] == sum(len(place.stored.files) for place in table.places or ()) > 1
