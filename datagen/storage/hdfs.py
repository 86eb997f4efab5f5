"""HDFS: replicated, or erasure coded by the policy of the directory."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from datagen.blocks import Holders, replicated_file, striped_file
from datagen.filesystem import Directory
from datagen.layout import UNKNOWN, Kind, Layout
from datagen.stored import Stored, StoredFile
from harness.errors import BadInput

REPLICATION = "REPLICATION"
"""The policy of a directory whose files are replicated although a parent's are coded."""

CODECS = {"rs": Kind.REED_SOLOMON, "xor": Kind.XOR}


class Hdfs:
    """What a file is, HDFS only names: which copies and stripes exist is counted block by block."""

    name = "hdfs"
    scheme = "hdfs"
    advice = ""

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        """The layout, with the cell of the policy that stores it; the policy is enabled if need be."""
        if layout is None:
            return None
        if layout.kind is Kind.UNKNOWN:
            raise BadInput(f"--layout {layout}: HDFS knows its layouts; name one, or leave it out")
        if layout.kind is not Kind.REPLICATED:
            name, layout = _policy_for(directory, layout)
            _enable(directory, name)
        _check_nodes(directory, layout)
        return layout

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """Set the directory's policy; the number of copies goes with the writing tasks."""
        if layout is None:
            return {}
        with directory.told():
            inherited = directory.fs.getErasureCodingPolicy(directory.path)
        if layout.kind is not Kind.REPLICATED:
            _set_policy(directory, _policy_for(directory, layout)[0])
            return {}
        if inherited is not None:
            _set_policy(directory, REPLICATION)
        # A client that is cached already would keep the number that it was made with.
        return {"dfs.replication": str(layout.data), "fs.hdfs.impl.disable.cache": "true"}

    def finish(self, directory: Directory, names: list[str], layout: Layout | None) -> None:
        """Nothing to do: HDFS makes what is missing by itself."""

    def observe(self, directory: Directory, names: Collection[str]) -> Stored:
        """Every file with every block of it, in batches of a thousand files a call of the NameNode."""
        with directory.told():
            files = dict(_files(directory, names))
            coded = any(file.layout.kind is not Kind.REPLICATED for file in files.values())
            conf = directory.fs.getConf()
            return Stored(
                files=files,
                coder=_coder(directory) if coded else None,
                page_cache=not conf.getBoolean("dfs.client.cache.drop.behind.reads", False),  # noqa: FBT003  Java's signature
            )

    def why(self, asked: Layout | None, stored: Stored) -> str:
        """HDFS says nothing when it cannot place what a policy promises."""
        if (
            stored.layout == asked
            and stored.lacking
            and asked
            and asked.kind is not Kind.REPLICATED
        ):
            return (
                "HDFS writes without full parity, and without an error, where too few DataNodes take "
                f"a stripe each: {asked} needs {asked.nodes}"
            )
        if stored.lacking:
            return "a DataNode may be down, full or still copying"
        return "on HDFS the erasure coding policy of the directory goes before any number of copies"


def _policy_for(directory: Directory, layout: Layout) -> tuple[str, Layout]:
    """Name and full layout of the policy; of several that differ in their cell, the largest cell's."""
    policies = {}
    with directory.told():
        for info in directory.fs.getAllErasureCodingPolicies():
            policy = info.getPolicy()
            policies[str(policy.getName())] = _coded(policy)
    fitting = [
        (full.cell_bytes or 0, name, full)
        for name, full in policies.items()
        if (full.kind, full.data, full.parity) == (layout.kind, layout.data, layout.parity)
        and layout.cell_bytes in (None, full.cell_bytes)
    ]
    if not fitting:
        known = ", ".join(sorted(str(full) for full in policies.values() if full != UNKNOWN))
        raise BadInput(
            f"--layout {layout}: {directory.uri} is on an HDFS without such a policy; it has "
            f"replicated:N, {known}; more are added with `hdfs ec -addPolicies`"
        )
    _, name, full = max(fitting)
    return name, full


def _coded(policy: Any) -> Layout:
    kind = CODECS.get(str(policy.getCodecName()))
    if kind is None:  # rs-legacy, or a codec of somebody's own
        return UNKNOWN
    data, parity, cell = policy.getNumDataUnits(), policy.getNumParityUnits(), policy.getCellSize()
    return Layout(kind, int(data), int(parity), int(cell))


def _enable(directory: Directory, name: str) -> None:
    with directory.told():
        enabled = {
            str(info.getPolicy().getName())
            for info in directory.fs.getAllErasureCodingPolicies()
            if info.isEnabled()
        }
    if name not in enabled:
        with directory.told(
            f"the erasure coding policy {name} is not enabled; have an administrator run "
            f"`hdfs ec -enablePolicy -policy {name}`"
        ):
            directory.fs.enableErasureCodingPolicy(name)


def _set_policy(directory: Directory, name: str) -> None:
    with directory.told():
        directory.fs.setErasureCodingPolicy(directory.path, name)


def _check_nodes(directory: Directory, layout: Layout) -> None:
    """Raise BadInput if the live DataNodes are too few to ever hold every copy or stripe."""
    live = live_nodes(directory)
    if live is not None and live < layout.nodes:
        raise BadInput(
            f"--layout {layout} needs {layout.nodes} DataNodes, and {directory.uri} has {live}; "
            "start more of them, or ask for another layout"
        )


def live_nodes(directory: Directory) -> int | None:
    """DataNodes that take new blocks; None if only an administrator may ask for them."""
    types = directory.jvm.org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType
    try:
        with directory.told():
            nodes = directory.fs.getDataNodeStats(types.LIVE)
    except BadInput:
        # What cannot be told beforehand is found when it has been written.
        return None
    return sum(str(node.getAdminState().name()) == "NORMAL" for node in nodes)


def _files(directory: Directory, names: Collection[str]) -> Iterator[tuple[str, StoredFile]]:
    # All blocks of a file in one text: a call for each field of each would take minutes.
    to_json = directory.jvm.com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString
    policies: dict[str, Layout] = {}
    listing = directory.fs.listLocatedStatus(directory.path)
    while listing.hasNext():
        status = listing.next()
        if (name := str(status.getPath().getName())) not in names:
            continue
        size = int(status.getLen())
        blocks = json.loads(to_json(status.getBlockLocations()))
        policy = status.getErasureCodingPolicy()
        if policy is None:
            layout = Layout(Kind.REPLICATED, int(status.getReplication()))
            yield name, replicated_file(layout, size, map(_copies, blocks))
        else:
            policy_name = str(policy.getName())
            layout = policies.get(policy_name) or policies.setdefault(policy_name, _coded(policy))
            groups = status.getLocatedBlocks().getLocatedBlocks()
            yield name, striped_file(layout, size, map(_stripes, blocks, groups))


def _copies(block: Mapping[str, Any]) -> tuple[int, list[str]]:
    """Bytes of a block, and the nodes that hold it as `address:port`."""
    # Of a block that is corrupt on all nodes, Hadoop lists those.
    return block["length"], [] if block["corrupt"] else block["names"]


def _stripes(block: Mapping[str, Any], group: Any) -> tuple[int, Holders]:
    """Bytes of data in a group, and the nodes that hold each of its stripes."""
    length, nodes = _copies(block)
    holders = defaultdict(list)
    for index, node in zip(bytes(group.getBlockIndices()), nodes, strict=False):
        holders[index].append(node)
    return length, holders


def _coder(directory: Directory) -> str:
    """What codes and decodes in this JVM; Hadoop takes native code where it finds its library."""
    native = directory.jvm.org.apache.hadoop.io.erasurecode.ErasureCodeNative
    return "native" if native.isNativeCodeLoaded() else "java"


STORAGE = Hdfs()
