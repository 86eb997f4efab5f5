"""What an HDFS NameNode says of every block of a directory's files."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from datagen.layout import UNKNOWN, Layout, LayoutKind, coded_layout
from datagen.observed_layout import Holders, StoredFile, replicated_file, striped_file
from datagen.spark.filesystem import Directory

SILENT_MS = 30_000
"""A DataNode that has not been heard of for so long does not count, though the NameNode calls it dead
only after ten minutes; HDFS itself calls such a node stale."""

Indices = tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """A block, or a group of stripes, and the nodes that hold it as `address:port`.

    Of a group, `stripes` has the index of the stripe that each node holds; of a block it is empty.
    """

    bytes: int
    nodes: tuple[str, ...]
    stripes: Indices = ()


Listed = tuple[str, int, Layout, list[Block]]
"""Name, bytes, layout and blocks of a file."""


def stored_files(directory: Directory, names: Collection[str]) -> dict[str, StoredFile]:
    """How these files lie. A copy on a silent node is not there."""
    heard: dict[str, int] = {}
    listed = list(_listed(directory, names, heard))
    silent = silent_nodes(heard)
    return {
        name: stored_file(layout, size, blocks, silent) for name, size, layout, blocks in listed
    }


def policy_layout(policy: Any) -> Layout:
    """The layout that an erasure coding policy makes; UNKNOWN if it has no name here."""
    data, parity, cell = policy.getNumDataUnits(), policy.getNumParityUnits(), policy.getCellSize()
    return coded_layout(str(policy.getCodecName()), int(data), int(parity), int(cell))


def silent_nodes(heard: Mapping[str, int]) -> frozenset[str]:
    """The nodes that were last heard of long before the others, in ms of the NameNode's clock."""
    latest = max(heard.values(), default=0)
    return frozenset(node for node, last in heard.items() if latest - last > SILENT_MS)


def stored_file(
    layout: Layout, size: int, blocks: Collection[Block], silent: frozenset[str]
) -> StoredFile:
    """How a file lies that has these blocks."""
    if layout == UNKNOWN:
        return StoredFile(UNKNOWN, size)
    if layout.kind is LayoutKind.REPLICATED:
        held = ((block.bytes, set(block.nodes) - silent) for block in blocks)
        return replicated_file(layout, size, held)
    return striped_file(layout, size, ((block.bytes, _holders(block, silent)) for block in blocks))


def _holders(block: Block, silent: frozenset[str]) -> Holders:
    holders = defaultdict(list)
    for index, node in zip(block.stripes, block.nodes, strict=True):
        if node not in silent:
            holders[index].append(node)
    return holders


def _listed(
    directory: Directory, names: Collection[str], heard: dict[str, int]
) -> Iterator[Listed]:
    """The files; on the way, when each node that holds a part of one was last heard of."""
    # All blocks of a file in one text: a call for each field of each would take minutes.
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
        if any(node not in heard for block in blocks for node in block.nodes):
            heard |= _heard(status)
        yield name, int(status.getLen()), layout, blocks


def block_at(location: Mapping[str, Any], indices: Indices = ()) -> Block:
    """From the fields of Hadoop's BlockLocation."""
    # Of a block that is corrupt on all nodes, Hadoop lists those.
    nodes = () if location["corrupt"] else tuple(location["names"])
    return Block(location["length"], nodes, indices[: len(nodes)])


def _heard(status: Any) -> dict[str, int]:
    """When the nodes that hold a part of a file last spoke to the NameNode, in ms of its clock."""
    return {
        str(node.getXferAddr()): int(node.getLastUpdate())
        for block in status.getLocatedBlocks().getLocatedBlocks()
        for node in block.getLocations()
    }
