"""The bytes that a node's disks read and wrote, each counted once although block devices stand on others.

Device mapper, md, bcache and drbd count the bytes of the disks below them again, and the disks of a mirror
each count what was written once. So the devices on top count, as they do in /proc/PID/io. Loop devices and
zram are no disks: they keep their bytes in a file or in memory.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from harness.model.task_metrics import DiskBytes
from harness.node.cgroup import read_text
from harness.node.namespaces import boot_of
from harness.node.snapshot import NodeReading, NodesSnapshot, growth, unread_hosts

READ, WRITTEN, OWN_READ = "disk_read_bytes", "disk_written_bytes", "own_read_bytes"
"""The counters of a node's disks, and of what the application's own processes read from them."""
_SECTOR = 512
_SECTORS_READ, _SECTORS_WRITTEN = 2, 6


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
    devices = [stat.parent for stat in root.glob("sys/block/*/stat")]
    below = {device: {each.name for each in device.glob("slaves/*")} for device in devices}
    disks = [device for device in devices if (device / "device").exists()]
    # A disk behind several NVMe controllers has a hidden path through each: `nvme0c1n1` of `nvme0n1`.
    hidden = [device for device in disks if read_text(device / "hidden") == "1"]
    if any(any(_sectors(path)) and not any(_sectors(_head(path))) for path in hidden):
        # Before Linux 6.3 the paths alone count, and nothing does for the partitions of such a disk.
        return _difference([disk for disk in disks if not below[disk]], [])
    # A partition is a directory in its device's.
    parts = {each.name: each for dev in devices for each in (dev, *dev.glob(f"{dev.name}*"))}

    def is_on_disk(part: Path) -> bool:
        device = part if part in below else part.parent
        return device in disks or any(is_on_disk(parts[n]) for n in below[device] & parts.keys())

    caches = {name for name, part in parts.items() if (part / "bcache/set").exists()}
    held = caches.union(*below.values())
    top = [each for each in devices if each not in hidden and each.name not in held]
    top = [each for each in top if is_on_disk(each)]
    rest = [part for name, part in parts.items() if name in held and part.parent in top]
    return _difference(top, rest) if top else None


def _difference(counted: Sequence[Path], again: Sequence[Path]) -> tuple[int, int]:
    """Return the bytes that devices read and wrote, without those that some of them count `again`."""
    signed = [(1, *_sectors(each)) for each in counted] + [(-1, *_sectors(each)) for each in again]
    read = sum(sign * sectors for sign, sectors, _ in signed)
    written = sum(sign * sectors for sign, _, sectors in signed)
    return read * _SECTOR, written * _SECTOR


def disk_names(root: Path = Path("/")) -> list[str]:
    """Return the disks themselves, without what stands on them, as /proc/diskstats names them.

    Of a disk behind several NVMe controllers, the paths count if it does not count itself.
    """
    files = root.glob("sys/block/*/stat")
    disks = [file.parent for file in files if (file.parent / "device").exists()]
    return sorted(
        disk.name.replace("!", "/")
        for disk in disks
        if read_text(disk / "hidden") != "1" or not any(_sectors(_head(disk)))
    )


def _head(path: Path) -> Path:
    return path.with_name(re.sub("c[0-9]+", "", path.name))


def _sectors(device: Path) -> tuple[int, int]:
    """Return the sectors that a device read, and that it wrote; 0 if it is not there."""
    counts = read_text(device / "stat").split()
    return (int(counts[_SECTORS_READ]), int(counts[_SECTORS_WRITTEN])) if counts else (0, 0)
