"""fio: how fast a disk reads and writes past the page cache. Versions from 3.4 on can be read."""

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.base.child_process import SIGNALLED
from harness.base.errors import ToolError
from harness.node import block_devices
from harness.node.printed_json import printed_json
from harness.probes.tools.numbers import number

WRITE = "write"
READ = "read"
RANDOM_WRITE = "random-write"
RANDOM_READ = "random-read"
SYNC = "sync"
_OLDEST = (3, 4)
"""The first version whose report has bytes a second, and the time until written data is safe."""
_TOO_OLD = f"{'.'.join(map(str, _OLDEST))} or newer is needed"
_LARGE = "--bs=1M --iodepth=16"
_SMALL = "--bs=4k --iodepth=32"
_JOBS = {
    WRITE: f"--rw=write {_LARGE}",
    READ: f"--rw=read {_LARGE}",
    RANDOM_WRITE: f"--rw=randwrite {_SMALL}",
    RANDOM_READ: f"--rw=randread {_SMALL}",
    SYNC: "--rw=write --bs=4k --iodepth=1 --fdatasync=1",
}
_TIMED_JOBS = " ".join(
    f'--name={name} --stonewall --time_based --runtime="$3" {options}'
    for name, options in _JOBS.items()
)
_UNSEEN = {"is in memory": "unknown"}
NOT_LOOKED_AT = json.dumps(_UNSEEN)
"""Printed before fio's report if no Python shows what is below the directory."""
# The file has no name while it is used, so the kernel removes it however fio ends. It is written once before
# anything is measured, because blocks that were never written are read without the disk. Lock and file end
# with fio, whose jobs are threads.
_SCRIPT = f"""
fail() {{ echo "clusterlift: error: $1" >&2; exit 1; }}
cd -P -- "$1" 2>/dev/null || fail "--directory: $1 is no directory that can be entered"
case $(stat -f -c %T .) in tmpfs | ramfs) fail "--directory: $1 is in memory; name one on a disk" ;; esac
memory=$(python3 -I -S -c "$4" . 2>/dev/null) || echo '{NOT_LOOKED_AT}'
[ -z "$memory" ] || fail "--directory: $1 is in memory ($memory); name one on a disk"
exec 4< .
flock -n -E 75 4 2>/dev/null
[ $? -ne 75 ] || fail "--directory: another probe measures $1; wait until it has ended"
free=$(($(stat -f -c "%a * %S" .)))
[ $((free / 2)) -ge "$2" ] || fail "--file-mb: $1 has $((free / 1000000)) MB free; half of it may be used"
file=$(mktemp -u ./.clusterlift-disk-XXXXXXXXXX)
umask 077
set -C  # to open nothing that somebody else put there
command exec 3> "$file" || fail "--directory: $1 cannot be written to"
rm -f -- "$file"
file=/proc/$$/fd/3
truncate -s "$2" "$file" || fail "--file-mb: $1 takes no file of $2 bytes"
problem=$(dd if=/dev/zero of="$file" bs=1M count=1 oflag=direct conv=notrunc 2>&1) || case $problem in
  *"Invalid argument"*) fail "--directory: $1 has no I/O past the page cache; name a directory on a disk" ;;
esac
fio --enghelp=libaio >/dev/null 2>&1 || [ $? -ne 1 ] ||
  fail "fio cannot load its engine libaio; install it (RHEL, Fedora: dnf install fio-engine-libaio)"
exec fio --thread --output-format=json --percentile_list=50:99 --filename="$file" --size="$2" --direct=1 \\
  --ioengine=libaio --fallocate=none --name=fill --rw=write {_LARGE} {_TIMED_JOBS}
"""


@dataclass(frozen=True)
class Pace:
    """The bytes and operations a second of one job, and the latencies of an operation in microseconds."""

    bytes_s: float
    per_s: float
    median_us: float
    p99_us: float


def command(directory: str, file_bytes: int, seconds: int) -> list[str]:
    """Return the command that measures with a file of its own in a directory, `seconds` for each job."""
    sizes = (str(file_bytes), str(seconds))
    return ["sh", "-c", _SCRIPT, "fio", directory, *sizes, inspect.getsource(block_devices)]


def expected_s(seconds: int) -> float:
    """Return how long all jobs take, without the first writing of the file."""
    return len(_JOBS) * seconds


def read_report(text: str, code: int = 0) -> Mapping[str, Pace]:
    """Return the pace of each job by its name. Raise ToolError if fio failed, or reports no value."""
    if code > SIGNALLED:
        raise ToolError(f"fio was ended by signal {code - SIGNALLED}")
    if code:
        raise ToolError(f"fio failed, code {code}")
    reports = [each for each in printed_json(text, "{") if each != _UNSEEN]
    if not reports:
        raise ToolError("fio printed no report")
    report = next((each for each in reports if "jobs" in each), reports[0])
    if _version(report) < _OLDEST:
        raise ToolError(f"{report['fio version']} is too old: {_TOO_OLD}")
    try:
        jobs = {job["jobname"]: job for job in report["jobs"]}
        return {name: _pace(name, jobs[name]) for name in _JOBS}
    except (KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"fio's report is incomplete ({_TOO_OLD}): {error}") from error


def may_be_in_memory(text: str) -> bool:
    """Whether the output says that nothing showed what is below the directory."""
    return _UNSEEN in printed_json(text, "{")


def _version(report: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the version of fio that wrote a report; if it does not say, the oldest that can be read."""
    found = re.match(r"fio-(\d+)\.(\d+)", str(report.get("fio version")))
    if found:
        return tuple(map(int, found.groups()))
    return _OLDEST


def _pace(name: str, job: Mapping[str, Any]) -> Pace:
    own = job["read" if name in {READ, RANDOM_READ} else "write"]
    latency = job["sync"]["lat_ns"] if name == SYNC else own["clat_ns"]
    percentiles = latency["percentile"]
    pace = Pace(
        bytes_s=number(own, "bw_bytes"),
        per_s=number(own, "iops"),
        median_us=number(percentiles, "50.000000") / 1000,
        p99_us=number(percentiles, "99.000000") / 1000,
    )
    if not min(pace.bytes_s, pace.per_s, pace.median_us) > 0:
        raise ToolError(f"fio measured nothing by its job {name}")
    return pace
