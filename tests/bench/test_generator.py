"""The generator is several times as fast as the method of 2020, and close to the limit of writing.

All three write CSV of the same size, in turn, in one session. The ratios of their medians count.
"""

import statistics
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from datagen.manifest import Format
from datagen.recipe import Recipe
from datagen.writer import Request, write_dataset

ROWS = 5_000_000
PARTITIONS = 8
ROUNDS = 3
MIN_SPEED_UP = 4.0


def test_it_is_four_times_as_fast_as_the_method_of_2020(
    bench_spark: SparkSession, tmp_path: Path
) -> None:
    ours = tmp_path / "ours"
    write_dataset(bench_spark, Request(str(ours), Recipe(10_000), Format.CSV, PARTITIONS))
    line = max(next(ours.glob("part-*")).read_text().splitlines(), key=len)

    def generator() -> None:
        request = Request(str(ours), Recipe(ROWS), Format.CSV, PARTITIONS, overwrite=True)
        write_dataset(bench_spark, request)

    def method_of_2020() -> None:
        # Row by row, as in 2020; by default Spark now passes Arrow batches to Python.
        draw_uuid = F.udf(lambda: uuid.uuid4().hex, useArrow=False)
        rows = bench_spark.range(0, ROWS, 1, PARTITIONS).withColumn("value", draw_uuid())
        for length in (2, 4, 8):
            rows = rows.withColumn(f"prefix{length}", F.substring("value", 1, length))
        rows = rows.withColumn("float_val", F.rand(1) * 10**6)
        rows = rows.withColumn("integer_val", F.col("float_val").cast("long")).drop("id")
        rows.write.csv(str(tmp_path / "2020"), header=True, mode="overwrite")

    def limit() -> None:
        lines = bench_spark.range(0, ROWS, 1, PARTITIONS).select(F.lit(line))
        lines.write.mode("overwrite").text(str(tmp_path / "limit"))

    median = medians(generator, method_of_2020, limit)
    speed_up = median[method_of_2020] / median[generator]
    fraction_of_limit = median[limit] / median[generator]
    for name, method in (("ours", generator), ("as in 2020", method_of_2020), ("limit", limit)):
        print(
            f"\n{name:12} {median[method]:7.2f} s {ROWS / median[method] / 1e6:7.2f} M rows/s",
            end="",
        )
    print(f"\n{speed_up:.1f} times the method of 2020, {fraction_of_limit:.0%} of the limit")
    assert speed_up >= MIN_SPEED_UP


def medians(*methods: Callable[[], None]) -> dict[Callable[[], None], float]:
    """Return the median seconds of each method, in rounds of all of them; the first does not count."""
    seconds: dict[Callable[[], None], list[float]] = {method: [] for method in methods}
    for round_ in range(ROUNDS + 1):
        for method in methods:
            start = time.perf_counter()
            method()
            if round_:
                seconds[method].append(time.perf_counter() - start)
    return {method: statistics.median(times) for method, times in seconds.items()}
