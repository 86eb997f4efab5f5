"""Object stores, through Hadoop's S3A. The user says which server it is: that decides how it is observed.

S3A renames a file by copying it. Spark has two ways to commit files: we use the one that copies each file
once, when its task ends. It may leave files of a failed job, which generate.py deletes.
"""

from __future__ import annotations  # for Python 3.8

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from datagen.filesystem import Directory
from datagen.observed_layout import StoredFiles
from datagen.storage import Storage, unknown_files
from datagen.storage.bucket import Bucket, endpoint, host_and_port, setting
from datagen.storage.ceph import Ceph
from datagen.storage.minio import Minio
from datagen.storage.s3_server import S3Server
from harness.base.errors import UNEXPECTED, BadInput
from harness.base.terminal import say
from harness.model.layout import UNKNOWN, Layout
from harness.model.spark_properties import S3A_STORE
from harness.node.page_cache import drop_everything

SERVERS: dict[str, type[S3Server]] = {server.name: server for server in (Ceph, Minio)}
STREAM = "input.stream.type"
"""The default stream of Hadoop 3.5 keeps parts of Parquet files in memory, so that later trials read less."""


class S3(Storage):
    """S3 itself reports no layout: its server does."""

    name = "s3a"
    scheme = "s3a"
    advice = "start Spark with hadoop-aws, of the version of its Hadoop, and AWS's SDK: docs/s3.md"

    def address(self, conf: Any, uri: str) -> tuple[str, int] | None:
        """Return host and port of the endpoint: the host of the URI is a bucket."""
        server = endpoint(conf, bucket_of(uri))
        if server is None:
            return None
        return host_and_port(server)

    def check_available(self, directory: Directory) -> None:
        """Raise BadInput if the bucket cannot be used."""
        with directory.errors_as_bad_input(
            f"there is no bucket {bucket_of(directory.uri)}, or the credentials may not use it"
        ):
            directory.fs.getS3AInternals().getBucketMetadata()

    def set_defaults(self, conf: Any, uri: str) -> None:
        """Choose the stream that keeps nothing from one trial to the next, unless the user has chosen."""
        if setting(conf, bucket_of(uri), STREAM) is None:
            conf.set(f"fs.s3a.{STREAM}", "classic")

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        """Return the layout in full; the bucket and the storage class must have it."""
        bucket = Bucket(directory)
        _check_storage_class(bucket)
        if layout in (None, UNKNOWN):
            return layout
        with _server_of(bucket) as server:
            if server is None:
                raise BadInput(
                    f"--layout {layout}: S3 does not report layouts, only its server does: name that by "
                    f"--conf spark.hadoop.{S3A_STORE}={'|'.join(SERVERS)} (docs/s3.md), or leave "
                    "--layout out"
                )
            return server.check_request(layout)

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """Let each task move its file to its place, not the driver a second time."""
        return {"mapreduce.fileoutputcommitter.algorithm.version": "2"}

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """Ask the server; without one that is known, report every object as `unknown`."""
        bucket = Bucket(directory)
        with _server_of(bucket) as server:
            if server:
                return replace(server.observe(names), client=bucket.client())
        say(
            f"{directory.uri}: its layout is unknown, because {S3A_STORE} does not name its server "
            "(docs/s3.md)"
        )
        return StoredFiles(unknown_files(directory, names), client=bucket.client())

    def drop_cached(self, directory: Directory, names: Collection[str]) -> Callable[[], str] | None:
        """Let Ceph empty caches of its own; of other servers nothing is known."""
        with _server_of(Bucket(directory)) as server:
            if not isinstance(server, Ceph):
                return drop_everything
            server.drop_cached()
            return None

    def explain(self, expected: Layout | None, stored: StoredFiles) -> str:
        """Explain what the server is known to do without an error."""
        if stored.server is None:
            return ""
        return SERVERS[stored.server].explain(stored)


def bucket_of(uri: str) -> str:
    """Return the name of the bucket of a URI."""
    return uri.partition("://")[2].partition("/")[0].rpartition("@")[2]


@contextmanager
def _server_of(bucket: Bucket) -> Iterator[S3Server | None]:
    """Provide the server of the bucket; None if the user has not named it.

    Raises BadInput if the name is unknown, or if an answer of the server cannot be understood.
    """
    name = bucket.own("store")
    if name is None:
        yield None
        return
    if name not in SERVERS:
        raise BadInput(f"{S3A_STORE} is '{name}': the known servers are {', '.join(SERVERS)}")
    try:
        yield SERVERS[name](bucket)
    except UNEXPECTED as error:
        raise BadInput(
            f"{bucket.directory.uri}: {S3A_STORE} is '{name}', but an answer of the server cannot be "
            f"understood: {error!r}"
        ) from error


def _check_storage_class(bucket: Bucket) -> None:
    """Raise BadInput for a class that S3A does not know: it would store the default class, and only warn."""
    if bucket.setting("create.storage.class") is None:
        return
    classes = bucket.directory.jvm.software.amazon.awssdk.services.s3.model.StorageClass
    with bucket.directory.errors_as_bad_input():
        known = {str(known.toString()) for known in classes.knownValues()}
    if bucket.storage_class not in known:
        raise BadInput(
            f"fs.s3a.create.storage.class is '{bucket.storage_class}', which S3A does not know: it would "
            f"store the default class; the known ones are {', '.join(sorted(known))}"
        )


STORAGE = S3()
