"""Event logs that Spark itself writes of applications that know nothing of clusterlift."""

from pathlib import Path

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.observed.logged_runs import LoggedSide, logged_runs
from harness.analysis.observed.sample import Outcome
from harness.model.run import Ending

from .conftest import Spark

APPLICATION = """
import sys
from pyspark.sql import SparkSession

for directory, rows, more in (
    ("before", 1000, {"rolling.enabled": "true", "compression.codec": "zstd"}),
    ("after", 2000, {"rolling.enabled": "false", "compression.codec": "lz4"}),
):
    builder = SparkSession.builder.appName("etl").config("spark.eventLog.enabled", "true")
    more |= {"compress": "true", "dir": f"{sys.argv[1]}/{directory}"}
    for name, value in more.items():
        builder = builder.config(f"spark.eventLog.{name}", value)
    spark = builder.getOrCreate()
    spark.range(rows).write.parquet(f"{sys.argv[1]}/{directory}-rows")
    spark.sparkContext.setJobDescription("load rows")
    for _ in range(2):
        spark.read.parquet(f"{sys.argv[1]}/{directory}-rows").groupBy("id").count().collect()
    spark.sparkContext.setJobDescription(None)
    spark.sparkContext.parallelize(range(9), 2).map(str).collect()
    try:
        spark.sql("SELECT assert_true(id < 0) FROM range(9)").collect()
    except Exception:
        pass
    spark.stop()
"""


@pytest.mark.parametrize("version", ["spark", "spark35"])
def test_what_spark_executed_is_compared(
    version: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    script, sides = tmp_path / "etl.py", ("before", "after")
    script.write_text(APPLICATION)
    for name in sides:
        (tmp_path / name).mkdir()
    spark: Spark = request.getfixturevalue(version)
    spark.submit(script, tmp_path, cwd=tmp_path)

    columns = logged_runs([LoggedSide(name, str(tmp_path / name)) for name in sides])
    assert [column.name for column in columns] == list(sides)
    for column in columns:
        (recorded,) = column.runs
        assert recorded.ending is Ending.COMPLETED
        assert recorded.run.environment["parallelism"] == 2
        of = recorded.by_workload
        assert {name: len(trials) for name, trials in of.items()} == {
            "etl": 1,
            "parquet at NativeMethodAccessorImpl.java:0": 1,
            "load rows: parquet at NativeMethodAccessorImpl.java:0": 2,
            "load rows": 2,
            "collect at etl.py:19": 1,
            "collect at etl.py:21": 1,
        }
    for row in compare(columns).rows:
        wanted = Outcome.FAILED if row.workload.endswith(":21") else Outcome.MEASURED
        assert {cell.sample.outcome for cell in row.cells} == {wanted}
        notes = " ".join(row.cells[1].notes)
        assert ("input of etl:" in notes) == (row.workload == "etl")
        assert "other expressions" not in notes
