"""The staging directory on a real file system, that of Hadoop's default: here the local disk."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from jobs.staging import Hadoop, Staging


@pytest.fixture
def hadoop(spark: SparkSession, tmp_path: Path) -> Iterator[Hadoop]:
    assert spark.version  # its JVM is up
    found = Hadoop()
    found.jvm.System.setProperty("spark.yarn.stagingDir", tmp_path.as_uri())
    yield found
    found.jvm.System.clearProperty("spark.yarn.stagingDir")


@pytest.fixture
def staging(hadoop: Hadoop) -> Staging:
    return Staging.create(hadoop, "clusterlift-1")


def test_its_owner_alone_can_read_it(staging: Staging, tmp_path: Path) -> None:
    directory = tmp_path / "clusterlift-1"
    assert staging.uri == f"file:{directory}"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_driver_finds_what_its_submitter_created(hadoop: Hadoop, staging: Staging) -> None:
    drivers = Staging(hadoop, staging.uri)
    drivers.put(2, "b", b"2\x00\xff")
    drivers.put(1, "20261122T1-a.jsonl", b"")
    assert staging.parts() == ["000001.20261122T1-a.jsonl", "000002.b"]
    assert staging.take("000002.b") == b"2\x00\xff"
    staging.delete("000002.b")
    assert drivers.parts() == ["000001.20261122T1-a.jsonl"]


def test_a_part_that_is_there_already_is_not_an_error(staging: Staging) -> None:
    for _ in range(2):
        staging.put(1, "a", b"1")
    assert staging.parts() == ["000001.a"]


def test_the_lease_changes_its_name_and_can_be_released(staging: Staging) -> None:
    before = staging.lease()
    staging.renew()
    assert None not in {before, staging.lease()}
    assert staging.lease() != before
    staging.release()
    assert staging.lease() is None
    staging.renew()
    staging.release()
    assert staging.lease() is None


def test_a_directory_that_was_removed_has_no_lease_and_takes_nothing(
    staging: Staging, tmp_path: Path
) -> None:
    staging.remove()
    with pytest.raises(FileNotFoundError):
        staging.put(1, "a", b"1")
    assert list(tmp_path.iterdir()) == []
    assert (staging.lease(), staging.parts()) == (None, [])


def test_an_unknown_file_system_is_an_error_of_py4j(hadoop: Hadoop) -> None:
    with pytest.raises(Py4JError):
        Staging(hadoop, "nosuch://h/x")
