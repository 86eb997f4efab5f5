"""Cold reads: put what a trial reads out of memory before it, and tell whether its disks can be counted."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from subprocess import SubprocessError

from pyspark.sql import SparkSession

from datagen.dataset import Dataset
from datagen.spark import executors, scala_context
from datagen.storage import storages
from datagen.table import FilesIn
from harness.child_process import finished
from harness.model.errors import BadInput
from harness.model.run import InputReader
from harness.runtime.trials import DROP_CACHES, wait_for_release
from jobs.executors import run_on_nodes

_ON_DISKS = frozenset(
    {"ext2/ext3", "xfs", "btrfs", "zfs", "f2fs", "jfs", "bcachefs", "overlayfs", "tmpfs", "ramfs"}
)
"""What `stat -f` calls file systems whose files are on a node's own disks, or in its memory."""


Place = Dataset | FilesIn
"""Files in a directory, and how they are stored."""


@dataclass
class ColdReads:
    """Puts files out of memory; `failure` is why it could not for the last trial, None if it could."""

    spark: SparkSession
    places: Sequence[Place]
    failure: str | None = None

    def drop(self) -> None:
        """Let the storage, the nodes and, if there is one, the experiment drop what they keep of the files.

        What fails is no error: whether a trial was cold is measured.
        """
        self.failure = self._failure([p for p in self.places if p.stored.page_cache is not False])
        if wait_for_release(DROP_CACHES):
            self.failure = None  # the experiment says what it cannot do

    def _failure(self, places: Sequence[Place]) -> str | None:
        known, drops = storages(), dict[Callable[[], str], None]()
        try:
            for place in places:
                storage = known[place.directory.scheme]
                if drop := storage.drop_cached(place.directory, place.stored.files):
                    drops[drop] = None  # of several places, often the same
        except BadInput as error:
            return str(error)
        drop_all = partial(_first_failure, list(drops))
        answers = run_on_nodes(self.spark, drop_all)[0].values() if drops else ()
        return next((f"{host}: {error}" for host, error in answers if error), None)


def _first_failure(drops: Sequence[Callable[[], str]]) -> str:
    """Call all, and return why the first failed; empty if none did."""
    return next(filter(None, [drop() for drop in drops]), "")


def prefer_cold_reads(spark: SparkSession) -> None:
    """Let file systems leave nothing in memory, before the first of them is used, unless the user decided."""
    conf = scala_context(spark).hadoopConfiguration()
    for storage in storages().values():
        for name, value in storage.cold_properties.items():
            conf.set(name, conf.get(name) or value)  # the default may be an empty text


def input_reader(spark: SparkSession, places: Sequence[Place]) -> InputReader | None:
    """Return who reads the files from disks that trials count, of the executors' and the driver's nodes.

    None if they are on other disks, on different ones, or if that is not known.
    """
    readers = {_reader(spark, place) for place in places}
    return readers.pop() if len(readers) == 1 else None


def _reader(spark: SparkSession, place: Place) -> InputReader | None:
    if place.directory.scheme == "file":
        found = _file_system(str(place.directory.path.toUri().getPath()))
        return InputReader.APPLICATION if found in _ON_DISKS else None
    nodes = frozenset[str]().union(*map(_addresses, executors(spark)))
    storing = list(map(_addresses, place.stored.hosts))
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
