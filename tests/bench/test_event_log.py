"""An event log is read about as fast as JSON is parsed, in memory that its length does not affect."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import SparkSession

from jobs.spark_event_log import EventLog

MB = 1_000_000
SHORT_MB, LONG_MB = 100, 1_000
TASKS = 1_000
MAX_RATIO = 3
"""It is about 2."""
MAX_GROWTH_MB = 16

READER = r"""
import json, re, sys, time
from pathlib import Path
from harness.eventlog.trial import read_log
started = time.process_time()
with open(sys.argv[1], "rb") as lines:
    metrics = read_log(lines, 2).metrics
read_s = time.process_time() - started
# getrusage would also count the process that started this one.
peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]
started = time.process_time()
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        json.loads(line)
print(metrics.tasks, read_s, time.process_time() - started, peak)
"""


class Reading(NamedTuple):
    """A file read by a process of its own: processor time, that of parsing all lines, and memory."""

    tasks: int
    cpu_s: float
    parsing_s: float
    peak_mb: float


def read(file: Path) -> Reading:
    done = subprocess.run(
        [sys.executable, "-c", READER, file], capture_output=True, text=True, check=True
    )
    tasks, cpu_s, parsing_s, peak_kib = done.stdout.split()
    return Reading(int(tasks), float(cpu_s), float(parsing_s), int(peak_kib) * 1024 / MB)


def write_repeatedly(lines: Sequence[bytes], file: Path, megabytes: int) -> None:
    """Write the same trial again and again; its stages end before they start again."""
    with file.open("wb") as out:
        while out.tell() < megabytes * MB:
            out.writelines(lines)


def test_reading_is_fast_and_takes_constant_memory(
    bench_spark: SparkSession, tmp_path: Path
) -> None:
    with EventLog(bench_spark) as log:
        log.begin()
        rows = bench_spark.range(0, TASKS, 1, TASKS)
        rows.groupBy("id").count().write.format("noop").mode("overwrite").save()
        log.end()
        lines = log._file.read_bytes().splitlines(keepends=True)
    short, long = tmp_path / "short", tmp_path / "long"
    write_repeatedly(lines, short, SHORT_MB)
    write_repeatedly(lines, long, LONG_MB)
    small, large = read(short), read(long)
    speed = long.stat().st_size / MB / large.cpu_s
    ratio = large.cpu_s / large.parsing_s
    print(
        f"\n{speed:.0f} MB/s, {large.tasks:,} tasks in {large.cpu_s:.1f} s, {ratio:.1f} x parsing; "
        f"{small.peak_mb:.0f} MB of memory for {SHORT_MB} MB, {large.peak_mb:.0f} for {LONG_MB}"
    )
    assert large.tasks > 8 * small.tasks > 8 * TASKS
    assert ratio < MAX_RATIO
    assert large.peak_mb - small.peak_mb < MAX_GROWTH_MB
