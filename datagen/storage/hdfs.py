"""HDFS: replicated, or erasure coded by the policy of the directory."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from datagen.layout import UNKNOWN, Layout, LayoutKind
from datagen.observed_layout import StoredFiles
from datagen.spark.filesystem import Directory
from datagen.storage.namenode import policy_layout, stored_files
from harness.model.errors import BadInput

REPLICATION = "REPLICATION"
"""The policy of a directory whose files are replicated although a parent's are coded."""


class Hdfs:
    """What a file is, HDFS only names: which copies and stripes exist is counted block by block."""

    name = "hdfs"
    scheme = "hdfs"
    advice = ""

    def check_available(self, directory: Directory) -> None:
        """Nothing to ask."""

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        """The layout, with the cell of the policy that stores it; the policy is enabled if need be."""
        if layout is None:
            return None
        if layout.kind is LayoutKind.UNKNOWN:
            raise BadInput(f"--layout {layout}: HDFS knows its layouts; name one, or leave it out")
        if layout.kind is LayoutKind.REPLICATED:
            _check_nodes(directory, layout)
            return layout
        name, full = _policy_for(directory, layout)
        _check_nodes(directory, full)
        _enable(directory, name)
        return full

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """Set the directory's policy; the number of copies goes with the writing tasks."""
        if layout is None:
            return {}
        with directory.told():
            inherited = directory.fs.getErasureCodingPolicy(directory.path)
        if layout.kind is not LayoutKind.REPLICATED:
            _set_policy(directory, _policy_for(directory, layout)[0])
            return {}
        if inherited is not None:
            _set_policy(directory, REPLICATION)
        # A client that is cached already would keep the number that it was made with.
        return {"dfs.replication": str(layout.data), "fs.hdfs.impl.disable.cache": "true"}

    def finish(self, directory: Directory, names: list[str], layout: Layout | None) -> None:
        """Nothing to do: HDFS makes what is missing by itself."""

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """Every file with every block of it, in batches of a thousand files a call of the NameNode."""
        with directory.told():
            files = stored_files(directory, names)
            coded = any(file.layout.kind is not LayoutKind.REPLICATED for file in files.values())
            # Whether DataNodes drop from the page cache what they have read, they do not tell.
            return StoredFiles(files, coder=_coder(directory) if coded else None)

    def why(self, asked: Layout | None, stored: StoredFiles) -> str:
        """HDFS says nothing when it cannot place what a policy promises."""
        copied = asked is not None and asked.kind is LayoutKind.REPLICATED
        if asked and stored.layout == asked and stored.missing and not copied:
            return (
                "HDFS writes without full parity, and without an error, where too few DataNodes take "
                f"a stripe each: {asked} needs {asked.nodes}"
            )
        if stored.missing or stored.excess:
            return "a DataNode may be down, full, still copying or being taken out of service"
        if copied and any(layout.parity for layout in stored.layouts):
            return "on HDFS the erasure coding policy of a directory goes before a number of copies"
        return ""


def _policy_for(directory: Directory, layout: Layout) -> tuple[str, Layout]:
    """Name and full layout of the policy; of several that differ in their cell, the largest cell's."""
    policies = {}
    with directory.told():
        for info in directory.fs.getAllErasureCodingPolicies():
            policy = info.getPolicy()
            policies[str(policy.getName())] = policy_layout(policy)
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


def _enable(directory: Directory, name: str) -> None:
    with directory.told():
        enabled = {
            str(info.getPolicy().getName())
            for info in directory.fs.getAllErasureCodingPolicies()
            if info.isEnabled()
        }
    if name not in enabled:
        with directory.told(f"`hdfs ec -enablePolicy -policy {name}` is needed and was refused"):
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


def _coder(directory: Directory) -> str:
    """What codes and decodes in this JVM; Hadoop takes native code where it finds its library."""
    native = directory.jvm.org.apache.hadoop.io.erasurecode.ErasureCodeNative
    return "native" if native.isNativeCodeLoaded() else "java"


STORAGE = Hdfs()
