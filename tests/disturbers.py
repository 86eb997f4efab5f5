"""Processes that disturb this machine: they belong to no application, and each has a control group."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.waiting import eventually

OLD, NEW = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")

HOG = "while True: pass"
WRITER = (
    "import os, sys\n"
    "file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\n"
    "for _ in range(int(sys.argv[2])):\n"
    "    os.write(file, os.urandom(1 << 20))\n"
    "    os.fsync(file)\n"
)
"""Writes a number of MiB to a file, and waits for the disk after each."""


@contextmanager
def control_group() -> Iterator[Path]:
    """A control group of processors, below that of the machine; skip where none can be made."""
    root = OLD if (OLD / "cgroup.procs").exists() else NEW
    group = root / f"clusterlift-test-{uuid.uuid4().hex[:8]}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made in {root}: {error.strerror}")
    try:
        if not any((group / name).exists() for name in ("cpu.max", "cpu.cfs_quota_us")):
            pytest.skip(f"{root} does not control processors")
        yield group
    finally:
        # A group can be removed when the last of its processes is.
        eventually(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()


def limit_processors(group: Path, processors: float) -> None:
    """Give a control group a quota."""
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{processors * 100_000:.0f} 100000")
    else:
        (group / "cpu.cfs_quota_us").write_text(f"{processors * 100_000:.0f}")


@contextmanager
def stranger(group: Path, program: str, *arguments: object) -> Iterator[int]:
    """A process of another control group that no process here has started, as far as one can see."""
    started = subprocess.run(
        [
            "sh", "-c", 'echo $$ > "$0"; "$@" > /dev/null 2>&1 & echo $!',
            group / "cgroup.procs", sys.executable, "-c", program, *map(str, arguments),
        ],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    process = int(started.stdout)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):  # it has done its work
            os.kill(process, signal.SIGKILL)


def cpu_s(process: int) -> float:
    """The processor time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def has_used(process: int, seconds: float) -> Callable[[], bool]:
    """Whether a process has used so much processor time."""
    return lambda: cpu_s(process) >= seconds
