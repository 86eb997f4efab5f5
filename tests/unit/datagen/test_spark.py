"""The end of Spark is reported in one line, and nothing waits for it."""

from types import SimpleNamespace
from typing import cast

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from datagen.spark import completed_tasks, spark_errors_as_one_line
from harness.model.errors import ClusterliftError

ended = pytest.mark.parametrize(
    "error", [ConnectionRefusedError(111, "Connection refused"), Py4JNetworkError("no answer")]
)
"""What py4j raises when the virtual machine is gone: at the first request, or at a later one."""


@ended
def test_a_spark_that_has_ended_is_named(error: Exception) -> None:
    with (
        pytest.raises(ClusterliftError, match=r"^Spark failed: Spark has ended$"),
        spark_errors_as_one_line("Spark failed"),
    ):
        raise error


@ended
def test_no_task_has_completed_in_a_spark_that_has_ended(error: Exception) -> None:
    def status_tracker() -> object:
        raise error

    spark = SimpleNamespace(sparkContext=SimpleNamespace(statusTracker=status_tracker))
    assert completed_tasks(cast("SparkSession", spark)) == 0
