"""The disk probe finds the speed of a disk and the one slow disk, and leaves nothing on any."""

import fcntl
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from shutil import which

import pytest

from harness.analysis.ready.gate import Expectation
from harness.commands.cli import main
from harness.hosts.transports.host import Host
from harness.model.network_metrics import DISK_BELOW, DISK_READ, DISK_WRITE
from harness.model.probe import Measurement
from harness.probes.disk import disk_steps
from harness.settings.disk_rate import disk_rate
from harness.settings.in_force import in_force, plan
from harness.settings.journal import Journal
from tests.programs import shell_program
from tests.unit.probe_builders import gate_faults, probed
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


def mounted(command: str) -> tuple[str, ...]:
    """Return the words before a command that run it after another one, in mounts of its own."""
    return ("unshare", "--mount", "sh", "-c", f'{command} || exit; exec "$@"', "sh")


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
            device = sh(f"truncate -s 300M {image}; losetup --direct-io=on --find --show {image}")
            cgroup.mkdir()
            made.append((device, cgroup))
            number = Path("/sys/block", Path(device).name, "dev").read_text().strip()
            for way in ("read", "write"):
                (cgroup / f"blkio.throttle.{way}_bps_device").write_text(f"{number} {bytes_s}")
            sh(f"mkfs.ext4 -q {device}")
            enter = f"echo $$ > {cgroup}/cgroup.procs && mount {device} {DIRECTORY}"
            hosts.append(Host(name, "", mounted(enter)))
        yield hosts
    finally:
        for device, cgroup in made:
            sh(f"losetup -d {device}")
            eventually(partial(is_empty, cgroup / "cgroup.procs"))
            cgroup.rmdir()


def test_the_speed_is_found_to_five_percent_and_the_slow_disk_is_named(hosts: list[Host]) -> None:
    [step] = disk_steps(hosts, [DIRECTORY], FILE_BYTES, seconds=5)
    measured = [event for event in step.measure() if isinstance(event, Measurement)]
    assert [each.error for each in measured if each.error] == []
    for each in measured:
        if each.metric in {DISK_WRITE.name, DISK_READ.name}:
            assert each.value == pytest.approx(SPEEDS[each.hosts[0]], rel=0.05)
    peers, expected = gate_faults(probed(measurements=measured), Expectation(disk_bytes_s=100 * MB))
    slow = rf"slow: {DIRECTORY} writes at (4[5-9]|5[0-5]) %, reads at (4[5-9]|5[0-5]) %"
    assert re.match(f"{slow}.* of what is typical of the other hosts", peers)
    assert re.match(f"{slow} of the 100MB/s that are expected", expected)


def test_a_limit_holds_and_is_put_back(tmp_path: Path, hosts: list[Host]) -> None:
    """The group is that of the second host, which has a limit of its own before."""
    [group] = CGROUPS.glob(f"clusterlift-test-{os.getpid()}-fast")
    device = sh(f"losetup --noheadings --output NAME --associated {tmp_path}/fast")
    limit = disk_rate("fast", device, str(group), 20 * MB)
    here = Host("here", "")
    [before] = plan({here: [limit]})
    assert before.before == f"rbps={SPEEDS['fast']} wbps={SPEEDS['fast']}"
    with in_force({here: [limit]}, Journal(tmp_path / "journal")):
        [step] = disk_steps(hosts[1:], [DIRECTORY], FILE_BYTES, seconds=5)
        found = {
            each.metric: each.value for each in step.measure() if isinstance(each, Measurement)
        }
    for metric in (DISK_WRITE.name, DISK_READ.name):
        assert found[metric] == pytest.approx(20 * MB, rel=0.05)
    assert plan({here: [limit]}) == [before]


def working_in(directory: Path) -> list[Path]:
    """Return the processes whose working directory this is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if process.joinpath("cwd").readlink() == directory:
                found.append(process)
    return found


@contextmanager
def probing(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the probe in a directory until it is ended, after fio has begun; then nothing may be left."""
    options = ("--via=local", "--hosts=a=127.0.0.1", "--file-mb=64", "--seconds=600")
    command = [
        sys.executable,
        "-m",
        "harness",
        "probe",
        "disk",
        f"--directory={directory}",
        *options,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as probe:
        try:
            eventually(lambda: fio_in(directory))
            yield probe
            eventually(lambda: not working_in(directory), "fio still runs")
        finally:
            probe.kill()  # a test that fails waits for no probe of 50 minutes
    assert list(directory.iterdir()) == []


def fio_in(directory: Path) -> list[Path]:
    """Return the processes of fio that measure a directory, without one that tells of its engine."""
    found = []
    for process in working_in(directory):
        with suppress(OSError):  # it has ended meanwhile
            is_fio = (process / "comm").read_text() == "fio\n"
            if is_fio and "--thread" in (process / "cmdline").read_text():
                found.append(process)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_a_probe_that_is_ended(number: signal.Signals, tmp_path: Path) -> None:
    with probing(tmp_path) as probe:
        probe.send_signal(number)


def test_nothing_is_left_of_a_fio_that_is_killed_and_a_line_says_so(tmp_path: Path) -> None:
    with probing(tmp_path) as probe:
        for process in fio_in(tmp_path):
            os.kill(int(process.name), signal.SIGKILL)
        assert "fault: a: fio was ended by signal 9 (Killed)\n" in probe.communicate()[0]


def failure(directory: object, file_mb: int = 64, *prefix: str) -> str:
    """Return why a directory of this machine, seen by a command behind a prefix, cannot be measured."""
    [step] = disk_steps([Host("a", "", prefix)], [str(directory)], file_mb * MB, 1)
    [failed] = step.measure()
    assert isinstance(failed, Measurement)
    return str(failed.error)


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
    error = failure(directory, file_mb)
    assert error.startswith("a: --")
    assert error.endswith(message)


def test_a_symbolic_link_is_what_it_leads_to(tmp_path: Path) -> None:
    memory, nowhere = tmp_path / "memory", tmp_path / "nowhere"
    memory.symlink_to("/dev")
    nowhere.symlink_to("/no/such")
    assert failure(memory) == f"a: --directory: {memory} is in memory; name one on a disk"
    assert failure(nowhere).endswith("is no directory that can be entered")


def test_a_directory_that_another_probe_measures_is_left_to_it(tmp_path: Path) -> None:
    number = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        assert failure(tmp_path) == (
            f"a: --directory: another probe measures {tmp_path}; wait until it has ended"
        )
    finally:
        os.close(number)
    assert list(tmp_path.iterdir()) == []


def test_where_no_python_looks_the_place_is_measured_and_said_to_be_unknown(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    directory = tmp_path / "data"
    directory.mkdir()
    programs.mkdir()
    (programs / "python3").write_text("#!/bin/sh\nexit 127\n")
    (programs / "python3").chmod(0o755)
    host = Host("a", "", ("env", f"PATH={programs}:{os.environ['PATH']}"))
    [step] = disk_steps([host], [str(directory)], 64 * MB, 1)
    measured = {each.metric: each.value for each in step.measure() if isinstance(each, Measurement)}
    assert measured.pop(DISK_BELOW.name) == 0
    assert min(value or 0 for value in measured.values()) > 0


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


@needs_root
def test_a_directory_that_is_read_only_is_a_line(tmp_path: Path) -> None:
    where = f"mount --bind {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path}"
    error = failure(tmp_path, 64, *mounted(where))
    assert error == f"a: --directory: {tmp_path} cannot be written to"


OVERLAY = "mount -t overlay none -o lowerdir={0}/l,upperdir={0}/u,workdir={0}/w"


@needs_root
@pytest.mark.parametrize(
    ("below", "reason"),
    [
        ("mount -t tmpfs none {0}; mkdir {0}/l {0}/u {0}/w; " + OVERLAY, "tmpfs"),
        ("mount -t tmpfs none {0}; cd {0}; mkdir l u w; " + OVERLAY.replace("{0}/", ""), "tmpfs"),
        ("mount -t tmpfs none {0}; truncate -s 300M {0}/i; mkfs.ext4 -q {0}/i; mount -o loop {0}/i", ""),
        ("truncate -s 300M {0}/i; mkfs.ext4 -q {0}/i; mount -o loop {0}/i", "the page cache: loop"),
    ],
    ids=["overlay on memory", "by relative paths", "a loop device on memory", "a loop device"],
)  # fmt: skip
def test_a_directory_whose_file_system_stands_on_memory_is_a_line(
    tmp_path: Path, below: str, reason: str
) -> None:
    where = f"({below.format(tmp_path)} {DIRECTORY})"
    error = failure(DIRECTORY, 64, *mounted(where))
    assert error.startswith(f"a: --directory: {DIRECTORY} is in memory ({reason}")


@needs_root
def test_a_disk_that_the_kernel_has_in_memory_is_a_line() -> None:
    control = Path("/sys/class/zram-control")
    if not control.is_dir():
        pytest.skip("this kernel has no zram")
    number = (control / "hot_add").read_text().strip()
    try:
        sh(f"echo 300M >/sys/block/zram{number}/disksize; mkfs.ext4 -q /dev/zram{number}")
        error = failure(DIRECTORY, 64, *mounted(f"mount /dev/zram{number} {DIRECTORY}"))
        assert (
            error == f"a: --directory: {DIRECTORY} is in memory (zram{number}); name one on a disk"
        )
    finally:
        # It can be removed as soon as the last process has gone that saw it mounted.
        removal = f"echo 1 >/sys/block/zram{number}/reset && echo {number} >{control}/hot_remove"
        eventually(lambda: not subprocess.run(["sh", "-c", removal], check=False).returncode)


def stub(directory: Path, program: str, script: str) -> tuple[str, ...]:
    """Return the words before a command for which a program is a script."""
    shell_program(directory / program, script)
    return ("env", f"PATH={directory}:{os.environ['PATH']}")


@needs_root
def test_a_disk_that_others_fill_meanwhile_is_a_line(tmp_path: Path) -> None:
    """What is free is asked before: here, the answer is that of a larger disk."""
    image = tmp_path / "image"
    sh(f"truncate -s 50M {image}; mkfs.ext4 -q {image}")
    large = 'case $* in *%a*) echo "1000000 * 4096" ;; *) exec /usr/bin/stat "$@" ;; esac'
    device = sh(f"losetup --direct-io=on --find --show {image}")
    try:
        where = mounted(f"mount {device} {DIRECTORY}")
        error = failure(DIRECTORY, 64, *where, *stub(tmp_path, "stat", large))
    finally:
        sh(f"losetup -d {device}")
    assert error.startswith("a: fio: ")
    assert "No space left on device" in error


def test_a_file_system_without_direct_io_is_a_line(tmp_path: Path) -> None:
    refused = "echo \"dd: failed to open '/proc/7/fd/3': Invalid argument\" >&2; exit 1"
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    assert failure(tmp_path, 64, *stub(bin_, "dd", refused)) == (
        f"a: --directory: {tmp_path} has no I/O past the page cache; name a directory on a disk"
    )
    assert list(tmp_path.iterdir()) == [bin_]


def test_a_fio_without_its_engine_is_a_line(tmp_path: Path) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    lacks = (
        'echo "fio: engine libaio not loadable" >&2; echo "fio: failed to load engine" >&2; exit 1'
    )
    assert failure(tmp_path, 64, *stub(bin_, "fio", lacks)) == (
        "a: fio cannot load its engine libaio; install it (RHEL, Fedora: dnf install fio-engine-libaio)"
    )


def test_a_host_without_fio_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for program in Path("/usr/bin").iterdir():
        if program.name != "fio":
            (tmp_path / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["probe", "disk", "--via=local", "--hosts=a=127.0.0.1"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "left out: a: fio not installed (Debian: apt-get install fio)"
