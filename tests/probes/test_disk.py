"""The disk probe finds the speed of a disk and the one slow disk, and leaves nothing on any."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from shutil import which

import pytest

from harness.hosts.transports.host import Host
from harness.model.probe import Measurement
from harness.probes.disk import READ, WRITE, disk_findings, disk_steps
from tests.unit.probe_builders import probed
from tests.waiting import eventually

MB = 10**6
FILE_BYTES = 64 * MB
SPEEDS = {"slow": 50 * MB, "fast": 100 * MB}
CGROUPS = Path("/sys/fs/cgroup/blkio")
DIRECTORY = "/mnt"


def sh(command: str) -> str:
    done = subprocess.run(["sh", "-ec", command], check=True, capture_output=True)
    return done.stdout.decode().strip()


def is_empty(file: Path) -> bool:
    return not file.read_text()


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[list[Host]]:
    """Two hosts, each with a loop device of limited speed at DIRECTORY."""
    if os.geteuid() or not CGROUPS.is_dir() or not which("fio"):
        pytest.skip("limited loop devices need root, cgroups of version 1, and fio")
    made: list[tuple[str, Path]] = []
    hosts = []
    try:
        for name, bytes_s in SPEEDS.items():
            image, cgroup = tmp_path / name, CGROUPS / f"clusterlift-test-{os.getpid()}-{name}"
            device = sh(f"truncate -s 300M {image}; losetup --find --show {image}")
            cgroup.mkdir()
            made.append((device, cgroup))
            number = Path("/sys/block", Path(device).name, "dev").read_text().strip()
            for way in ("read", "write"):
                (cgroup / f"blkio.throttle.{way}_bps_device").write_text(f"{number} {bytes_s}")
            sh(f"mkfs.ext4 -q {device}")
            enter = f'echo $$ > {cgroup}/cgroup.procs; mount {device} {DIRECTORY}; exec "$@"'
            hosts.append(Host(name, "", ("unshare", "--mount", "sh", "-c", enter, "sh")))
        yield hosts
    finally:
        for device, cgroup in made:
            sh(f"losetup -d {device}")
            eventually(partial(is_empty, cgroup / "cgroup.procs"))
            cgroup.rmdir()


def test_the_speed_is_found_to_five_percent_and_the_slow_disk_is_named(hosts: list[Host]) -> None:
    [step] = disk_steps(hosts, [DIRECTORY], FILE_BYTES, seconds=3)
    measured = [event for event in step.measure() if isinstance(event, Measurement)]
    assert [each.error for each in measured if each.error] == []
    for each in measured:
        if each.metric in {WRITE.name, READ.name}:
            assert each.value == pytest.approx(SPEEDS[each.hosts[0]], rel=0.05)
    faults = {each.subject: each.text for each in disk_findings(probed(measurements=measured))}
    assert re.match(f"{DIRECTORY} writes at (49|50|51) %, reads at (49|50|51) %", faults["slow"])


def working_in(directory: Path) -> list[Path]:
    """Return the processes whose working directory this is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if process.joinpath("cwd").readlink() == directory:
                found.append(process)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_probe_that_is_ended(number: signal.Signals, tmp_path: Path) -> None:
    options = ("--via=local", "--hosts=a=127.0.0.1", "--file-mb=64", "--seconds=600")
    command = [
        sys.executable,
        "-m",
        "harness",
        "probe",
        "disk",
        f"--directory={tmp_path}",
        *options,
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as probe:
        eventually(
            lambda: any((each / "comm").read_text() == "fio\n" for each in working_in(tmp_path))
        )
        probe.send_signal(number)
    eventually(lambda: not working_in(tmp_path), "fio still runs")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("directory", "file_mb", "message"),
    [
        ("/dev", 64, "--directory: /dev is in memory; name one on a disk"),
        ("/no/such", 64, "--directory: /no/such is no directory that can be entered"),
        ("/sys", 64, "--file-mb: /sys has 0 MB free; half of it may be used"),
        ("/", 10**7, "MB free; half of it may be used"),
    ],
)
def test_a_directory_that_cannot_be_used_is_a_line(
    directory: str, file_mb: int, message: str
) -> None:
    [step] = disk_steps([Host("a", "")], [directory], file_mb * MB, 1)
    [failed] = step.measure()
    assert isinstance(failed, Measurement)
    assert str(failed.error).startswith("a: --")
    assert str(failed.error).endswith(message)
