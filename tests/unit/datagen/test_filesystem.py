"""A file that cannot be read, or is gone, is named with the reason, which Hadoop's own client may hide."""

from types import SimpleNamespace
from typing import cast

import pytest
from py4j.protocol import Py4JError

from datagen.dataset import observe_files
from datagen.filesystem import Directory
from datagen.observed_layout import StoredFiles
from datagen.storage import Storage
from harness.base.errors import BadInput

LOST_STRIPES = (
    'Cannot invoke "RawErasureDecoder.preferDirectBuffer()" because "this.decoder" is null'
)
OTHER = "java.io.IOException: no such file"


def directory_that_fails(error: str) -> Directory:
    """Return a directory of HDFS whose files are there, and fail by this error when they are read."""

    def fail(_: object) -> bytes:
        raise Py4JError(error)

    stream = SimpleNamespace(close=lambda: None)
    directory = object.__new__(Directory)
    status = SimpleNamespace(getLen=lambda: 2)
    directory.uri = "hdfs://n1:9820/rows"
    directory.path = SimpleNamespace(toUri=lambda: SimpleNamespace(getScheme=lambda: "hdfs"))
    utils = SimpleNamespace(toByteArray=fail)
    commons = SimpleNamespace(io=SimpleNamespace(IOUtils=utils))
    directory.jvm = SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(commons=commons)))
    directory.fs = SimpleNamespace(getFileStatus=lambda _: status, open=lambda _: stream)
    directory._hadoop_fs = SimpleNamespace(Path=lambda *parts: parts)
    return directory


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (LOST_STRIPES, r"_dataset\.json cannot be decoded: too many of its stripes are lost"),
        (OTHER, "no such file"),
    ],
)
def test_the_reason_is_named(error: str, reason: str) -> None:
    with pytest.raises(BadInput, match=f"^hdfs://n1:9820/rows: .*{reason}"):
        directory_that_fails(error).read("_dataset.json")


def test_a_file_that_is_gone_when_it_is_observed_is_named_with_what_to_do() -> None:
    storage = cast("Storage", SimpleNamespace(observe=lambda *_: StoredFiles({})))
    with pytest.raises(BadInput, match=r"it lost 1 file \(first: part-0\); repeat the command"):
        observe_files(storage, directory_that_fails(OTHER), ["part-0"])
