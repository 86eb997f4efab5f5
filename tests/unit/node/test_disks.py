"""Bytes of disks are counted once, whatever stands on them; `expected` is what an application alone did."""

import re
from pathlib import Path
from typing import Any

import pytest

from harness.model.task_metrics import DiskBytes
from harness.node.disks import (
    OWN_READ,
    READ,
    WRITTEN,
    disk_bytes,
    disk_bytes_between,
    disk_names,
)
from harness.node.snapshot import NodeReading, NodesSnapshot

SYS_BLOCK = Path("sys/block")
STACKS = {
    "disks": ("sda 60 disk", "nvme0n1 40 disk"),
    "a disk with partitions": ("sda 100 disk", "sda/sda1 70"),
    "only the paths of NVMe count before Linux 6.3": (
        *("nvme0n1 0 disk", "nvme0c0n1 60 disk hidden", "nvme0c33n1 40 disk hidden"),
        *("nvme0n1/nvme0n1p3 0", "dm-0 90 nvme0n1p3"),
    ),
    "the head counts since Linux 6.3": (
        *("nvme0n1 100 disk", "nvme0c0n1 60 disk hidden", "nvme0c1n1 40 disk hidden"),
        *("nvme0n1/nvme0n1p3 90", "dm-0 90 nvme0n1p3"),
    ),
    "a head that was added": ("nvme1n1 0 disk", "nvme1c1n1 0 disk hidden", "sda 100 disk"),
    "LVM on a partition": ("sda 100 disk", "sda/sda1 30", "sda/sda2 70", "dm-0 50 sda2", "dm-1 20 sda2"),
    "encryption on LVM": ("sda 100 disk", "dm-0 100 sda", "dm-1 100 dm-0"),
    "several paths by device mapper": ("sda 50 disk", "sdb 50 disk", "dm-0 100 sda sdb", "dm-1 100 dm-0"),
    "a mirror that was written to": (
        *("sda 80 disk", "sda/sda1 70", "sdb 90 disk", "sdb/sdb1 70", "md0 70 sda1 sdb1"),
        "md0/md0p1 60",
    ),
    "a mirror none of whose partitions counts": (
        *("nvme0n1 0 disk", "nvme0c0n1 100 disk hidden", "nvme0n1/nvme0n1p3 0", "md0 100 nvme0n1p3"),
    ),
    "a mirror of LVM": (
        *("sda 80 disk", "sdb 90 disk", "dm-0 1 sda", "dm-1 69 sda", "dm-2 1 sdb", "dm-3 69 sdb"),
        *("dm-4 70 dm-0 dm-1 dm-2 dm-3", "dm-5 30 sda sdb"),
        *("dm-1:vg-data_rimage_0", "dm-0:vg-data_rmeta_0", "dm-3:vg-data_rimage_1", "dm-2:vg-data_rmeta_1"),
    ),
    "an old mirror of LVM": (
        *("sda 100 disk", "sdb 100 disk", "dm-0 100 sda", "dm-1 100 sdb", "dm-2 100 dm-0 dm-1"),
        *("dm-0:vg-a_mimage_0", "dm-1:vg-a_mimage_1", "dm-2:vg-a"),
    ),
    "a thin pool of LVM on a mirror": (
        *("sda 100 disk", "sdb 100 disk", "dm-0 100 sda", "dm-1 100 sdb", "dm-2 100 dm-0 dm-1"),
        *("dm-3 0 sda", "dm-4 0 dm-2 dm-3", "dm-5 90 dm-4"),
        *("dm-0:vg-p_tdata_rimage_0", "dm-1:vg-p_tdata_rimage_1", "dm-2:vg-p_tdata", "dm-4:vg-p-tpool"),
    ),
    "stripes of LVM": (
        *("sda 60 disk", "sdb 40 disk", "dm-0 50 sda sdb", "dm-1 50 sda sdb"),
        *("dm-0:vg-a", "dm-1:vg-b"),
    ),
    "a cache of LVM": (
        *("sda 30 disk", "nvme0n1 70 disk", "dm-0 30 sda", "dm-1 60 nvme0n1", "dm-2 1 nvme0n1"),
        *("dm-3 80 dm-0 dm-1 dm-2", "dm-0:vg-a_corig", "dm-1:vg-c_cdata", "dm-2:vg-c_cmeta", "dm-3:vg-a"),
    ),
    "a snapshot of LVM": (
        *("sda 100 disk", "dm-0 70 sda", "dm-1 30 sda", "dm-2 60 dm-0", "dm-3 20 dm-0 dm-1"),
        *("dm-0:vg-a-real", "dm-1:vg-s-cow", "dm-2:vg-a", "dm-3:vg-s"),
    ),
    "a mirror by dmraid": (
        *("sda 100 disk", "sdb 100 disk", "dm-0 100 sda sdb", "dm-1 80 dm-0"),
        *("dm-0=DMRAID-isw_ddfaj_vol0", "dm-1=part1-DMRAID-isw_ddfaj_vol0"),
    ),
    "a mirror of encrypted disks": (
        *("sda 100 disk", "sdb 100 disk", "dm-0 100 sda", "dm-1 100 sdb", "md0 100 dm-0 dm-1"),
    ),
    "encryption on a mirror": (
        *("sda 100 disk", "sdb 100 disk", "md0 100 sda sdb", "dm-0 100 md0"),
    ),
    "a mirror of disks with several paths": (
        *("sda 50 disk", "sdb 50 disk", "sdc 50 disk", "sdd 50 disk", "dm-0 100 sda sdb", "dm-1 100 sdc sdd"),
        *("dm-0=mpath-36a", "dm-1=mpath-36b", "md0 100 dm-0 dm-1"),
    ),
    "bcache": ("sda 30 disk", "nvme0n1 70 disk", "bcache0 80 nvme0n1 sda"),
    "a flash chip with parts for booting": (
        *("mmcblk0 100 disk", "mmcblk0boot0 9 disk", "mmcblk0/mmcblk0p2 90"),
    ),
    "drbd": ("sda 100 disk", "sda/sda7 80", "drbd1 80 sda7"),
    "a file as a disk": ("vda 100 disk", "loop0 100", "dm-0 100 loop0", "zram0 900", "ram0 9", "nbd0 9"),
    "disks in a network": ("rbd0 60 disk", "sdc 40 disk"),
}  # fmt: skip


def make_blocks(root: Path, *lines: str) -> None:
    """Make /sys/block: a line has a device or partition, its sectors, what it is and what it stands on.

    The lines `dm-0:NAME` and `dm-0=UUID` say what device mapper calls a device.
    """
    made: dict[str, Path] = {}
    for line in lines:
        if found := re.fullmatch("(dm-[0-9]+)([:=])(.*)", line):
            (made[found[1]] / "dm").mkdir(exist_ok=True)
            (made[found[1]] / "dm" / {":": "name", "=": "uuid"}[found[2]]).write_text(
                f"{found[3]}\n"
            )
            continue
        path, sectors, *words = line.split()
        directory = root / SYS_BLOCK / path
        made[directory.name] = directory
        directory.mkdir(parents=True)
        half = int(sectors) // 2
        (directory / "stat").write_text(f"9 0 {half} 0 9 0 {int(sectors) - half} 0 0 0 0 0 0\n")
        (directory / "hidden").write_text(f"{int('hidden' in words)}\n")
        (directory / "slaves").mkdir()
        for word in words:
            if word == "disk":
                (directory / "device").mkdir()
            elif word != "hidden":
                (directory / "slaves" / word).symlink_to(made[word])


@pytest.mark.parametrize("stack", STACKS)
def test_every_byte_counts_once(tmp_path: Path, stack: str) -> None:
    make_blocks(tmp_path, *STACKS[stack])
    found = disk_bytes(tmp_path)
    assert found
    assert sum(found) == 100 * 512


def test_devices_that_the_kernel_makes_alone_are_no_disks(tmp_path: Path) -> None:
    found = [path for kind in ("loop*", "zram*", "ram*") for path in Path("/sys/block").glob(kind)]
    if not found:
        pytest.skip("this kernel has neither loop devices nor zram")
    (tmp_path / SYS_BLOCK).mkdir(parents=True)
    for path in found:
        (tmp_path / SYS_BLOCK / path.name).symlink_to(path)
    assert disk_bytes(tmp_path) is None


def test_what_was_read_and_what_was_written_are_apart(tmp_path: Path) -> None:
    make_blocks(tmp_path, "sda 0 disk", "dm-0 0 sda")
    for device in ("sda", "dm-0"):
        (tmp_path / SYS_BLOCK / device / "stat").write_text("9 0 30 0 9 0 70 0 0 0 0 0 0\n")
    assert disk_bytes(tmp_path) == (30 * 512, 70 * 512)


A1, A2, B = "boot-a net:[1]", "boot-a net:[2]", "boot-b net:[1]"


def snapshot(
    executors: tuple[str | None, ...], nodes: dict[str, tuple[int, int] | None]
) -> NodesSnapshot:
    """Return what nodes, by identity, have read and written; None if they do not count it."""
    readings = {
        node: NodeReading(
            "n", counters=dict(zip((READ, WRITTEN), counts, strict=True)) if counts else {}
        )
        for node, counts in nodes.items()
    }
    return NodesSnapshot(readings, {str(i): (str(node), node) for i, node in enumerate(executors)})


BETWEEN: dict[str, tuple[tuple[str | None, ...], dict[str, Any], dict[str, Any], DiskBytes | None]] = {
    "the sum over machines": (
        (A1, B), {A1: (1, 2), B: (5, 5)}, {A1: (11, 22), B: (6, 7)}, DiskBytes(11, 22),
    ),
    "containers on one machine count its disks once": (
        (A1, A2), {A1: (1, 1), A2: (1, 1)}, {A1: (4, 3), A2: (4, 3)}, DiskBytes(3, 2),
    ),
    "the driver's disks count, too": (
        (A1,), {A1: (0, 0), B: (0, 0)}, {A1: (1, 0), B: (2, 0)}, DiskBytes(3, 0),
    ),
    "a driver without disks does not matter": (
        (A1,), {A1: (0, 0), B: None}, {A1: (1, 0), B: None}, DiskBytes(1, 0),
    ),
    "an executor without disks does": ((A1, B), {A1: (0, 0), B: None}, {A1: (1, 0), B: None}, None),
    "an executor that did not answer": ((A1, None), {A1: (0, 0)}, {A1: (1, 0)}, None),
    "an executor that came later": ((A1, B), {A1: (0, 0)}, {A1: (1, 0), B: (9, 9)}, None),
    "a counter that was reset": ((A1,), {A1: (9, 0)}, {A1: (1, 0)}, None),
    "no disk": ((), {A1: None}, {A1: None}, None),
}  # fmt: skip


@pytest.mark.parametrize("case", BETWEEN)
def test_between_two_snapshots_each_machine_counts_once_or_the_sum_is_unknown(case: str) -> None:
    executors, before, after, expected = BETWEEN[case]
    found = disk_bytes_between(snapshot(executors, before), snapshot(executors, after))
    assert found == expected


def test_what_the_application_read_counts_once_for_each_namespace_of_processes() -> None:
    def own(*counts: int | None) -> NodesSnapshot:
        nodes = {
            f"boot-a net:[{n}]": NodeReading(
                "n",
                "pid:[1]" if n else "pid:[2]",
                {READ: 9, WRITTEN: 9, **({} if count is None else {OWN_READ: count})},
            )
            for n, count in enumerate(counts)
        }
        return NodesSnapshot(nodes)

    def own_read_bytes(before: NodesSnapshot, after: NodesSnapshot) -> int | None:
        found = disk_bytes_between(before, after)
        assert found
        return found.own_read_bytes

    assert own_read_bytes(own(1, 2, 2), own(11, 7, 7)) == 10 + 5
    assert own_read_bytes(own(1, None), own(1, None)) is None


def test_of_several_executions_the_average_counts_and_is_rounded_up() -> None:
    assert DiskBytes(10, 0).per_execution(4) == DiskBytes(3, 0)


@pytest.mark.parametrize(
    ("stack", "names"),
    [
        ("disks", ["nvme0n1", "sda"]),
        ("LVM on a partition", ["sda"]),
        ("a mirror that was written to", ["sda", "sdb"]),
        ("the head counts since Linux 6.3", ["nvme0n1"]),
        ("only the paths of NVMe count before Linux 6.3", ["nvme0c0n1", "nvme0c33n1", "nvme0n1"]),
        ("a file as a disk", ["vda"]),
        ("a flash chip with parts for booting", ["mmcblk0"]),
        ("a mirror of LVM", ["sda", "sdb"]),
    ],
)
def test_the_disks_are_named_without_what_stands_on_them(
    tmp_path: Path, stack: str, names: list[str]
) -> None:
    make_blocks(tmp_path, *STACKS[stack])
    assert disk_names(tmp_path) == names


def test_a_disk_is_named_as_its_counters_are(tmp_path: Path) -> None:
    make_blocks(tmp_path, "cciss!c0d0 9 disk")
    assert disk_names(tmp_path) == ["cciss/c0d0"]
