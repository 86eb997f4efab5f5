"""What generating rows takes of the processors, beside the method of 2020 and Spark's own write.

`python -m tests.bench.generation 1000000` prints it: in processor time of the JVM and of Python's workers, so
that a busy machine matters little. All take turns in one application, after a round that does not count.
"""

import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from statistics import median

import psutil
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from datagen.manifest import Format
from datagen.recipe import Recipe
from datagen.rows import row_frame
from datagen.writer import PAYLOADS, Request, _save, _write_rows
from tests.bench.scale import scaled

PARTITIONS = 2
ROUNDS = scaled(3, smoke=1)


def processor_s(spark: SparkSession) -> float:
    """Return the processor seconds of the JVM and of all Python workers, those that ended included."""
    assert spark.sparkContext._jvm
    own = psutil.Process()
    jvm = psutil.Process(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
    total = 0.0
    for process in [jvm, *jvm.children(recursive=True)]:
        if process.pid == own.pid:
            continue
        times = process.cpu_times()
        total += times.user + times.system
        if process.pid != jvm.pid:
            total += times.children_user + times.children_system
    return total


def original(spark: SparkSession, rows: int) -> DataFrame:
    """Return the rows of the benchmark of 2020: a UDF of Python draws each value."""
    draw = F.udf(lambda: uuid.uuid4().hex, StringType()).asNondeterministic()
    frame = spark.range(0, rows, 1, PARTITIONS).select(draw().alias("value"))
    prefixes = [F.col("value").substr(1, length).alias(f"prefix{length}") for length in (2, 4, 8)]
    frame = frame.select("value", *prefixes, (F.rand() * 1e6).alias("float_val"))
    return frame.withColumn("integer_val", F.col("float_val").cast("long"))


def ways(spark: SparkSession, rows: int, where: Path) -> dict[str, Callable[[], object]]:
    """Return what is measured, by name."""
    recipe = Recipe(rows, 1)
    frame = row_frame(spark, recipe, PARTITIONS)
    # Of another seed: Spark would take rows that it generates from what it has in memory.
    others = row_frame(spark, Recipe(rows, 2), PARTITIONS)
    kept = others.selectExpr(*PAYLOADS[Format.PARQUET]).cache()
    kept.count()

    def generate(format_: Format) -> Callable[[], object]:
        request = Request(str(where / format_.value), recipe, format=format_)
        return lambda: _write_rows(frame, request, str(where / f"ours-{format_}"), {})

    def without_proof(format_: Format) -> Callable[[], object]:
        payload = frame.selectExpr(*PAYLOADS[format_])
        return lambda: _save(payload, format_, str(where / f"bare-{format_}"), {})

    def own_write(format_: Format) -> Callable[[], object]:
        writer = kept.write.mode("overwrite")
        return lambda: getattr(writer, format_.value)(str(where / f"spark-{format_}"))

    rows_of_2020 = original(spark, rows)
    return {
        "2020, CSV": lambda: rows_of_2020.write.mode("overwrite").csv(
            str(where / "2020"), header=True
        ),
        "CSV": generate(Format.CSV),
        "CSV without digests and sums": without_proof(Format.CSV),
        "Spark's own CSV from memory": own_write(Format.CSV),
        "Parquet": generate(Format.PARQUET),
        "Parquet without digests and sums": without_proof(Format.PARQUET),
        "Spark's own Parquet from memory": own_write(Format.PARQUET),
        "rows alone": lambda: frame.write.format("noop").mode("overwrite").save(),
    }


def main(rows: int) -> None:
    """Print processor seconds of each way, and microseconds a row."""
    builder = SparkSession.builder.master(f"local[{PARTITIONS}]").config(
        "spark.ui.enabled", "false"
    )
    spark = builder.config("spark.driver.memory", "3g").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    took_s: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        every = ways(spark, rows, Path(directory))
        for number in range(ROUNDS + 1):
            for name, write in every.items():
                before_s = processor_s(spark)
                write()
                if number:
                    took_s.setdefault(name, []).append(processor_s(spark) - before_s)
                    print(f"{name}: {took_s[name][-1]:.2f} s", file=sys.stderr)
    for name, values in took_s.items():
        print(f"{name:36} {median(values):6.2f} s  {1e6 * median(values) / rows:6.2f} µs a row")


if __name__ == "__main__":
    main(int(sys.argv[1]))
