"""Cold reads: put what a trial reads out of memory before it, and tell whether its disks can be counted."""

import socket
from dataclasses import dataclass
from subprocess import SubprocessError

from pyspark.sql import SparkSession

from datagen.dataset import Dataset
from datagen.spark import executors, scala_context
from datagen.storage import storages
from harness.child_process import finished
from harness.model.errors import BadInput
from harness.model.run import InputReader
from harness.runtime.trials import DROP_CACHES, wait_for_release
from jobs.executors import run_on_nodes

_ON_DISKS = frozenset(
    {"ext2/ext3", "xfs", "btrfs", "zfs", "f2fs", "jfs", "bcachefs", "overlayfs", "tmpfs", "ramfs"}
)
"""What `stat -f` calls file systems whose files are on a node's own disks, or in its memory."""


@dataclass
class ColdReads:
    """Puts a dataset out of memory; `failure` is why it could not for the last trial, None if it could."""

    spark: SparkSession
    dataset: Dataset
    failure: str | None = None

    def drop(self) -> None:
        """Let the storage, the nodes and, if there is one, the experiment drop what they keep of the files.

        What fails is no error: whether a trial was cold is measured.
        """
        self.failure = self._failure() if self.dataset.stored.page_cache is not False else None
        if wait_for_release(DROP_CACHES):
            self.failure = None  # the experiment says what it cannot do

    def _failure(self) -> str | None:
        directory = self.dataset.directory
        try:
            drop = storages()[directory.scheme].drop_cached(directory, self.dataset.manifest.files)
        except BadInput as error:
            return str(error)
        answers = run_on_nodes(self.spark, drop)[0].values() if drop else ()
        return next((f"{host}: {error}" for host, error in answers if error), None)


def prefer_cold_reads(spark: SparkSession) -> None:
    """Let file systems leave nothing in memory, before the first of them is used, unless the user decided."""
    conf = scala_context(spark).hadoopConfiguration()
    for storage in storages().values():
        for name, value in storage.cold_properties.items():
            conf.set(name, conf.get(name) or value)  # the default may be an empty text


def input_reader(spark: SparkSession, dataset: Dataset) -> InputReader | None:
    """Return who reads the files from disks that trials count, of the executors' and the driver's nodes.

    None if they are on other disks, or if that is not known.
    """
    if dataset.directory.scheme == "file":
        found = _file_system(str(dataset.directory.path.toUri().getPath()))
        return InputReader.APPLICATION if found in _ON_DISKS else None
    nodes = frozenset[str]().union(*map(_addresses, executors(spark)))
    storing = list(map(_addresses, dataset.stored.hosts))
    are_counted = [bool(each & nodes) or any(map(_is_own, each)) for each in storing]
    return InputReader.STORAGE if storing and all(are_counted) else None


def _file_system(path: str) -> str:
    try:
        return finished(["stat", "-f", "-c", "%T", path], timeout_s=10.0).stdout.strip()
    except (OSError, SubprocessError):
        return ""


def _addresses(host: str) -> frozenset[str]:
    """Return the addresses of a host by name or address; none if it has no name here."""
    try:
        return frozenset(str(found[4][0]) for found in socket.getaddrinfo(host, None))
    except (OSError, UnicodeError):
        return frozenset()


def _is_own(address: str) -> bool:
    """Whether an address is one of the driver's node: no other node can listen there."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as listener:
        try:
            listener.bind((address, 0))
        except OSError:
            return False
    return True
