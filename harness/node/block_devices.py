"""The disks of a node, and what the directories that matter stand on, as the kernel describes them.

program.sh gives this file to the Python of a node, where it prints the facts. With a directory as argument,
it prints why that is in memory. So it imports nothing of ours, and keeps to the language of Python 3.6.
"""

import os
import re
import sys
from pathlib import Path
from typing import FrozenSet, Iterator, List, NamedTuple, Optional, Set, Tuple

DIRECTORIES = {"local_dirs": "SPARK_LOCAL_DIRS", "data_dir": "CLUSTERLIFT_DATA_DIR"}
"""Uses of directories, and the variable that lists each, with commas between. Spark sets the first one for
Python workers."""
_SECTOR = 512
_NO_DISK = re.compile(r"(fd|sr|mtdblock)\d|mmcblk\d+(boot|gp|rpmb)")
"""How the names of floppy disks, of optical drives, and of parts of flash chips begin."""
_NAMES_AS_MODELS = ("LIO-ORG", "SCST")
"""How the vendors of storage servers begin that report the name of each volume as its model."""
_EXPLAINING = {
    *("barrier", "commit", "compress", "data"),
    *("nconnect", "proto", "rsize", "vers", "wsize"),
}
"""Mount options whose values may explain times. Values of other options may be hosts, users and secrets."""
_FULL = 0.9
MEMORY = "memory"
PAGE_CACHE = "page cache"
ZFS = "zfs"
_FILES_IN_MEMORY = {"tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "rootfs"}
_WITHOUT_A_DEVICE = {*_FILES_IN_MEMORY, "btrfs", "bcachefs", "zfs"}
"""File systems of this machine whose numbers are of no block device."""
_MOUNT = re.compile(r"([^ ]+ ){6}(.* )?- ")
_MEMORY_AS_DISK = re.compile(r"(z?ram|r?nullb)\d")
_MODELS_IN_MEMORY = {"scsi_debug", "RAMDISK-MCP"}
"""Disks that the kernel has in memory: by their names, and by their models."""


def disk_facts(root: Path = Path("/")) -> Iterator[Tuple[str, str]]:
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


def place_facts(directory: Path, root: Path = Path("/")) -> Iterator[Tuple[str, str]]:
    """Yield the file system of a directory, its mount options, its disks, and whether it is nearly full."""
    mount = mount_of(directory, root) if directory.is_dir() else None
    if mount is None:
        return
    yield "", mount.type
    yield "_options", mount.options
    for disk in _disks_of(mount, root):
        yield "_disk", _description(disk)
    size = os.statvfs(str(directory))
    used = size.f_blocks - size.f_bfree
    if used + size.f_bavail:
        is_full = used >= _FULL * (used + size.f_bavail)
        yield "_used", "90 % or more" if is_full else "less than 90 %"


def is_disk(device: Path) -> bool:
    """Whether a device of /sys/block is a disk or a path to one, not a part of one or what stands on it."""
    return (device / "device").exists() and not _NO_DISK.match(device.name)


def _further_paths(root: Path) -> Set[str]:
    """Return the names of the paths to disks of dm-multipath, without the first path to each disk."""
    found: Set[str] = set()
    for device in root.glob("sys/block/dm-*"):
        if _is_multipath(device):
            found.update(path.name for path in _below(device)[1:])
    return found


def _is_multipath(device: Path) -> bool:
    return _text(device / "dm/uuid").startswith("mpath-")


def _below(device: Path) -> List[Path]:
    """Return the devices on which a device stands, by name."""
    return sorted(device.glob("slaves/*"))


def _description(disk: Path) -> str:
    """Return the model, size and kind of a disk: `ST4000NM0035 (4,001 GB, rotational)`."""
    model = _model(disk)
    gigabytes = int(_text(disk / "size") or 0) * _SECTOR / 1e9
    kind = ", rotational" if _text(disk / "queue/rotational") == "1" else ""
    return f"{' '.join(model.split())} ({gigabytes:,.0f} GB{kind})"


def _model(disk: Path) -> str:
    """Return the model of a disk, or else its driver or kind; never the name of a volume."""
    model = _text(disk / "device/model")
    vendor = _text(disk / "device/vendor")
    if model:
        if vendor.startswith(_NAMES_AS_MODELS):
            return vendor
        return model
    # Flash chips have their model there, and volumes of Ceph their own names.
    name = _text(disk / "device/name")
    if disk.name.startswith("mmcblk") and name:
        return name
    driver = disk / "device/driver"
    if driver.exists():
        return driver.resolve().name
    return re.sub(r"\d+$", "", disk.name)


def _disks_below(device: Path) -> Set[Path]:
    """Return the disks that have the bytes of a partition, an array or a volume."""
    device = _whole(device)
    if not device.exists():
        return set()
    below = _below(device)
    if not below:
        return {device}
    if _is_multipath(device):
        below = below[:1]
    found: Set[Path] = set()
    for each in below:
        found |= _disks_below(each)
    return found or {device}


def _whole(device: Path) -> Path:
    """Return a device without links; in place of a partition, the device that has it."""
    device = device.resolve()
    if (device / "partition").exists():
        return device.parent
    return device


class Mount(NamedTuple):
    """A mounted file system.

    `number` is the number of its device, such as `8:1`. `0:30` belongs to no device.
    """

    point: str
    number: str
    type: str
    source: str
    options: str


class Holder(NamedTuple):
    """The last place that has the bytes of a directory: MEMORY, PAGE_CACHE or ZFS. Other kinds are unknown.

    PAGE_CACHE: a loop device without direct I/O, whose file the page cache has. ZFS has a cache of its own.
    """

    kind: str
    name: str


def holders_of(directory: Path, root: Path = Path("/")) -> Iterator[Holder]:
    """Yield the holders of the bytes of new files of a directory, whatever stands between.

    Nothing is yielded where the kernel does not tell.
    """
    mount = mount_of(directory, root)
    if mount is not None:
        yield from _holders_of(mount, root, frozenset())


def _holders_of(mount: Mount, root: Path, above: FrozenSet[str]) -> Iterator[Holder]:
    """Yield where the bytes of a file system are: devices, memory or a cache.

    `above` has the numbers of the file systems that stand on it.
    """
    if mount.number in above:
        return
    above |= {mount.number}
    if mount.type in _FILES_IN_MEMORY:
        yield Holder(MEMORY, mount.type)
    elif mount.type == "zfs":
        yield Holder(ZFS, mount.source)
    else:
        below = _mount_below(mount, root)
        if below is not None:
            yield from _holders_of(below, root, above)
    for device in _devices_of(mount, root):
        yield from _holders_of_device(device, root, above)


def _mount_below(mount: Mount, root: Path) -> Optional[Mount]:
    """Return the file system to which another one passes its writes; None if none is seen."""
    if mount.type == "overlay":
        return _upper_mount(mount, root)
    # A file system that stands on a directory, such as ecryptfs, has it as its source.
    is_on_directory = mount.source.startswith("/") and _is_directory(mount.source)
    if is_on_directory:
        return mount_of(Path(mount.source), root)
    return None


def _upper_mount(overlay: Mount, root: Path) -> Optional[Mount]:
    """Return the file system to which an overlay writes; None if it is not seen.

    The path in the overlay's options is relative, or of another container. But an overlay has the size of
    that file system. Servers are not asked: they may not answer.
    """
    size = _size(overlay.point)
    for mount in mounts(root):
        is_local = not mount.number.startswith("0:") or mount.type in _WITHOUT_A_DEVICE
        if is_local and size is not None and _size(mount.point) == size:
            return mount
    return None


def _size(point: str) -> Optional[Tuple[int, int, int]]:
    """Return the blocks of a file system, their size, and how many files fit; None if that is unknown."""
    try:
        found = os.statvfs(point or "/")
    except OSError:
        return None
    return found.f_blocks, found.f_frsize, found.f_files


def _is_directory(path: str) -> bool:
    """Whether there is a directory that this user may look at."""
    return os.path.isdir(path)  # noqa: PTH112  Path.is_dir raises PermissionError


def _holders_of_device(device: Path, root: Path, above: FrozenSet[str]) -> Iterator[Holder]:
    device = _whole(device)
    file = _text(device / "loop/backing_file")
    if _MEMORY_AS_DISK.match(device.name) or _text(device / "device/model") in _MODELS_IN_MEMORY:
        yield Holder(MEMORY, device.name)
    elif file and _text(device / "loop/dio") == "0":
        yield Holder(PAGE_CACHE, device.name)
    elif file:
        directory, _, _ = file.rpartition("/")
        mount = mount_of(Path(directory), root) if _is_directory(directory) else None
        if mount is not None:
            yield from _holders_of(mount, root, above)
    for each in _below(device):
        yield from _holders_of_device(each, root, above)


def why_memory(directory: Path, root: Path = Path("/")) -> str:
    """Return why a directory is in memory even past the page cache; empty if that is not so, or unknown."""
    for kind, name in holders_of(directory, root):
        if kind == MEMORY:
            return name
        if kind == PAGE_CACHE:
            return f"the page cache: {name} lacks --direct-io=on of losetup"
        # Before ZFS 2.3, there is no such parameter.
        if kind == ZFS and _text(root / "sys/module/zfs/parameters/zfs_dio_enabled") != "1":
            return "the cache of ZFS, which is passed from ZFS 2.3 on, with zfs_dio_enabled"
    return ""


def _disks_of(mount: Mount, root: Path) -> Set[Path]:
    """Return the disks that have the bytes of a file system; none if they are unknown, as with ZFS."""
    found: Set[Path] = set()
    for device in _devices_of(mount, root):
        found |= _disks_below(device)
    return found


def _devices_of(mount: Mount, root: Path) -> List[Path]:
    """Return the block devices of a file system; none if it has none, or if they are unknown."""
    device = root / "sys/dev/block" / mount.number
    if device.exists():
        return [device]
    # The number of a Btrfs or a bcachefs belongs to no device. The kernel lists the devices of each Btrfs.
    sources = []
    for source in mount.source.split(":"):
        if source.startswith("/dev/"):
            name = (root / source.lstrip("/")).resolve().name
            sources.append(root / "sys/class/block" / name)
    if mount.type == "btrfs" and sources:
        for pool in root.glob("sys/fs/btrfs/*/devices"):
            if (pool / sources[0].name).exists():
                return sorted(pool.iterdir())
    return [source for source in sources if source.exists()]


def mount_of(directory: Path, root: Path = Path("/")) -> Optional[Mount]:
    """Return the file system at a path. The last mount hides earlier ones."""
    place = f"{directory.resolve()}/"
    found = None
    for mount in mounts(root):
        is_above = place.startswith(f"{mount.point}/")
        if is_above and (found is None or len(mount.point) >= len(found.point)):
            found = mount
    return found


def mounts(root: Path) -> List[Mount]:
    """Return all mounted file systems, the last one last.

    The kernel escapes blanks and line feeds in names, and no other character that could end a line.
    """
    lines = _text(root / "proc/self/mountinfo").split("\n")
    return [_read_mount(line) for line in lines if _MOUNT.match(line)]


def _read_mount(line: str) -> Mount:
    """Read a line such as `28 1 8:1 / /data rw,noatime shared:1 - ext4 /dev/sda1 rw,data=ordered`."""
    front, _, back = line.partition(" - ")
    _, _, number, _, point, own = front.split(" ")[:6]
    type_, source, shared = f"{back}  ".split(" ", 2)
    options = dict.fromkeys(f"{own},{shared.strip()}".split(","))
    kept = [each for each in options if "=" not in each or each.split("=")[0] in _EXPLAINING]
    point = _unescaped(point).rstrip("/")
    return Mount(point, number, type_, _unescaped(source), ",".join(kept).strip(","))


def _unescaped(text: str) -> str:
    r"""Return a text of mountinfo, where a blank is `\040`."""
    return re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), text)


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""


def _print_facts() -> None:
    for key, value in disk_facts():
        print(f"/{key}:{value}")  # noqa: T201  this is its answer
    for use, variable in DIRECTORIES.items():
        named = os.environ.get(variable, "").split(",")
        for directory in [Path(each) for each in named if each]:
            for what, value in place_facts(directory):
                print(f"/{use}{what}:{value}")  # noqa: T201  this is its answer


if __name__ == "__main__":
    if sys.argv[1:]:
        print(why_memory(Path(sys.argv[1])))  # noqa: T201  this is its answer
    else:
        _print_facts()
