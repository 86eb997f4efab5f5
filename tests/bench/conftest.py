"""A Spark session for the benchmarks, on all cores."""

import os
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from datagen.spark import start_session


@pytest.fixture(scope="session")
def bench_spark() -> Iterator[SparkSession]:
    options = "--conf spark.ui.enabled=false"
    os.environ["PYSPARK_PYTHON"] = sys.executable  # its environment also has pandas for the workers
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[*] {options} pyspark-shell"
    session = start_session("clusterlift benchmarks")
    yield session
    session.stop()
