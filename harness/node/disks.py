"""The bytes that a node's disks read and wrote, each counted once although block devices stand on others.

The disks count, and not the partitions and volumes on them, which count the same bytes again. But each disk
of a RAID array counts its part of what was written once: there, the array counts, as in /proc/PID/io. Arrays
are those of md, of LVM, which makes a volume for each copy, and of dmraid. The copies that a Btrfs or a ZFS
makes are not seen: each counts.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from harness.model.task_metrics import DiskBytes
from harness.node.cgroup import read_text
from harness.node.devices import is_disk
from harness.node.namespaces import boot_of
from harness.node.snapshot import NodeReading, NodesSnapshot, growth, unread_hosts

READ, WRITTEN, OWN_READ = "disk_read_bytes", "disk_written_bytes", "own_read_bytes"
"""The counters of a node's disks, and of what the application's own processes read from them."""
_SECTOR = 512
_SECTORS_READ, _SECTORS_WRITTEN = 2, 6
_COPY = re.compile("_[rm]image_")
"""In the name of a hidden volume of LVM that has one copy, or one stripe, of another volume."""
_ARRAY_OF_DMRAID = "DMRAID-"


def disk_bytes_between(before: NodesSnapshot, after: NodesSnapshot) -> DiskBytes | None:
    """Return what the disks of all nodes read and wrote between two snapshots.

    Nodes on one machine count the same disks, which count once. None if the disks of an executor are unknown.
    """
    machines = {
        boot_of(identity): grown
        for identity, node in before.nodes.items()
        if identity in after.nodes and (grown := disk_growth(node, after.nodes[identity]))
    }
    if not machines or unread_hosts(before, after, lambda each: boot_of(each) in machines):
        return None
    return DiskBytes(
        sum(machine.read_bytes for machine in machines.values()),
        sum(machine.written_bytes for machine in machines.values()),
        _own_read_bytes(before, after),
    )


def _own_read_bytes(before: NodesSnapshot, after: NodesSnapshot) -> int | None:
    """Return what the application read, None if that is unknown; a namespace of processes counts once."""
    pairs = [
        (node, after.nodes[name]) for name, node in before.nodes.items() if name in after.nodes
    ]
    own = {node.namespace: growth(node, then, OWN_READ) for node, then in pairs}
    return None if None in own.values() else sum(own.values())


def disk_growth(before: NodeReading, after: NodeReading) -> DiskBytes | None:
    """Return what a node's disks read and wrote between two readings; None if that is unknown."""
    read, written = (growth(before, after, name) for name in (READ, WRITTEN))
    return None if read is None or written is None else DiskBytes(read, written)


def disk_bytes(root: Path = Path("/")) -> tuple[int, int] | None:
    """Return the bytes that all disks read and wrote since the node booted; None if there is no disk."""
    counted = [(1, disk) for disk in _disks(root)]
    if not counted:
        return None
    for array, members in _arrays(root):
        # Before Linux 6.3, partitions of a disk with several paths count nothing.
        if any(any(_sectors(member)) for member in members):
            counted += [(1, array), *((-1, member) for member in members)]
    signed = [(sign, *_sectors(device)) for sign, device in counted]
    read = sum(sign * sectors for sign, sectors, _ in signed)
    written = sum(sign * sectors for sign, _, sectors in signed)
    return read * _SECTOR, written * _SECTOR


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
    files = root.glob("sys/block/*/stat")
    return [
        disk
        for disk in filter(is_disk, (file.parent for file in files))
        if read_text(disk / "hidden") != "1" or not any(_sectors(_head(disk)))
    ]


def _head(path: Path) -> Path:
    return path.with_name(re.sub("c[0-9]+", "", path.name))


def _sectors(device: Path) -> tuple[int, int]:
    """Return the sectors that a device read, and that it wrote; 0 if it is not there."""
    counts = read_text(device / "stat").split()
    return (int(counts[_SECTORS_READ]), int(counts[_SECTORS_WRITTEN])) if counts else (0, 0)
