"""The disks of a node, and the file systems of the directories that matter, as the kernel describes them.

This file is also a program: sent to a node as text (`python -c`), it prints the facts. So it imports nothing
of ours.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DIRECTORIES = {"local_dirs": "SPARK_LOCAL_DIRS", "data_dir": "CLUSTERLIFT_DATA_DIR"}
"""What directories are for, and the variable that has them, with commas between. Spark tells Python workers
the first."""
_SECTOR = 512
_NO_DISK = re.compile(r"(fd|sr|mtdblock)\d|mmcblk\d+(boot|gp|rpmb)")
"""How the names of floppy disks, of optical drives, and of parts of flash chips begin."""
_NAMES_AS_MODELS = ("LIO-ORG", "SCST")
"""How the vendors of storage servers begin that report the name of each volume as its model."""
_EXPLAINING = {
    *("barrier", "commit", "compress", "data"),
    *("nconnect", "proto", "rsize", "vers", "wsize"),
}
"""Mount options whose values may explain times; others may have names of hosts, users and secrets."""
_FULL = 0.9


def disk_facts(root: Path = Path("/")) -> Iterator[tuple[str, str]]:
    """Yield the model, size and kind of each disk, and how the kernel uses it, with the fact's key.

    Paths to one disk are left out, and so is what stands on disks: partitions, arrays, volumes.
    """
    further = _further_paths(root)
    for disk in sorted(filter(is_disk, root.glob("sys/block/*"))):
        is_path = disk.name in further or _text(disk / "hidden") == "1"
        if not is_path and _text(disk / "size") != "0":
            queue = disk / "queue"
            yield "disks", _description(disk)
            # `[mq-deadline] none`
            yield "disk_scheduler", re.sub(r".*\[(.*)\].*", r"\1", _text(queue / "scheduler"))
            yield "disk_write_cache", _text(queue / "write_cache")


def place_facts(directory: Path, root: Path = Path("/")) -> Iterator[tuple[str, str]]:
    """Yield the file system of a directory, its mount options, its disks, and whether it is nearly full."""
    mount = _mount_of(directory.resolve(), root) if directory.is_dir() else None
    if mount is None:
        return
    yield "", mount.type
    yield "_options", mount.options
    for disk in _disks_of(mount, root):
        yield "_disk", _description(disk)
    size = os.statvfs(directory)
    used = size.f_blocks - size.f_bfree
    if used + size.f_bavail:
        is_full = used >= _FULL * (used + size.f_bavail)
        yield "_used", "90 % or more" if is_full else "less than 90 %"


def is_disk(device: Path) -> bool:
    """Whether a device of /sys/block is a disk or a path to one, not a part of one or what stands on it."""
    return (device / "device").exists() and not _NO_DISK.match(device.name)


def _further_paths(root: Path) -> set[str]:
    """Return the names of the paths to disks of dm-multipath, without the first path to each disk."""
    found = set[str]()
    for device in root.glob("sys/block/dm-*"):
        if _is_multipath(device):
            found.update(path.name for path in _below(device)[1:])
    return found


def _is_multipath(device: Path) -> bool:
    return _text(device / "dm/uuid").startswith("mpath-")


def _below(device: Path) -> list[Path]:
    """Return the devices on which a device stands, by name."""
    return sorted(device.glob("slaves/*"))


def _description(disk: Path) -> str:
    """Return what a disk is: `ST4000NM0035 (4,001 GB, rotational)`; without a model, its driver or kind."""
    model = _model(disk)
    gigabytes = int(_text(disk / "size") or 0) * _SECTOR / 1e9
    kind = ", rotational" if _text(disk / "queue/rotational") == "1" else ""
    return f"{' '.join(model.split())} ({gigabytes:,.0f} GB{kind})"


def _model(disk: Path) -> str:
    """Return the model of a disk, or else what it is; never the name of a volume."""
    model = _text(disk / "device/model")
    vendor = _text(disk / "device/vendor")
    if model:
        return vendor if vendor.startswith(_NAMES_AS_MODELS) else model
    # Flash chips have their model there, and volumes of Ceph their own names.
    if disk.name.startswith("mmcblk") and (name := _text(disk / "device/name")):
        return name
    driver = disk / "device/driver"
    return driver.resolve().name if driver.exists() else re.sub(r"\d+$", "", disk.name)


def _disks_below(device: Path) -> set[Path]:
    """Return the disks that have the bytes of a partition, an array or a volume."""
    device = _whole(device)
    below = _below(device)
    if _is_multipath(device):
        below = below[:1]
    found = set[Path]()
    for each in below:
        found |= _disks_below(each)
    return found or ({device} if device.exists() else set())


def _whole(device: Path) -> Path:
    """Return a device without links, and for a partition the device that it is a part of."""
    device = device.resolve()
    return device.parent if (device / "partition").exists() else device


class _Mount(NamedTuple):
    """A mounted file system; `number` is that of its device, such as `8:1`; `0:30` is of none."""

    point: str
    number: str
    type: str
    source: str
    options: str


def _disks_of(mount: _Mount, root: Path) -> set[Path]:
    """Return the disks that have the bytes of a file system; none if that is unknown, as of ZFS."""
    devices = [root / "sys/dev/block" / mount.number]
    # The number of a Btrfs is of no device, but the kernel lists the devices of each.
    if mount.type == "btrfs":
        name = (root / mount.source.lstrip("/")).resolve().name
        pools = (each for each in root.glob("sys/fs/btrfs/*/devices") if (each / name).exists())
        devices = [device for pool in pools for device in pool.iterdir()]
    found: set[Path] = set()  # set[Path]() needs Python 3.9
    return found.union(*map(_disks_below, devices))


def _mount_of(place: Path, root: Path) -> _Mount | None:
    """Return the file system at an absolute path. What is mounted last hides what was there before."""
    mounts = map(_read_mount, _text(root / "proc/self/mountinfo").splitlines())
    above = [each for each in mounts if f"{place}/".startswith(f"{each.point}/")]
    return max(reversed(above), key=lambda each: len(each.point), default=None)


def _read_mount(line: str) -> _Mount:
    """Read a line such as `28 1 8:1 / /data rw,noatime shared:1 - ext4 /dev/sda1 rw,data=ordered`."""
    front, _, back = line.partition(" - ")
    _, _, number, _, point, own = front.split()[:6]
    type_, source, shared = f"{back}  ".split(" ", 2)
    point = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), point).rstrip("/")
    options = dict.fromkeys([*own.split(","), *shared.strip().split(",")])
    kept = (each for each in options if "=" not in each or each.split("=")[0] in _EXPLAINING)
    return _Mount(point, number, type_, source, ",".join(kept).strip(","))


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""


if __name__ == "__main__":
    for key, value in disk_facts():
        print(f"/{key}:{value}")  # noqa: T201  this is its answer
    for use, variable in DIRECTORIES.items():
        for named in filter(None, os.environ.get(variable, "").split(",")):
            for what, value in place_facts(Path(named)):
                print(f"/{use}{what}:{value}")  # noqa: T201  this is its answer
