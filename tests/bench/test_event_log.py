"""How fast an event log is read on one core, and that its length does not matter to memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession

from jobs.spark_event_log import EventLog

pytestmark = pytest.mark.bench

MB = 1_000_000
SHORT_MB, LONG_MB = 100, 1_000
TASKS = 1_000
LEAST_MB_PER_S = 50
MOST_GROWTH_MB = 16

READER = r"""
import re, sys, time
from pathlib import Path
from harness.eventlog.trial import Slots
from harness.eventlog.trial import task_metrics
began = time.process_time()
with open(sys.argv[1], "rb") as lines:
    metrics = task_metrics(lines, Slots({"driver": 2}))
took = time.process_time() - began
# Not getrusage's: that is inherited from the process that started this one.
peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]
print(metrics.tasks, took, peak)
"""


class Reading(NamedTuple):
    """One file read by a process of its own, in seconds of its processor's time."""

    tasks: int
    cpu_s: float
    peak_mb: float


def read(file: Path) -> Reading:
    done = subprocess.run(
        [sys.executable, "-c", READER, file], capture_output=True, text=True, check=True
    )
    tasks, cpu_s, peak_kib = done.stdout.split()
    return Reading(int(tasks), float(cpu_s), int(peak_kib) * 1024 / MB)


def repeated(lines: Sequence[bytes], file: Path, megabytes: int) -> None:
    """The same trial over and over: its stages have ended before they start again."""
    with file.open("wb") as out:
        while out.tell() < megabytes * MB:
            out.writelines(lines)


def test_it_reads_fifty_megabytes_a_second_in_constant_memory(
    bench_spark: SparkSession, tmp_path: Path
) -> None:
    with EventLog(bench_spark) as log:
        log.begin()
        rows = bench_spark.range(0, TASKS, 1, TASKS)
        rows.groupBy("id").count().write.format("noop").mode("overwrite").save()
        log.end()
        lines = log._file.read_bytes().splitlines(keepends=True)
    short, long = tmp_path / "short", tmp_path / "long"
    repeated(lines, short, SHORT_MB)
    repeated(lines, long, LONG_MB)
    less, more = read(short), read(long)
    speed = long.stat().st_size / MB / more.cpu_s
    print(
        f"\n{speed:.0f} MB/s, {more.tasks:,} tasks in {more.cpu_s:.1f} s; "
        f"{less.peak_mb:.0f} MB of memory for {SHORT_MB} MB, {more.peak_mb:.0f} for {LONG_MB}"
    )
    assert more.tasks > 8 * less.tasks > 8 * TASKS
    assert speed >= LEAST_MB_PER_S
    assert more.peak_mb - less.peak_mb < MOST_GROWTH_MB
