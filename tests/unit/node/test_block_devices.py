"""What the kernel says of disks, and of the file systems of directories."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.node import block_devices
from harness.node.block_devices import disk_facts, place_facts, why_memory

HDD = {"size": "7814037168", "device/model": "ST4000NM0035-1V4 ", "queue/rotational": "1"}
QUEUE = {
    "queue/scheduler": "[mq-deadline] kyber none",
    "queue/write_cache": "write back",
}
FLASH = {"size": "1953525168", "device/model": "Samsung  SSD 980", "queue/rotational": "0"}


def add(root: Path, device: str, files: Mapping[str, str], *, is_partition: bool = False) -> None:
    """Add a block device, `sda` or `sda/sda1`, to a tree of the kernel's files."""
    own = root / "sys/devices" / device
    for name, text in files.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(f"{text}\n")
    block = root / "sys/block"
    block.mkdir(parents=True, exist_ok=True)
    if not is_partition:
        (block / own.name).symlink_to(own)


def test_disks_are_described_and_what_stands_on_them_is_left_out(tmp_path: Path) -> None:
    add(tmp_path, "sda", HDD | QUEUE)
    add(tmp_path, "nvme0n1", FLASH | {"queue/scheduler": "none"})
    add(tmp_path, "nvme0c1n1", FLASH | {"hidden": "1"})
    add(tmp_path, "vda", {"size": "20971520", "device/vendor": "0x1af4"})
    (tmp_path / "virtio_blk").mkdir()
    (tmp_path / "sys/devices/vda/device/driver").symlink_to(tmp_path / "virtio_blk")
    add(tmp_path, "sr0", HDD)
    add(tmp_path, "sdz", HDD | {"size": "0"})
    add(tmp_path, "loop0", {"size": "8"})
    found: dict[str, list[str]] = {}
    for key, value in disk_facts(tmp_path):
        found.setdefault(key, []).append(value)
    assert found == {
        "disks": [
            "Samsung SSD 980 (1,000 GB)",
            "ST4000NM0035-1V4 (4,001 GB, rotational)",
            "virtio_blk (11 GB)",
        ],
        "disk_scheduler": ["none", "mq-deadline", ""],
        "disk_write_cache": ["", "write back", ""],
    }


GIGABYTES_107 = {"size": "209715200", "queue/rotational": "0"}
DESCRIBED = {
    "an image of Ceph": ("rbd0", {"device/name": "csi-vol-1b7e", "device/pool": "volumes"}, "rbd"),
    "a flash chip": ("mmcblk0", {"device/name": "DF4064", "device/type": "MMC"}, "DF4064"),
    "a volume of Linux' iSCSI": ("sdb", {"device/vendor": "LIO-ORG ", "device/model": "n1-data"}, "LIO-ORG"),
    "a volume of SCST": ("sdc", {"device/vendor": "SCST_BIO", "device/model": "vol7"}, "SCST_BIO"),
    "a volume of a server": ("sdd", {"device/vendor": "NETAPP", "device/model": "LUN C-Mode"}, "LUN C-Mode"),
    "a disk of VMware": ("sde", {"device/vendor": "VMware", "device/model": "Virtual disk"}, "Virtual disk"),
    "a disk of Google": ("sdf", {"device/model": "PersistentDisk"}, "PersistentDisk"),
    "a volume of EBS": (
        *("nvme1n1", {"device/model": "Amazon Elastic Block Store", "device/serial": "vol0af3"}),
        "Amazon Elastic Block Store",
    ),
    "persistent memory": ("pmem0", {"device/devtype": "nd_namespace_io"}, "pmem"),
}  # fmt: skip


@pytest.mark.parametrize("case", DESCRIBED)
def test_a_disk_has_its_model_and_never_the_name_of_a_volume(tmp_path: Path, case: str) -> None:
    device, files, model = DESCRIBED[case]
    add(tmp_path, device, GIGABYTES_107 | files)
    disks = [value for key, value in disk_facts(tmp_path) if key == "disks"]
    assert disks == [f"{model} (107 GB)"]


@pytest.mark.parametrize("part", ["mmcblk0boot0", "mmcblk0boot1", "mmcblk0gp0", "mmcblk0rpmb"])
def test_a_part_of_a_flash_chip_is_no_disk(tmp_path: Path, part: str) -> None:
    for device in ("mmcblk0", part, "mtdblock3"):
        add(tmp_path, device, GIGABYTES_107 | {"device/name": "DF4064"})
    assert [value for key, value in disk_facts(tmp_path) if key == "disks"] == ["DF4064 (107 GB)"]


def test_several_paths_to_a_disk_are_one_disk(tmp_path: Path, data: Path) -> None:
    model = {"device/model": "LUN C-Mode"} | GIGABYTES_107
    for device in ("sda", "sdb", "sdc"):
        add(tmp_path, device, model)
    add(tmp_path, "dm-0", {"dm/uuid": "mpath-3600a0980383034", "dm/name": "mpatha"})
    add(tmp_path, "dm-1", {"dm/uuid": "LVM-abc", "dm/name": "vg-data"})
    stand(tmp_path, "dm-0", "sda", "sdb")
    stand(tmp_path, "dm-1", "dm-0")
    assert [key for key, _ in disk_facts(tmp_path)].count("disks") == 2
    number(tmp_path, "253:1", "dm-1")
    mounted(tmp_path, "20 1 253:1 / / rw - xfs /dev/mapper/vg-data rw")
    disks = [value for key, value in place_facts(data, tmp_path) if key == "_disk"]
    assert disks == ["LUN C-Mode (107 GB)"]


def stand(root: Path, device: str, *below: str) -> None:
    """Let a device stand on others."""
    slaves = root / "sys/devices" / device / "slaves"
    slaves.mkdir(parents=True)
    for each in below:
        (slaves / Path(each).name).symlink_to(root / "sys/devices" / each)


def number(root: Path, numbers: str, device: str) -> None:
    """Give a device its numbers, such as `8:1`."""
    numbered = root / "sys/dev/block"
    numbered.mkdir(parents=True, exist_ok=True)
    (numbered / numbers).symlink_to(root / "sys/devices" / device)


def mounted(root: Path, *lines: str) -> None:
    (root / "proc/self").mkdir(parents=True, exist_ok=True)
    (root / "proc/self/mountinfo").write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory that exists, in whose place a test mounts something."""
    directory = tmp_path / "my data"
    directory.mkdir()
    return directory


def test_a_directory_on_an_array_has_the_disks_of_the_array(tmp_path: Path, data: Path) -> None:
    add(tmp_path, "sda", HDD)
    add(tmp_path, "nvme0n1", FLASH)
    add(tmp_path, "sda/sda1", {"partition": "1"}, is_partition=True)
    add(tmp_path, "md0", {"md/level": "raid1"})
    stand(tmp_path, "md0", "sda/sda1", "nvme0n1")
    number(tmp_path, "9:0", "md0")
    point = str(data).replace(" ", r"\040")
    mounted(
        tmp_path,
        "20 1 8:9 / / rw - xfs /dev/sdb1 rw",
        f"21 20 8:9 / {point} rw - xfs /dev/sdb1 rw",
        f"22 21 9:0 / {point} rw,noatime shared:1 - ext4 /dev/md0 rw,data=ordered,secret=x,stripe=2",
    )
    facts = list(place_facts(data, tmp_path))
    disks = {value for key, value in facts if key == "_disk"}
    assert disks == {"Samsung SSD 980 (1,000 GB)", "ST4000NM0035-1V4 (4,001 GB, rotational)"}
    assert facts[:2] == [("", "ext4"), ("_options", "rw,noatime,data=ordered")]
    assert facts[-1] in {("_used", "less than 90 %"), ("_used", "90 % or more")}


@pytest.mark.parametrize("name", ["/mnt/a\rb", "/mnt/a\x0bb", "/mnt/a\u2028b", "/mnt/a\x1cb"])
def test_a_mount_with_a_strange_name_hides_no_other(tmp_path: Path, data: Path, name: str) -> None:
    point = str(data).replace(" ", r"\040")
    mounted(
        tmp_path,
        f"20 1 0:9 / {name} rw - fuse.sshfs me@h: rw",
        "",
        f"22 21 9:0 / {point} rw - ext4 /dev/md0 rw",
    )
    assert next(place_facts(data, tmp_path)) == ("", "ext4")


def test_a_directory_on_btrfs_has_the_disks_of_all_its_devices(tmp_path: Path, data: Path) -> None:
    pool = tmp_path / "sys/fs/btrfs/0c8b6b0e-2d3f/devices"
    pool.mkdir(parents=True)
    add(tmp_path, "sda", HDD)
    add(tmp_path, "sda/sda3", {"partition": "3"}, is_partition=True)
    add(tmp_path, "nvme0n1", FLASH)
    add(tmp_path, "dm-0", {"dm/name": "pool"})
    stand(tmp_path, "dm-0", "nvme0n1")
    for device in ("sda/sda3", "dm-0"):
        (pool / Path(device).name).symlink_to(tmp_path / "sys/devices" / device)
    (tmp_path / "dev/mapper").mkdir(parents=True)
    (tmp_path / "dev/mapper/pool").symlink_to("../dm-0")
    mounted(
        tmp_path,
        "22 1 0:45 /@ / rw,noatime shared:1 - btrfs /dev/mapper/pool rw,compress=zstd:1,subvolid=256",
    )
    facts = list(place_facts(data, tmp_path))
    assert facts[:2] == [("", "btrfs"), ("_options", "rw,noatime,compress=zstd:1")]
    disks = {value for key, value in facts if key == "_disk"}
    assert disks == {"Samsung SSD 980 (1,000 GB)", "ST4000NM0035-1V4 (4,001 GB, rotational)"}


@pytest.mark.parametrize(
    ("file_system", "type_", "options"),
    [
        ("overlay overlay rw,lowerdir=/a:/b", "overlay", "rw"),
        ("zfs tank/data rw,xattr,noacl", "zfs", "rw,xattr,noacl"),
        ("nfs4 n1:/data rw,vers=4.2,addr=10.0.0.1,hard", "nfs4", "rw,vers=4.2,hard"),
        ("btrfs /dev/sda3 rw", "btrfs", "rw"),
        ("tmpfs  rw", "tmpfs", "rw"),
    ],
)
def test_where_the_kernel_does_not_tell_the_disk_none_is_named(
    tmp_path: Path, data: Path, file_system: str, type_: str, options: str
) -> None:
    add(tmp_path, "sda", HDD)
    mounted(tmp_path, f"20 1 0:30 / / rw - {file_system}")
    assert list(place_facts(data, tmp_path))[:2] == [("", type_), ("_options", options)]
    assert not [key for key, _ in place_facts(data, tmp_path) if key == "_disk"]


def test_nothing_is_said_of_a_directory_that_is_not_there(tmp_path: Path) -> None:
    mounted(tmp_path, "20 1 8:1 / / rw - ext4 /dev/sda1 rw")
    assert list(place_facts(tmp_path / "no such", tmp_path)) == []


def made(root: Path, *stack: str) -> None:
    """Make block devices: a line has the name of one, its numbers, and what it stands on.

    What it stands on is other devices; or for a loop device its file, and whether it has direct I/O.
    """
    for line in stack:
        device, numbers, *below = line.split()
        if device.startswith("loop") and below:
            file, direct = below
            add(root, device, {"loop/backing_file": file, "loop/dio": direct})
        else:
            add(root, device, {"size": "9"})
            stand(root, device, *below)
        number(root, numbers, device)


MEMORY = {
    "tmpfs": ("0:30 tmpfs none", (), "tmpfs"),
    "ramfs": ("0:30 ramfs none", (), "ramfs"),
    "a disk": ("8:1 ext4 /dev/sda", ("sda 8:1",), ""),
    "zram": ("252:0 ext4 /dev/zram0", ("zram0 252:0",), "zram0"),
    "brd": ("1:0 ext4 /dev/ram0", ("ram0 1:0",), "ram0"),
    "a null device": ("250:0 ext4 /dev/nullb0", ("nullb0 250:0",), "nullb0"),
    "encryption on zram": ("254:0 ext4 /dev/dm-0", ("zram0 252:0", "dm-0 254:0 zram0"), "zram0"),
    "a mirror with a half in memory": (
        "9:0 xfs /dev/md0",
        ("sda 8:0", "ram0 1:0", "md0 9:0 ram0 sda"),
        "ram0",
    ),
    "Btrfs on zram": ("0:45 btrfs /dev/zram0", ("zram0 252:0",), "zram0"),
    "bcachefs on zram and a disk": ("0:45 bcachefs /dev/sda:/dev/zram0", ("sda 8:0", "zram0 252:0"), "zram0"),
    "persistent memory": ("259:0 xfs /dev/pmem0", ("pmem0 259:0",), ""),
    "a network block device": ("43:0 ext4 /dev/nbd0", ("nbd0 43:0",), ""),
    "a loop device": (
        "7:0 ext4 /dev/loop0",
        ("loop0 7:0 {there}/image 0",),
        "the page cache: loop0 lacks --direct-io=on of losetup",
    ),
    "a loop device with direct I/O": ("7:0 ext4 /dev/loop0", ("loop0 7:0 {there}/image 1",), ""),
    "a loop device on memory": ("7:0 ext4 /dev/loop0", ("loop0 7:0 {memory}/image 1",), "tmpfs"),
    "a volume on a loop device on memory": (
        "254:0 ext4 /dev/dm-0",
        ("loop0 7:0 {memory}/image 1", "dm-0 254:0 loop0"),
        "tmpfs",
    ),
    "a loop device of another container": ("7:0 ext4 /dev/loop0", ("loop0 7:0 /no/such/image 1",), ""),
    "ecryptfs on memory": ("0:50 ecryptfs {memory}", (), "tmpfs"),
    "ecryptfs on a disk": ("0:50 ecryptfs {there}", (), ""),
    "a server of files": ("0:51 nfs4 n1:/data", (), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", MEMORY)
def test_what_is_in_memory_is_found_through_whatever_stands_between(
    tmp_path: Path, case: str
) -> None:
    mount, stack, expected = MEMORY[case]
    places = {name: tmp_path / name for name in ("here", "there", "memory")}
    for place in places.values():
        place.mkdir()
    made(tmp_path, *(line.format(**places) for line in stack))
    classes = tmp_path / "sys/class"
    classes.mkdir(parents=True)
    classes.joinpath("block").symlink_to(tmp_path / "sys/block")
    numbers, type_, source = mount.format(**places).split()
    mounted(
        tmp_path,
        f"20 1 8:9 / {places['there']} rw - ext4 /dev/sdz rw",
        f"21 1 0:29 / {places['memory']} rw - tmpfs tmpfs rw",
        f"22 1 {numbers} / {places['here']} rw - {type_} {source} rw",
    )
    (tmp_path / "sys/block").mkdir(exist_ok=True)
    assert why_memory(places["here"], tmp_path) == expected


@pytest.mark.parametrize(
    ("upper", "expected"),
    [("0:29 / {0} rw - tmpfs tmpfs", "tmpfs"), ("8:9 / {0} rw - ext4 /dev/sdz", ""), ("", "")],
    ids=["memory", "a disk", "not seen"],
)
def test_an_overlay_is_where_its_upper_directory_is(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch, upper: str, expected: str
) -> None:
    """It has the size of that file system; its options may have a path of another container."""
    there, server = tmp_path / "there", tmp_path / "server"
    sizes = {str(data): (99, 4096, 7), str(there): (99, 4096, 7), str(server): (99, 4096, 7)}
    asked: list[str] = []

    def size(point: str) -> tuple[int, int, int] | None:
        asked.append(point)
        return sizes.get(point)

    monkeypatch.setattr(block_devices, "_size", size)
    point = str(data).replace(" ", r"\040")
    mounted(
        tmp_path,
        f"20 1 0:44 / {server} rw - nfs4 n1:/data rw",
        f"21 1 {upper.format(there)} rw" if upper else "21 1 8:8 / /nowhere rw - xfs /dev/sdy rw",
        f"22 1 0:50 / {point} rw - overlay overlay rw,lowerdir=/l,upperdir=tm/u,workdir=tm/w",
    )
    assert why_memory(data, tmp_path) == expected
    assert str(server) not in asked


@pytest.mark.parametrize(("enabled", "is_memory"), [(None, True), ("0", True), ("1", False)])
def test_zfs_without_direct_io_is_its_cache(
    tmp_path: Path, data: Path, enabled: str | None, *, is_memory: bool
) -> None:
    mounted(tmp_path, "20 1 0:50 / / rw - zfs tank/data rw,xattr")
    parameters = tmp_path / "sys/module/zfs/parameters"
    parameters.mkdir(parents=True)
    if enabled is not None:
        (parameters / "zfs_dio_enabled").write_text(f"{enabled}\n")
    assert why_memory(data, tmp_path).startswith("the cache of ZFS") == is_memory
