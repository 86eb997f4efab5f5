"""The bytes that a node's disks read and wrote, each counted once although block devices stand on others.

The disks count, and not the partitions and volumes on them, which count the same bytes again. Each disk of a
RAID array counts a copy of what was written once, so there the array counts, as in /proc/PID/io. Arrays are
made by md, by dmraid, or by LVM, which makes a volume for each copy. The copies that a Btrfs or a ZFS makes
are not seen, so each of them counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.model.task_metrics import DiskBytes
from harness.node.block_devices import is_disk
from harness.node.cgroup import read_text
from harness.node.namespaces import boot_of
from harness.node.snapshot import NodeReading, NodesSnapshot, growth, pairs, unread_hosts

READ = "disk_read_bytes"
WRITTEN = "disk_written_bytes"
OWN_READ = "own_read_bytes"
"""The counters of a node's disks, and of what the application's own processes read from them."""
_SECTOR = 512
_SECTORS_READ = 2
_SECTORS_WRITTEN = 6
_COPY = re.compile("_[rm]image_")
"""In the name of a hidden volume of LVM that has one copy, or one stripe, of another volume."""
_ARRAY_OF_DMRAID = "DMRAID-"


def disk_bytes_between(before: NodesSnapshot, after: NodesSnapshot) -> DiskBytes | None:
    """Return what the disks of all nodes read and wrote between two snapshots.

    Nodes on one machine count the same disks, which count once. None if the disks of an executor are unknown.
    """
    machines = {}
    own = {}
    for identity, (node, later) in pairs(before, after).items():
        grown = disk_growth(node, later)
        if grown:
            machines[boot_of(identity)] = grown
        # A namespace of processes counts once.
        own[node.namespace] = growth(node, later, OWN_READ)
    if not machines or unread_hosts(before, after, lambda each: boot_of(each) in machines):
        return None
    return DiskBytes(
        sum(machine.read_bytes for machine in machines.values()),
        sum(machine.written_bytes for machine in machines.values()),
        None if None in own.values() else sum(own.values()),
    )


def disk_growth(before: NodeReading, after: NodeReading) -> DiskBytes | None:
    """Return what a node's disks read and wrote between two readings; None if that is unknown."""
    read = growth(before, after, READ)
    written = growth(before, after, WRITTEN)
    if read is None or written is None:
        return None
    return DiskBytes(read, written)


def disk_bytes(root: Path = Path("/")) -> tuple[int, int] | None:
    """Return the bytes that all disks read and wrote since the node booted; None if there is no disk."""
    disks = _disks(root)
    if not disks:
        return None
    total = _sectors_of_all(disks)
    for array, members in _arrays(root):
        copies = _sectors_of_all(members)
        # Before Linux 6.3, partitions of a disk with several paths count nothing.
        if any(copies):
            whole = _sectors(array)
            total = _Sectors(
                total.read + whole.read - copies.read,
                total.written + whole.written - copies.written,
            )
    return total.read * _SECTOR, total.written * _SECTOR


class _Sectors(NamedTuple):
    """The sectors that were read and written."""

    read: int
    written: int


def _sectors_of_all(devices: Sequence[Path]) -> _Sectors:
    counts = [_sectors(device) for device in devices]
    return _Sectors(sum(each.read for each in counts), sum(each.written for each in counts))


def _arrays(root: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield each RAID array, and the devices on which it stands."""
    for device in root.glob("sys/block/*"):
        members = list(device.glob("slaves/*"))
        is_array = device.name.startswith("md")
        if device.name.startswith("dm-"):
            is_array = read_text(device / "dm/uuid").startswith(_ARRAY_OF_DMRAID)
            is_array |= any(_COPY.search(read_text(member / "dm/name")) for member in members)
        if is_array:
            yield device, members


def disk_names(root: Path = Path("/")) -> list[str]:
    """Return the disks themselves, without what stands on them, as /proc/diskstats names them."""
    return sorted(disk.name.replace("!", "/") for disk in _disks(root))


def _disks(root: Path) -> list[Path]:
    """Return the devices with hardware.

    A disk behind several NVMe controllers has a hidden path through each, `nvme0c1n1` of `nvme0n1`: before
    Linux 6.3 the paths count, and the disk itself does not.
    """
    found = []
    for file in root.glob("sys/block/*/stat"):
        disk = file.parent
        head = disk.with_name(re.sub("c[0-9]+", "", disk.name))
        is_path = read_text(disk / "hidden") == "1" and any(_sectors(head))
        if is_disk(disk) and not is_path:
            found.append(disk)
    return found


def _sectors(device: Path) -> _Sectors:
    """Return the sectors that a device read, and that it wrote; 0 if it is not there."""
    counts = read_text(device / "stat").split()
    if not counts:
        return _Sectors(0, 0)
    return _Sectors(int(counts[_SECTORS_READ]), int(counts[_SECTORS_WRITTEN]))
