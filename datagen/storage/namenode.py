"""What an HDFS NameNode reports about every block of the files of a directory."""

from __future__ import annotations  # for Python 3.8

import json
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from datagen.filesystem import Directory
from datagen.observed_layout import Holders, StoredFile, stored_file
from harness.model.layout import Layout, LayoutKind, striped_layout

SILENT_MS = 30_000
"""A DataNode without a heartbeat for this long does not count. HDFS itself calls such a node stale, and
declares it dead only after ten minutes."""


@dataclass(frozen=True)
class Block:
    """A block or a group of stripes, and the nodes that store it, as `address:port`.

    For a group, `stripes` has the index of the stripe on each node; for a block, it is empty.
    """

    bytes: int
    nodes: tuple[str, ...]
    stripes: tuple[int, ...] = ()

    def holders(self, silent: Collection[str]) -> Holders:
        """Return the nodes that are not silent, by the index of their stripe; copies have the index 0."""
        found = defaultdict(list)
        indices = self.stripes or (0,) * len(self.nodes)
        for index, node in zip(indices, self.nodes):
            if node not in silent:
                found[index].append(node)
        return found


def stored_files(directory: Directory, names: Collection[str]) -> dict[str, StoredFile]:
    """Return how these files are stored. Copies and stripes on silent nodes count as missing.

    A NameNode lists a directory in parts, and a later part has later heartbeats of every node. So heartbeats
    are compared as they were when the listing began.
    """
    listed = []
    heartbeats: dict[str, int] = {}
    began_s = time.monotonic()
    for file in _list_files(directory, names):
        listed.append(file)
        nodes = {node for block in file.blocks for node in block.nodes}
        if not nodes <= heartbeats.keys():
            passed_ms = round(1000 * (time.monotonic() - began_s))
            for node, last in _last_heartbeats(file.status).items():
                heartbeats[node] = last - passed_ms
    silent = silent_nodes(heartbeats)
    found: dict[str, StoredFile] = {}
    for file in listed:
        blocks = [(block.bytes, block.holders(silent)) for block in file.blocks]
        found[file.name] = stored_file(file.layout, file.bytes, blocks)
    return found


def policy_layout(policy: Any) -> Layout:
    """Return the layout of an erasure coding policy; UNKNOWN if no text form describes it."""
    return striped_layout(
        str(policy.getCodecName()),
        int(policy.getNumDataUnits()),
        int(policy.getNumParityUnits()),
        int(policy.getCellSize()),
    )


def silent_nodes(heartbeats: Mapping[str, int]) -> frozenset[str]:
    """Return the nodes whose last heartbeat is long before the latest one of all nodes.

    Times are in ms of the NameNode's clock.
    """
    latest = max(heartbeats.values(), default=0)
    return frozenset(node for node, last in heartbeats.items() if latest - last > SILENT_MS)


@dataclass(frozen=True)
class _ListedFile:
    """A file as the NameNode lists it. `status` is Hadoop's HdfsLocatedFileStatus."""

    name: str
    bytes: int
    layout: Layout
    blocks: Sequence[Block]
    status: Any


def _list_files(directory: Directory, names: Collection[str]) -> Iterator[_ListedFile]:
    # One text has all blocks of a file: a call for every field of every block would take minutes.
    to_json = directory.jvm.com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString
    layouts: dict[str, Layout] = {}
    listing = directory.fs.listLocatedStatus(directory.path)
    while listing.hasNext():
        status = listing.next()
        name = str(status.getPath().getName())
        if name not in names:
            continue
        locations = json.loads(to_json(status.getBlockLocations()))
        policy = status.getErasureCodingPolicy()
        if policy is None:
            layout = Layout(LayoutKind.REPLICATED, int(status.getReplication()))
            blocks = [block_at(location) for location in locations]
        else:
            policy_name = str(policy.getName())
            if policy_name not in layouts:
                layouts[policy_name] = policy_layout(policy)
            layout = layouts[policy_name]
            groups = status.getLocatedBlocks().getLocatedBlocks()
            blocks = [
                block_at(location, tuple(bytes(group.getBlockIndices())))
                for location, group in zip(locations, groups)
            ]
        yield _ListedFile(name, int(status.getLen()), layout, blocks, status)


def block_at(location: Mapping[str, Any], indices: tuple[int, ...] = ()) -> Block:
    """Return the block that the fields of Hadoop's BlockLocation describe."""
    if location["corrupt"]:  # Hadoop lists the nodes with the corrupt copies
        return Block(location["length"], ())
    return Block(location["length"], tuple(location["names"]), indices)


def _last_heartbeats(status: Any) -> dict[str, int]:
    """Return the last heartbeat of each node of a file, in ms of the NameNode's clock."""
    found = {}
    for block in status.getLocatedBlocks().getLocatedBlocks():
        for node in block.getLocations():
            found[str(node.getXferAddr())] = int(node.getLastUpdate())
    return found
