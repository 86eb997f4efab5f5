"""What a node counts, from the kernel's files; what it does not count is missing and never 0."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.node import counters, sampler
from harness.node.counters import read_node
from harness.node.processes import RunningApplication

APPLICATION = RunningApplication("app-1", driver=20, driver_namespace="boot-a pid:[4026531836]")
PROGRAM = Path(sampler.__file__).read_text()
STAT = "cpu  100 10 200 9999 5 7 8 400 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nbtime 1\n"
PSI = "some avg10=0.00 avg60=0.35 avg300=0.70 total=1500000\nfull avg10=0.00 total=7\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel that counts nothing; its processors are two."""
    (tmp_path / "proc/self/ns").mkdir(parents=True)
    (tmp_path / "proc/self/net").mkdir()
    (tmp_path / "proc/self/net/dev").touch()
    (tmp_path / "proc/self/ns/pid").symlink_to("pid:[4026531836]")
    (tmp_path / "proc/sys/kernel/random").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/random/boot_id").write_text("boot-a\n")
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(sampler, "ask", lambda *_: None)
    return tmp_path


def write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def read(root: Path) -> dict[str, Any]:
    return dict(read_node(APPLICATION, "", with_samples=True, root=root)["counters"])


def test_what_the_kernel_does_not_count_is_missing(root: Path) -> None:
    assert read(root).keys() == {
        "clock_s",
        "processors",
        "quota_processors",
        "own",
        "own_disk_bytes",
        "own_read_bytes",
    }


def test_processor_time_is_without_interrupts(root: Path) -> None:
    write(root, "proc/stat", STAT)
    found = read(root)
    assert (found["busy_s"], found["stolen_s"]) == (3.1, 4.0)


def test_pressure_counts_the_time_in_which_some_process_waited(root: Path) -> None:
    for resource in ("memory", "io"):
        write(root, f"proc/pressure/{resource}", PSI)
    found = read(root)
    assert [found[f"{name}_wait_s"] for name in ("memory", "io")] == [1.5] * 2


def test_pressure_that_is_switched_off_is_missing(root: Path) -> None:
    (root / "proc/pressure/io").mkdir(parents=True)  # reading it is an error, as with psi=0
    assert "io_wait_s" not in read(root)


def test_swap_is_in_bytes_both_ways(root: Path) -> None:
    write(root, "proc/vmstat", "pgfault 7\npswpin 2\npswpout 3\npgmajfault 11\n")
    found = read(root)
    assert (found["swapped_bytes"], found["major_faults"]) == (5 * 4096, 11)


def test_disks_are_read_from_the_same_kernel(root: Path) -> None:
    write(root, "sys/block/vda/stat", "1 1 1000 1 1 1 24 1 1 1 1\n")
    (root / "sys/block/vda/device").mkdir()
    found = read(root)
    assert (found["disk_read_bytes"], found["disk_written_bytes"]) == (1000 * 512, 24 * 512)


def test_heat_is_counted_over_all_processors(root: Path) -> None:
    for cpu, kind in ((0, "core"), (0, "package"), (1, "core")):
        folder = f"sys/devices/system/cpu/cpu{cpu}/thermal_throttle"
        write(root, f"{folder}/{kind}_throttle_count", "2\n")
        write(root, f"{folder}/{kind}_throttle_total_time_ms", "9\n")
    assert read(root)["heat_throttles"] == 6


@pytest.mark.parametrize(
    ("cpu_max", "processors"),
    [("max 100000", 2), ("50000 100000", 0.5), ("900000 100000", 2)],
)
def test_a_quota_is_never_more_than_all_processors(
    root: Path, cpu_max: str, processors: float
) -> None:
    write(root, "proc/self/cgroup", "0::/\n")
    write(root, "proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    write(root, "sys/fs/cgroup/cpu.max", cpu_max)
    assert read(root)["quota_processors"] == processors


def test_of_a_container_the_groups_use_counts_and_not_that_of_its_processes(root: Path) -> None:
    (root / "proc/self/ns/pid").unlink()
    (root / "proc/self/ns/pid").symlink_to("pid:[4026532777]")
    write(root, "proc/self/cgroup", "0::/\n")
    write(root, "proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    write(root, "sys/fs/cgroup/cpu.stat", "usage_usec 7000000\n")
    assert read(root)["own"] == {"control group": (7.0, 0.0, "")}


def test_this_machine_counts() -> None:
    found = read_node(APPLICATION, "", with_samples=True)["counters"]
    assert {"busy_s", "stolen_s", "own", "major_faults"} <= found.keys()


def test_the_samples_are_apart_from_what_is_counted(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"started_ns": 5, "loops": 10, "loop_ns": 7, "samples": [[1, 2, 3, 4]]}
    monkeypatch.setattr(sampler, "ask", lambda *_: dict(answer))
    monkeypatch.setattr(counters, "jvm_of", lambda _: 20)
    found = read_node(APPLICATION, "", with_samples=True, root=root)
    assert (found["counters"]["loops"], found["samples"]) == (10, [[1, 2, 3, 4]])
    assert "samples" not in found["counters"]


def test_the_results_are_pythons_built_in_types() -> None:
    """An executor could not return anything else."""
    reading = read_node(APPLICATION, PROGRAM, with_samples=True)
    assert type(reading["namespace"]) is str
    found = reading["counters"]
    times = found.pop("own")
    assert {type(value) for value in found.values()} <= {int, float}
    assert json.loads(json.dumps(times)) == {key: list(values) for key, values in times.items()}
