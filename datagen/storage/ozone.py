"""Apache Ozone through its Hadoop file system `ofs:`: one or three copies, or Reed-Solomon.

A bucket that is erasure coded decides how its files are stored, whatever the client asks for. In every other
bucket the client's `ozone.replication` decides, which is three copies if it is not set: neither the
copies that the bucket was created with, nor `dfs.replication`, count. Ozone ignores them without an error.

A file consists of blocks, and its blocks are in containers. The Ozone Manager knows the blocks. On request
it asks the Storage Container Manager anew which DataNodes have a replica of a container, and the index of
each if it is erasure coded. So Spark's own client of Ozone is all that is needed.
"""

from __future__ import annotations  # for Python 3.8

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from datagen.filesystem import Directory
from datagen.observed_layout import Holders, StoredFile, StoredFiles, stored_file
from datagen.storage import Storage
from harness.base.errors import BadInput
from harness.model.layout import UNKNOWN, Layout, LayoutKind, striped_layout
from harness.model.spark_properties import OZONE_READS_BY, recorded_ozone

CELL_BYTES = 2**20
"""The cell of Ozone's examples, which is requested where `--layout` names none."""

BUCKET_DEPTH = 2
"""The path of a bucket is the path of its volume and its own name."""


@dataclass(frozen=True)
class Keys:
    """The keys of a directory in a bucket. A method that asks Ozone raises BadInput if it is refused."""

    directory: Directory

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Volume, bucket, and the names of the directories in it."""
        return tuple(filter(None, str(self.directory.path.toUri().getPath()).split("/")))

    @cached_property
    def bucket(self) -> Any:
        """Ozone's OzoneBucket."""
        with self.directory.errors_as_bad_input(
            "the bucket cannot be used; `ozone sh bucket create` makes one"
        ):
            store = self.directory.fs.getAdapter().getObjectStore()
            return store.getVolume(self.parts[0]).getBucket(self.parts[1])

    def info(self, name: str) -> Any:
        """Return Ozone's OmKeyInfo of a file in the directory; which DataNodes have it is asked anew."""
        volume, bucket, *directories = self.parts
        proxy = self.directory.fs.getAdapter().getObjectStore().getClientProxy()
        return proxy.getKeyInfo(volume, bucket, "/".join([*directories, name]), True)  # noqa: FBT003  Java's signature


class Ozone(Storage):
    """Ozone knows the replication of a file, and which DataNodes have a replica of its containers."""

    name = "ozone"
    scheme = "ofs"
    advice = (
        "start Spark with Ozone's client, the jar ozone-filesystem-hadoop3, of the version of its servers: "
        "docs/ozone.md"
    )

    def check_available(self, directory: Directory) -> None:
        """Raise BadInput unless the directory is in a bucket: Hadoop would create one, silently."""
        keys = Keys(directory)
        if len(keys.parts) < BUCKET_DEPTH:
            raise BadInput(
                f"{directory.uri} is not in a bucket: name volume, bucket and directory, "
                "ofs://host:9862/volume/bucket/directory"
            )
        _ = keys.bucket

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        """Return the layout with its cell, as an erasure coded bucket has it, or as Ozone allows it."""
        if layout is None:
            return None
        if layout == UNKNOWN:
            raise BadInput(f"--layout {layout}: Ozone knows its layouts; name one, or leave it out")
        with directory.errors_as_bad_input(f"--layout {layout} is refused"):
            own = Keys(directory).bucket.getReplicationConfig()
            if own is None or not _is_coded(own):
                client = directory.jvm.org.apache.hadoop.hdds.client
                kind, text = _replication(layout)
                type_ = client.ReplicationType.valueOf(kind)
                source = directory.fs.getConfSource()
                return _layout(client.ReplicationConfig.parse(type_, text, source))
        stored = _layout(own)
        if not layout.is_met_by(stored):
            raise BadInput(
                f"--layout {layout}: the bucket of {directory.uri} is {stored}, and overrides what a client "
                "asks for: choose another bucket, or another layout"
            )
        return stored

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """Let the tasks request the layout: Ozone's client reads it when it is created."""
        if layout is None:
            return {}
        kind, text = _replication(layout)
        return {
            "ozone.replication.type": kind,
            "ozone.replication": text,
            "fs.ofs.impl.disable.cache": "true",
        }

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """Look at every block of every file: which DataNodes have a replica of its container."""
        keys = Keys(directory)
        files = {}
        holders: dict[int, Holders] = {}
        present = directory.entries()
        with directory.errors_as_bad_input():
            for name in names:
                if name in present:
                    files[name] = _stored_file(keys.info(name), holders)
            return StoredFiles(files, client=_client(directory))

    def explain(self, expected: Layout | None, stored: StoredFiles) -> str:
        """Ozone ignores without an error what another setting overrides."""
        others = [layout for layout in stored.layouts if layout != expected]
        if expected is not None and others:
            if not expected.parity and any(layout.parity for layout in others):
                return "on Ozone, an erasure coded bucket overrides a number of copies"
            return (
                "unless its bucket is erasure coded, Ozone stores a file as ozone.replication of the client "
                "says, and three times if that is not set, whatever the copies of its bucket and "
                "dfs.replication are"
            )
        if stored.missing or stored.excess:
            return (
                "a DataNode may be down, full, still copying, or being decommissioned; count the replicas in "
                "`ozone admin container info`, whose healthState says HEALTHY even so"
            )
        return ""


def _replication(layout: Layout) -> tuple[str, str]:
    """Return Ozone's type of replication and its text form of a layout."""
    if layout.kind is LayoutKind.REPLICATED:
        return "RATIS", str(layout.data)
    cell = layout.cell_bytes or CELL_BYTES
    size = str(cell)
    if cell % 2**10 == 0:
        size = f"{cell // 2**10}k"
    return "EC", f"{layout.kind}-{layout.data}-{layout.parity}-{size}"


def _layout(replication: Any) -> Layout:
    """Return the layout of a ReplicationConfig; UNKNOWN if no text form describes it."""
    if not _is_coded(replication):
        return Layout(LayoutKind.REPLICATED, int(replication.getRequiredNodes()))
    return striped_layout(
        str(replication.getCodec().toString()).lower(),
        int(replication.getData()),
        int(replication.getParity()),
        int(replication.getEcChunkSize()),
    )


def _is_coded(replication: Any) -> bool:
    return str(replication.getReplicationType().toString()) == "EC"


def _stored_file(key: Any, holders: dict[int, Holders]) -> StoredFile:
    """Return how a file is stored. `holders` has the containers that are known. Others are added."""
    blocks = []
    for block in key.getLatestVersionLocations().getBlocksLatestVersionOnly():
        container = int(block.getContainerID())
        if container not in holders:
            holders[container] = _holders(block.getPipeline())
        blocks.append((int(block.getLength()), holders[container]))
    return stored_file(_layout(key.getReplicationConfig()), int(key.getDataSize()), blocks)


def _holders(pipeline: Any) -> Holders:
    """Return the DataNodes with a replica of a container, as `address:port`, by the index of their stripe."""
    holders = defaultdict(list)
    for node in pipeline.getNodes():
        port = node.getStandalonePort().getValue()
        # Ozone counts stripes from 1, and gives 0 to copies.
        index = max(0, int(pipeline.getReplicaIndex(node)) - 1)
        holders[index].append(f"{node.getIpAddress()}:{port}")
    return holders


def _client(directory: Directory) -> dict[str, str]:
    """Return the version of Ozone's client, and the settings that affect how it reads."""
    version = directory.jvm.org.apache.hadoop.ozone.util.OzoneVersionInfo.OZONE_VERSION_INFO
    source = directory.fs.getConfSource()
    in_force = {name: source.get(name) for name in OZONE_READS_BY}
    return {"Ozone's client": str(version.getVersion()), **recorded_ozone(in_force)}


STORAGE = Ozone()
