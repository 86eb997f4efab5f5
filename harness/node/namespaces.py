"""The namespaces of this process: which interfaces, and which processes, it sees of its machine.

A namespace is named by the machine's boot and the inode of the namespace. Executors run this, too, and need
Python alone.
"""

import os
from pathlib import Path

FIRST_PID_NAMESPACE = "pid:[4026531836]"
"""The namespace in which a machine boots; the kernel fixes its number (PROC_PID_INIT_INO)."""


def node_identity(root: Path = Path("/")) -> str:
    """Return the namespace of this process's network interfaces, which identifies a node."""
    return _namespace("net", root)


def process_namespace(root: Path = Path("/")) -> str:
    """Return the namespace in which the numbers of processes count."""
    return _namespace("pid", root)


def is_contained(root: Path = Path("/")) -> bool:
    """Whether this process sees the processes of its container alone."""
    return _inode("pid", root) != FIRST_PID_NAMESPACE


def boot_of(namespace: str) -> str:
    """Return the boot in the name of a namespace, which all namespaces of a machine share."""
    return namespace.partition(" ")[0]


def _namespace(kind: str, root: Path) -> str:
    boot = (root / "proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {_inode(kind, root)}"


def _inode(kind: str, root: Path) -> str:
    return os.readlink(root / f"proc/self/ns/{kind}")
