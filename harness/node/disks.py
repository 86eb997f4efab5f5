"""The bytes that a node's disks read and wrote, each counted once although block devices stand on others.

Device mapper, md, bcache and drbd count the bytes of the disks below them again, and the disks of a mirror
each count what was written once. So the devices on top count, as they do in /proc/PID/io. Loop devices and
zram are no disks: they keep their bytes in a file or in memory.
"""

import re
from pathlib import Path

from harness.node.cgroup import read_text

_SECTOR = 512
_SECTORS_READ, _SECTORS_WRITTEN = 2, 6


def disk_bytes(root: Path = Path("/")) -> int | None:
    """Return the bytes of all disks since the node booted; None if there is no disk."""
    devices = [stat.parent for stat in root.glob("sys/block/*/stat")]
    below = {device: {each.name for each in device.glob("slaves/*")} for device in devices}
    disks = [device for device in devices if (device / "device").exists()]
    # A disk behind several NVMe controllers has a hidden path through each: `nvme0c1n1` of `nvme0n1`.
    hidden = [device for device in disks if read_text(device / "hidden") == "1"]
    if any(_sectors(path) and not _sectors(_head(path)) for path in hidden):
        # Before Linux 6.3 the paths alone count, and nothing does for the partitions of such a disk.
        return sum(_sectors(disk) for disk in disks if not below[disk]) * _SECTOR
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
    return (sum(map(_sectors, top)) - sum(map(_sectors, rest))) * _SECTOR if top else None


def _head(path: Path) -> Path:
    return path.with_name(re.sub("c[0-9]+", "", path.name))


def _sectors(device: Path) -> int:
    """Return the sectors that a device read and wrote; 0 if it is not there."""
    counts = read_text(device / "stat").split()
    return int(counts[_SECTORS_READ]) + int(counts[_SECTORS_WRITTEN]) if counts else 0
