"""What an HDFS NameNode reports about every block of the files of a directory."""

from __future__ import annotations  # for Python 3.8

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, List, Tuple

from datagen.filesystem import Directory
from datagen.observed_layout import Holders, StoredFile, replicated_file, striped_file
from harness.model.layout import UNKNOWN, Layout, LayoutKind, striped_layout

SILENT_MS = 30_000
"""A DataNode without a heartbeat for this long does not count. HDFS itself calls such a node stale, and
declares it dead only after ten minutes."""

Indices = Tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """A block or a group of stripes, and the nodes that store it, as `address:port`.

    For a group, `stripes` has the index of the stripe on each node; for a block, it is empty.
    """

    bytes: int
    nodes: tuple[str, ...]
    stripes: Indices = ()


ListedFile = Tuple[str, int, Layout, List[Block]]
"""Name, bytes, layout and blocks of a file."""


def stored_files(directory: Directory, names: Collection[str]) -> dict[str, StoredFile]:
    """Return how these files are stored. Copies and stripes on silent nodes count as missing."""
    heartbeats: dict[str, int] = {}
    listed = list(_list_files(directory, names, heartbeats))
    silent = silent_nodes(heartbeats)
    return {
        name: stored_file(layout, size, blocks, silent) for name, size, layout, blocks in listed
    }


def policy_layout(policy: Any) -> Layout:
    """Return the layout of an erasure coding policy; UNKNOWN if no text form describes it."""
    data, parity, cell = policy.getNumDataUnits(), policy.getNumParityUnits(), policy.getCellSize()
    return striped_layout(str(policy.getCodecName()), int(data), int(parity), int(cell))


def silent_nodes(heartbeats: Mapping[str, int]) -> frozenset[str]:
    """Return the nodes whose last heartbeat is long before the latest one of all nodes.

    Times are in ms of the NameNode's clock.
    """
    latest = max(heartbeats.values(), default=0)
    return frozenset(node for node, last in heartbeats.items() if latest - last > SILENT_MS)


def stored_file(
    layout: Layout, size: int, blocks: Collection[Block], silent: frozenset[str]
) -> StoredFile:
    """Return how a file of `size` bytes with these blocks is stored."""
    if layout == UNKNOWN:
        return StoredFile(UNKNOWN, size)
    if layout.kind is LayoutKind.REPLICATED:
        copies = ((block.bytes, set(block.nodes) - silent) for block in blocks)
        return replicated_file(layout, size, copies)
    return striped_file(layout, size, ((block.bytes, _holders(block, silent)) for block in blocks))


def _holders(block: Block, silent: frozenset[str]) -> Holders:
    holders = defaultdict(list)
    for index, node in zip(block.stripes, block.nodes):
        if node not in silent:
            holders[index].append(node)
    return holders


def _list_files(
    directory: Directory, names: Collection[str], heartbeats: dict[str, int]
) -> Iterator[ListedFile]:
    """Yield the files, and add the last heartbeat of each node that stores a part of one."""
    # One text has all blocks of a file: a call for every field of every block would take minutes.
    to_json = directory.jvm.com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString
    layouts: dict[str, Layout] = {}
    listing = directory.fs.listLocatedStatus(directory.path)
    while listing.hasNext():
        status = listing.next()
        if (name := str(status.getPath().getName())) not in names:
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
            indices = (tuple(bytes(group.getBlockIndices())) for group in groups)
            blocks = list(map(block_at, locations, indices))
        if any(node not in heartbeats for block in blocks for node in block.nodes):
            heartbeats.update(_last_heartbeats(status))
        yield name, int(status.getLen()), layout, blocks


def block_at(location: Mapping[str, Any], indices: Indices = ()) -> Block:
    """Return the block that the fields of Hadoop's BlockLocation describe."""
    # For a block without any intact copy, Hadoop lists the nodes with the corrupt copies.
    nodes = () if location["corrupt"] else tuple(location["names"])
    return Block(location["length"], nodes, indices[: len(nodes)])


def _last_heartbeats(status: Any) -> dict[str, int]:
    """Return the last heartbeat of each node of a file, in ms of the NameNode's clock."""
    return {
        str(node.getXferAddr()): int(node.getLastUpdate())
        for block in status.getLocatedBlocks().getLocatedBlocks()
        for node in block.getLocations()
    }
