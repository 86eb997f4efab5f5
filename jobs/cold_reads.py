"""Cold reads: put what a trial reads out of memory before it, and tell whether its disks can be counted."""

from __future__ import annotations  # for Python 3.8

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Union

from pyspark.sql import SparkSession

from datagen.dataset import Dataset
from datagen.spark import executors, scala_context
from datagen.storage import storages
from datagen.table import FilesIn
from harness.base.errors import BadInput
from harness.model.run import InputReader
from harness.model.task_metrics import PackedInput
from harness.node.block_devices import MEMORY, PAGE_CACHE, ZFS, holders_of, mount_of
from harness.node.packed_files import have_packed, in_memory, may_compress
from harness.trials.hold import DROP_CACHES, wait_for_release
from jobs.executors import run_on_nodes

_ON_DISKS = frozenset(
    [
        "ext2",
        "ext3",
        "ext4",
        "xfs",
        "btrfs",
        "zfs",
        "f2fs",
        "jfs",
        "bcachefs",
        "ntfs3",
        "squashfs",
        "erofs",
        "overlay",
        "tmpfs",
        "ramfs",
    ]
)
"""File systems whose files are on a node's own disks, or in its memory."""


Place = Union[Dataset, FilesIn]
"""Files in a directory, and how they are stored."""


@dataclass
class ColdReads:
    """Puts files out of memory. `failure` is why it could not for the last trial, None if it could."""

    spark: SparkSession
    places: Sequence[Place]
    failure: str | None = None

    def drop(self) -> None:
        """Let the storage, the nodes and, if there is one, the experiment drop what they keep of the files.

        A failure is no error, because it is measured whether a trial was cold.
        """
        cached = [place for place in self.places if place.stored.page_cache is not False]
        self.failure = self._drop_files(cached)
        if wait_for_release(DROP_CACHES):
            self.failure = None  # the experiment says what it cannot do

    def _drop_files(self, places: Sequence[Place]) -> str | None:
        """Put the files of places out of memory. Return why that failed; None if it did not."""
        known = storages()
        drops: dict[Callable[[], str], None] = {}
        try:
            for place in places:
                storage = known[place.directory.scheme]
                drop = storage.drop_cached(place.directory, place.stored.files)
                if drop:
                    drops[drop] = None  # several places often have the same
        except BadInput as error:
            return str(error)
        if not drops:
            return None
        answers = run_on_nodes(self.spark, partial(_drop_all, list(drops)))
        for host, failure in answers.found.values():
            if failure:
                return f"{host}: {failure}"
        for host, reason in answers.silent.items():
            return f"{host} did not answer: {reason}"
        return None


def _drop_all(drops: Sequence[Callable[[], str]]) -> str:
    """Call all, and return why the first of those that failed did; empty if no one failed."""
    failures = [drop() for drop in drops]
    return next(filter(None, failures), "")


def prefer_cold_reads(spark: SparkSession) -> None:
    """Let file systems leave nothing in memory, before the first of them is used, unless the user decided."""
    conf = scala_context(spark).hadoopConfiguration()
    for storage in storages().values():
        for name, value in storage.cold_properties.items():
            conf.set(name, conf.get(name) or value)  # the default may be an empty text


@dataclass(frozen=True)
class InputSource:
    """Where the files of a trial's input come from.

    - `reader`: who reads them from disks that trials count, of the executors' and the driver's nodes. None
      if they are on other disks, on different ones, or if that is not known.
    - `in_memory`: why no disk has them; empty if one does, or if that is not known.
    - `is_packed`: whether disks may have fewer bytes than the files have. `paths` are those that the nodes'
      page caches can be asked for.
    """

    reader: InputReader | None = None
    in_memory: str = ""
    is_packed: bool = False
    paths: tuple[str, ...] = ()

    def packed_input(self, spark: SparkSession) -> PackedInput | None:
        """Return what the page caches have of packed files now; None if disks have all bytes."""
        if not self.is_packed:
            return None
        if not self.paths:
            return PackedInput()
        answers = run_on_nodes(spark, partial(in_memory, self.paths))
        cached = 0
        others = 0
        for _, found in answers.found.values():
            if found is None:
                return PackedInput()
            cached += found[0]
            others += found[1]
        if answers.silent or not cached + others:
            return PackedInput()
        return PackedInput(cached, others)


def input_source(spark: SparkSession, places: Sequence[Place]) -> InputSource:
    """Return where the files of places come from; unknown if they are read in different ways."""
    sources = [_source(spark, place) for place in places]
    readers = {source.reader for source in sources}
    reader = readers.pop() if len(readers) == 1 else None
    in_memory_reason = next((source.in_memory for source in sources if source.in_memory), "")
    is_packed = reader is not None and any(source.is_packed for source in sources)
    paths: list[str] = []
    for source in sources:
        paths += source.paths
    return InputSource(reader, in_memory_reason, is_packed, tuple(paths))


def _source(spark: SparkSession, place: Place) -> InputSource:
    """Return where the files of one place come from; unknown if a node of Spark does not store them."""
    if place.directory.scheme == "file":
        return _local_source(spark, place)
    nodes: set[str] = set()
    for host in executors(spark):
        nodes |= _addresses(host)
    for host in place.stored.hosts:
        addresses = _addresses(host)
        if not addresses & nodes and not any(map(_is_own, addresses)):
            return InputSource()
    if not place.stored.hosts:
        return InputSource()
    return InputSource(InputReader.STORAGE, is_packed=_any_node(spark, may_compress))


def _local_source(spark: SparkSession, place: Place) -> InputSource:
    """Return where files of a mounted directory come from; unknown if its file system is on no disk."""
    directory = str(place.directory.path.toUri().getPath())
    mount = mount_of(Path(directory))
    if mount is None or mount.type not in _ON_DISKS:
        return InputSource()
    holders = {holder.kind: holder.name for holder in holders_of(Path(directory))}
    # ZFS also counts as read what was in its own cache.
    if ZFS in holders:
        return InputSource(InputReader.STORAGE, is_packed=True)
    # Nothing counts as read from files that are in memory themselves. A file system on memory counts.
    for kind in (MEMORY, PAGE_CACHE):
        if kind in holders and mount.type != holders[kind]:
            return InputSource(in_memory=f"{directory} is in memory ({holders[kind]})")
    paths = tuple(f"{directory}/{name}" for name in place.stored.files)
    is_packed = _any_node(spark, partial(have_packed, paths))
    return InputSource(InputReader.APPLICATION, is_packed=is_packed, paths=paths)


def _any_node(spark: SparkSession, ask: Callable[[], bool]) -> bool:
    """Return whether one of the nodes answers yes, or may do so: one that is silent may."""
    answers = run_on_nodes(spark, ask)
    return bool(answers.silent) or any(answer for _, answer in answers.found.values())


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
