"""What a profile costs: the same job with and without one, in turns, in a Spark on this machine.

    python -m tests.bench.profile_overhead --pairs 12

prints by how much profiled jobs take more processor time, and more time, each with its interval of 95 %.
Processor seconds count the virtual machine and the process that asks it.
"""

import argparse
import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev

from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from scipy.special import stdtrit

from harness.statistics.median import LEVEL
from jobs.stack_profiler import StackProfiler, own_jvm

WARM_UP = 3


def processor_s(process: int | None) -> float:
    """Return the processor seconds of a process until now; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(spark: SparkSession, rows: int, *, profiled: bool) -> tuple[float, float]:
    """Return the processor seconds and the seconds of a job that hashes, shuffles and sorts rows."""
    profiler = StackProfiler.start(spark) if profiled else None
    processes = [own_jvm(spark)]
    if profiler:
        processes += [started["process"] for started in profiler.started.values()]
    before, start_s = sum(map(processor_s, processes)), time.perf_counter()
    hashed = spark.range(rows).select(f.sha2(f.col("id").cast("string"), 512).alias("hash"))
    hashed.repartition(8).sort("hash").write.format("noop").mode("overwrite").save()
    wall_s, used_s = time.perf_counter() - start_s, sum(map(processor_s, processes)) - before
    if profiler:
        profiler.stop()
    return used_s, wall_s


def text(name: str, ratios: Sequence[float]) -> str:
    """Return the geometric mean of ratios, as a change, with its interval."""
    logs = [math.log(ratio) for ratio in ratios]
    distance = float(stdtrit(len(logs) - 1, (1 + LEVEL) / 2)) * stdev(logs) / math.sqrt(len(logs))
    mean, low, high = (math.expm1(fmean(logs) + by) for by in (0, -distance, distance))
    return f"{name}: {mean:+.1%} ({low:+.1%} to {high:+.1%}, {len(logs)} pairs)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=12, help="two or more")
    parser.add_argument("--rows", type=int, default=500_000)
    given = parser.parse_args()
    spark = SparkSession.builder.master("local[2]").getOrCreate()
    for _ in range(WARM_UP):
        measured(spark, given.rows, profiled=True)
    pairs = []
    for number in range(given.pairs):
        order = (False, True) if number % 2 else (True, False)
        pair = {profiled: measured(spark, given.rows, profiled=profiled) for profiled in order}
        pairs.append(pair)
    for which, name in enumerate(("processor time", "time")):
        usual_s = fmean(pair[False][which] for pair in pairs)
        ratios = [pair[True][which] / pair[False][which] for pair in pairs]
        print(text(f"{name}, usually {usual_s:.1f} s", ratios), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
