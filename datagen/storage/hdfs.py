"""HDFS: replicated, or erasure coded by the policy of the directory."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Collection, Mapping
from typing import ClassVar

from datagen.filesystem import Directory
from datagen.observed_layout import StoredFiles
from datagen.storage import Storage, require_nodes
from datagen.storage.namenode import policy_layout, stored_files
from harness.base.errors import BadInput
from harness.model.layout import UNKNOWN, Layout, LayoutKind

REPLICATION = "REPLICATION"
"""The policy that makes the files of a directory replicated even if its parent is erasure coded."""


class Hdfs(Storage):
    """HDFS only declares the layout of a file; which copies and stripes exist is counted by block."""

    name = "hdfs"
    scheme = "hdfs"
    # DataNodes heed it if they have libhadoop.
    cold_properties: ClassVar = {"dfs.client.cache.drop.behind.reads": "true"}

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout | None:
        """Return the layout with the cell of its policy, and enable the policy if necessary."""
        if layout is None:
            return None
        if layout.kind is LayoutKind.UNKNOWN:
            raise BadInput(f"--layout {layout}: HDFS knows its layouts; name one, or leave it out")
        policy = None
        if layout.kind is not LayoutKind.REPLICATED:
            policy, layout = _policy_for(directory, layout)
        live = live_nodes(directory)
        if live is not None:
            require_nodes(directory, layout, live, "DataNodes")
        if policy is not None:
            _enable(directory, policy)
        return layout

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """Set the policy of the directory. The writing tasks get the number of copies."""
        if layout is None:
            return {}
        fs = directory.fs
        with directory.errors_as_bad_input():
            if layout.kind is not LayoutKind.REPLICATED:
                policy, _ = _policy_for(directory, layout)
                fs.setErasureCodingPolicy(directory.path, policy)
                return {}
            if fs.getErasureCodingPolicy(directory.path) is not None:
                fs.setErasureCodingPolicy(directory.path, REPLICATION)
        # A cached client would keep the number of copies with which it was created.
        return {"dfs.replication": str(layout.data), "fs.hdfs.impl.disable.cache": "true"}

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """Look at every block of every file; one call of the NameNode lists a thousand files."""
        with directory.errors_as_bad_input():
            files = stored_files(directory, names)
            coder = None
            if any(file.layout.kind is not LayoutKind.REPLICATED for file in files.values()):
                coder = _coder(directory)
        # DataNodes do not report whether they drop what they read from the page cache.
        return StoredFiles(files, coder)

    def explain(self, expected: Layout | None, stored: StoredFiles) -> str:
        """HDFS reports no error if it cannot store all that a policy promises."""
        is_copied = expected is not None and expected.kind is LayoutKind.REPLICATED
        if expected and stored.layout == expected and stored.missing and not is_copied:
            return (
                "HDFS writes without full parity, and without an error, if too few DataNodes accept "
                f"a stripe each: {expected} needs {expected.nodes}"
            )
        if stored.missing or stored.excess:
            return "a DataNode may be down, full, still copying, or being decommissioned"
        if is_copied and any(layout.parity for layout in stored.layouts):
            return "on HDFS, the erasure coding policy of a directory overrides a number of copies"
        return ""


def _policy_for(directory: Directory, layout: Layout) -> tuple[str, Layout]:
    """Return the name and the full layout of the policy for a layout.

    If several policies differ in their cell, the one with the largest cell is chosen.
    """
    with directory.errors_as_bad_input():
        policies = [info.getPolicy() for info in directory.fs.getAllErasureCodingPolicies()]
        layouts = {str(policy.getName()): policy_layout(policy) for policy in policies}
    fitting = [name for name, full in layouts.items() if layout.is_met_by(full)]
    if not fitting:
        known = ", ".join(sorted(str(full) for full in layouts.values() if full != UNKNOWN))
        raise BadInput(
            f"--layout {layout}: {directory.uri} is on an HDFS without such a policy; it has "
            f"replicated:N, {known}; `hdfs ec -addPolicies` adds more"
        )
    name = max(fitting, key=lambda fitting_name: layouts[fitting_name].cell_bytes or 0)
    return name, layouts[name]


def _enable(directory: Directory, name: str) -> None:
    with directory.errors_as_bad_input():
        enabled = {
            str(info.getPolicy().getName())
            for info in directory.fs.getAllErasureCodingPolicies()
            if info.isEnabled()
        }
    if name not in enabled:
        command = f"hdfs ec -enablePolicy -policy {name}"
        with directory.errors_as_bad_input(f"`{command}` is needed and was refused"):
            directory.fs.enableErasureCodingPolicy(name)


def live_nodes(directory: Directory) -> int | None:
    """Return how many DataNodes accept new blocks; None if only an administrator may know."""
    types = directory.jvm.org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType
    try:
        with directory.errors_as_bad_input():
            nodes = directory.fs.getDataNodeStats(types.LIVE)
    except BadInput:
        return None  # too few nodes will then show when the files are observed
    return sum(str(node.getAdminState().name()) == "NORMAL" for node in nodes)


def _coder(directory: Directory) -> str:
    """Return what codes and decodes in this JVM: Hadoop uses native code if it finds its library."""
    native = directory.jvm.org.apache.hadoop.io.erasurecode.ErasureCodeNative
    return "native" if native.isNativeCodeLoaded() else "java"


STORAGE = Hdfs()
