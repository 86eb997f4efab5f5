"""The bytes that a node's disks read and wrote, each counted once although block devices stand on others.

Device mapper, md, bcache and drbd count the bytes of the disks below them again, and the disks of a mirror
each count what was written once. So the devices on top count, as they do in /proc/PID/io. Loop devices and
zram are no disks: they keep their bytes in a file or in memory.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from harness.node.cgroup import read_text

_SECTOR = 512
_SECTORS_READ, _SECTORS_WRITTEN = 2, 6

_Devices = Mapping[Path, set[str]]
"""The directories of block devices in /sys/block, with the names of what each stands on."""


def disk_bytes(root: Path = Path("/")) -> int | None:
    """Return the bytes of all disks since the node booted; None if there is no disk."""
    devices = {stat.parent: _slaves(stat.parent) for stat in (root / "sys/block").glob("*/stat")}
    # A disk behind several NVMe controllers has a hidden path through each: `nvme0c1n1` of `nvme0n1`.
    hidden = {device for device in devices if read_text(device / "hidden") == "1"}
    heads = {path: path.with_name(re.sub("c[0-9]+", "", path.name)) for path in hidden}
    if any(_sectors(path) and not _sectors(head) for path, head in heads.items()):
        # Before Linux 6.3 the paths alone count, and nothing does for the partitions of such a disk.
        lowest = [device for device in devices if _is_disk(device) and not devices[device]]
        return sum(map(_sectors, lowest)) * _SECTOR
    return _on_top({device: slaves for device, slaves in devices.items() if device not in hidden})


def _on_top(devices: _Devices) -> int | None:
    """Return the bytes of the devices that no other stands on, without the partitions on which one does."""
    # A partition is a directory in its device's.
    whole = {
        part.name: device
        for device in devices
        for part in (device, *device.glob(f"{device.name}*"))
    }

    def is_on_disk(device: Path) -> bool:
        below = (whole[name] for name in devices[device] if name in whole)
        return _is_disk(device) or any(map(is_on_disk, below))

    caches = {name for name, device in whole.items() if _is_cache(device, name)}
    held = caches.union(*devices.values())
    top = [device for device in devices if device.name not in held and is_on_disk(device)]
    partitions = [whole[name] / name for name in held if whole.get(name) in top]
    return (sum(map(_sectors, top)) - sum(map(_sectors, partitions))) * _SECTOR if top else None


def _is_disk(device: Path) -> bool:
    """Return whether a device is a piece of hardware, or of a network: not made by the kernel alone."""
    return (device / "device").exists()


def _is_cache(device: Path, name: str) -> bool:
    """Return whether a device or partition is a cache of bcache."""
    part = device if device.name == name else device / name
    return (part / "bcache/set").exists()


def _slaves(device: Path) -> set[str]:
    return {slave.name for slave in (device / "slaves").glob("*")}


def _sectors(device: Path) -> int:
    """Return the sectors that a device read and wrote; 0 if it is not there."""
    counts = read_text(device / "stat").split()
    return int(counts[_SECTORS_READ]) + int(counts[_SECTORS_WRITTEN]) if counts else 0
